"""Functions of the session: sequences, random values, the database."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.refusals import Refusals
from ticdc_producer.scenario.sql.session.session import Session

TABLE = "create table r (id int auto_increment primary key, v varchar(60));"


def values(script: str, seed: int = 0) -> list[str | None]:
    """The column ``v`` of the table ``r`` after a script."""
    session = Session(now=datetime(2021, 3, 4, tzinfo=UTC), seed=seed)
    session.run(TABLE + script)
    rows = session.history().state["test", "r"].rows
    return [None if value is None else value.decode() for _, value in rows]


def inserted(*expressions: str) -> str:
    return ";".join(f"insert into r (v) values ({expression})" for expression in expressions)


@pytest.mark.parametrize(
    ("options", "expressions", "expected"),
    [
        ("", ["lastval(s)", "nextval(s)", "next value for s", "lastval(test.s)"], [None, "1", "2", "2"]),
        ("start with 5 increment by 3", ["nextval(s)", "nextval(s)"], ["5", "8"]),
        ("increment -2", ["nextval(s)", "nextval(s)"], ["-1", "-3"]),
        ("minvalue 3 maxvalue 4 cycle nocache", ["nextval(s)"] * 4, ["3", "4", "3", "4"]),
        ("start 9 minvalue 2 maxvalue 9 cycle", ["nextval(s)", "nextval(s)", "nextval(s)"], ["9", "2", "3"]),
        ("", ["nextval(s)", "setval(s, 7)", "nextval(s)", "setval(s, 7)"], ["1", "7", "8", None]),
        ("increment 5", ["setval(s, 7)", "nextval(s)"], ["7", "11"]),
        ("", ["setval(s, -5)", "setval(s, 0)", "nextval(s)"], [None, None, "1"]),
        ("minvalue -5", ["nextval(s)"], ["1"]),
        ("increment -1 maxvalue 10", ["nextval(s)"], ["-1"]),
        ("no cache", ["nextval(s)", "nextval(s)"], ["1", "2"]),
        ("cache 10 comment = 'x'", ["setval(s, null)", "nextval(S)"], [None, "1"]),
    ],
)
def test_sequences(options: str, expressions: list[str], expected: list[str | None]) -> None:
    assert values(f"create sequence s {options}; {inserted(*expressions)}") == expected


@pytest.mark.parametrize(
    ("alteration", "expected"),
    [
        ("increment 10", "1001"),
        ("restart", "1"),
        ("restart with 50", "50"),
        ("start 7 restart", "7"),
        ("increment 3 restart with 50", "52"),
    ],
)
def test_alter_sequence_forgets_the_cache(alteration: str, expected: str) -> None:
    script = f"create sequence s; {inserted('nextval(s)')}; alter sequence s {alteration};"
    assert values(script + inserted("nextval(s)")) == ["1", expected]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "create sequence s maxvalue 1 minvalue 0 start 1;" + inserted("nextval(s)", "nextval(s)"),
            "run out",
        ),
        (inserted("nextval(r)"), "'test.r' is not SEQUENCE"),
        (inserted("nextval(x)"), "Table 'test.x' doesn't exist"),
        (inserted("nextval('s')"), "needs the name of a sequence"),
        (inserted("nextval()"), "Incorrect parameter count"),
        ("create sequence s start 0", "values are conflicting"),
        ("create sequence s increment 0", "values are conflicting"),
        ("create sequence s cache 0", "values are conflicting"),
        ("create sequence s; alter sequence s cache 0", "values are conflicting"),
        ("create sequence s maxvalue 9223372036854775807", "values are conflicting"),
        ("create sequence s cache 9223372036854775806", "values are conflicting"),
        ("create sequence s backwards", "expected an option of a sequence"),
        (inserted("random_bytes(0)"), "out of range"),
        ("select 1;" + inserted("found_rows()"), "FOUND_ROWS after a query"),
    ],
)
def test_errors(script: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        values(script)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select setval(`test`.`s`, 1001)", "1002"),
        ("with q as (select next value for s) select * from q", "2"),
        ("(select nextval(s) from (select 1 union all select 2) q)", "3"),
        ("insert into r (v) select 's' from (select 1 s) q where nextval(s) > 0; delete from r", "2"),
        ("insert into r (v) select 's' from (select 1 s) q where nextval(s) = q.s; delete from r", "2"),
    ],
)
def test_a_query_takes_numbers(query: str, expected: str) -> None:
    assert values(f"create sequence s; {query}; {inserted('nextval(s)')}") == [expected]


def test_a_query_sets_the_last_id() -> None:
    assert values(f"select last_insert_id(5); select last_insert_id(); {inserted('last_insert_id()')}") == [
        "5"
    ]


@pytest.mark.parametrize(
    ("column", "explicit"), [("bigint", "-1"), ("bigint unsigned", "18446744073709551615")]
)
def test_an_explicit_id_with_the_sign_bit_uses_no_random_ids(column: str, explicit: str) -> None:
    table = f"create table p (id {column} auto_random(5) primary key, v int);"
    rows = f"insert into p values ({explicit}, 1); insert into p (v) values (2);"
    assert values(f"{table} {rows} insert into r (v) select id & 1023 from p where v = 2") == ["1"]


def test_a_rollback_returns_no_number() -> None:
    script = f"create sequence s; begin; {inserted('nextval(s)')}; rollback; {inserted('nextval(s)')}"
    assert values(script) == ["2"]


def test_rand_with_a_seed_is_tidbs() -> None:
    pair = "(select 1 n union all select 2) q"
    assert values(inserted("rand(1)", "rand(null)")) == ["0.40540353712197724", "0.15522042769493574"]
    series = values(f"insert into r (v) select rand(1) from {pair}")
    assert series[0] == "0.40540353712197724"
    assert series[1] != series[0]
    again = values(f"insert into r (v) select rand(n) from {pair}")
    assert again[0] == series[0]
    assert again[1] == "0.6555866465490187"


def test_a_failed_statement_leaves_no_state() -> None:
    session = Session(refusals=Refusals())
    rejected = "insert into r (v) values (rand(1)), (concat(rand(1), repeat('x', 99)))"
    session.run(f"{TABLE} {rejected}; {inserted('rand(1)', 'last_insert_id()')}")
    rows = session.history().state["test", "r"].rows
    assert [value for _, value in rows] == [b"0.40540353712197724", b"1"]


def test_random_values_follow_the_seed() -> None:
    script = inserted("rand()", "uuid()", "uuid_v4()", "hex(random_bytes(4))", "uuid()")
    first, other = values(script, 1), values(script, 2)
    assert first == values(script, 1)
    assert not set(first) & set(other)
    assert len(set(first)) == len(first)
    assert 0 <= float(first[0] or "") < 1
    assert [UUID(first[number]).version for number in (1, 2, 4)] == [1, 4, 1]
    assert UUID(first[1]).time // 10_000_000 - 12_219_292_800 == 1_614_816_000


def test_functions_without_a_server() -> None:
    calls = inserted("database()", "sleep(5)", "benchmark(10, 1)", "found_rows()")
    script = f"create database Shop; {calls}; use shop; insert into test.r (v) values (schema())"
    assert values(script) == ["test", "0", "0", "0", "Shop"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("charset('a')", "utf8mb4"),
        ("collation('a' collate utf8mb4_general_ci)", "utf8mb4_general_ci"),
        ("charset(x'41')", "binary"),
        ("collation(1)", "binary"),
        ("charset(null)", "binary"),
        ("charset(json_array())", "utf8mb4"),
        ("charset(now())", "binary"),
        ("@@autocommit + @@session.foreign_key_checks", "2"),
        ("@@sql_mode = concat(@@sql_mode, '')", "1"),
        ("@@auto_increment_increment", "1"),
        ("@@timestamp", "1614816000"),
        ("@@last_insert_id", "0"),
        ("tidb_parse_tso(0)", None),
        ("tidb_parse_tso_logical(429918007904436225)", "1"),
        ("tidb_parse_tso_logical(-1)", None),
        ("tidb_parse_tso(429918007904436225)", "2021-12-20 13:30:49.196000"),
        ("name_const('x', 5) + 1", "6"),
        ("json_storage_free('[1]')", "0"),
        ("sm3('abc')", "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"),
        ("password('mypass')", "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4"),
        ("password('')", ""),
        ("uncompress(x'0100000078da4b040000620062')", "a"),
        ("uncompress('abcdef')", None),
        ("uncompressed_length(x'0100000078da4b040000620062')", "1"),
        ("is_ipv4_compat(inet6_aton('::10.0.5.9')) + is_ipv4_mapped(inet6_aton('::ffff:10.0.5.9'))", "2"),
        ("is_ipv4_compat('::10.0.5.9')", "0"),
    ],
)
def test_values_without_a_server(expression: str, expected: str | None) -> None:
    session = Session(now=datetime(2021, 3, 4, tzinfo=UTC))
    session.run(f"create table r (v varchar(80)); insert into r values ({expression})")
    ((value,),) = session.history().state["test", "r"].rows
    assert (None if value is None else value.decode()) == expected
