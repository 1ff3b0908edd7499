"""DEFAULTs that are computed for each row, and those that TiDB rejects."""

from __future__ import annotations

import re

import pytest

from tests.scenario.sql.script_results import history_of, rows_of, table_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

SEQUENCE = "create sequence s start 5; create table t (k int primary key, v bigint default {}); "
ROWS = "insert into t (k) values (1), (2); insert into t values (3, default); replace into t (k) values (3);"


@pytest.mark.parametrize(
    "default", ["nextval(s)", "(nextval(test.s))", "next value for s", "(next value for `test`.`s`)"]
)
def test_each_row_takes_a_number_of_a_sequence(default: str) -> None:
    script = SEQUENCE.format(default) + ROWS
    assert rows_of(script) == [(b"1", b"5"), (b"2", b"6"), (b"3", b"8")]
    assert table_of(history_of(script)).columns[1].default_expression == "nextval(`test`.`s`)"


def test_a_sequence_without_a_database_is_in_the_current_one() -> None:
    script = "create database o; create sequence o.s start 9; use o;"
    script += "create table test.t (k int primary key, v int default nextval(s)); use test;"
    script += "insert into t (k) values (1)"
    assert rows_of(script) == [(b"1", b"9")]


def test_modify_and_set_default_set_it_later() -> None:
    table = "create table t (k int primary key, v int); create sequence s; insert into t values (1, 1);"
    for change in ("modify v int default nextval(s)", "alter v set default (nextval(s))"):
        assert rows_of(f"{table} alter table t {change}; insert into t (k) values (2)") == [
            (b"1", b"1"),
            (b"2", b"1"),
        ]


@pytest.mark.parametrize(
    ("column", "pattern"),
    [
        ("char(36) default (uuid())", r"[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"),
        ("char(36) default uuid()", r"[0-9a-f-]{36}"),
        ("varchar(40) default (replace(upper(uuid()), '-', ''))", r"[0-9A-F]{32}"),
        ("varchar(40) default (replace(convert(upper(uuid()) using utf8mb4), '-', ''))", r"[0-9A-F]{32}"),
        ("binary(16) default (uuid_to_bin(uuid()))", r"(?s).{16}"),
        ("double default (rand())", r"0\.\d+"),
    ],
)
def test_each_row_has_its_own_random_value(column: str, pattern: str) -> None:
    script = f"create table t (k int primary key, v {column}); insert into t (k) values (1), (2)"
    values = [str(value, "latin-1") for _, value in rows_of(script) if isinstance(value, bytes)]
    assert values == [str(value, "latin-1") for _, value in rows_of(script) if isinstance(value, bytes)]
    assert len({*values}) == 2
    assert all(re.fullmatch(pattern, value) for value in values)


def test_a_constant_seed_begins_its_series_with_each_row() -> None:
    script = (
        "create table t (k int primary key, v double default (rand(3))); insert into t (k) values (1), (2)"
    )
    assert [row[1] for row in rows_of(script)] == [b"0.9057697559760601"] * 2


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "create table t (v varchar(5) default nextval(s))",
            "Unsupported sequence default value for column type 'v'",
        ),
        (
            "create table t (v int default nextval(s)); insert into t values (default)",
            "Table 'test.s' doesn't exist",
        ),
        ("create table t (v int default (nextval(1)))", "NEXTVAL() needs the name of a sequence"),
        ("create table t (v char(36) default (uuid(1)))", "Incorrect parameter count in the call to UUID()"),
        ("create table t (v char(36) default (upper(uuid())))", "contains a disallowed function: UPPER"),
        (
            "create table t (v char(36) default (replace(uuid(), '-', '')))",
            "contains a disallowed function: REPLACE",
        ),
        (
            "create table t (k int); create sequence s; alter table t add v int default nextval(s)",
            "Unsupported using sequence as default value in add column 'v'",
        ),
        (
            "create table t (k int); alter table t add v char(36) default (uuid())",
            "Statement is unsafe because it uses a system function",
        ),
        ("create table t (v int default (1 + 1))", "neither a literal nor a call of a function"),
    ],
)
def test_errors(script: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        Session(force_replicate=True).run(script)
    assert message in str(error.value)


PRINTED = (
    r"create table t (k int primary key, e enum('a', 'b\c') default 'b\\c',"
    r" s set('d\e', 'f') default 'd\\e,f');"
)


def test_a_ddl_that_tidb_printed_has_other_backslashes_in_members() -> None:
    assert rows_of(f"set sql_mode = ''; {PRINTED} insert into t (k) values (1)") == [(b"1", b"2", b"3")]
    with pytest.raises(ScenarioError, match="Invalid default value for 'e'"):
        rows_of(PRINTED)
