"""CHAR cuts trailing blanks off its values; TiDB's metadata keeps those of its DEFAULT."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.sql.script_results import history_of, rows_of, table_of
from tests.sql_messages import job_of, values_of

CHARS = [
    ("char(9)", "' '", b" ", b""),
    ("char(9)", "'x  '", b"x  ", b"x"),
    ("char(1)", "'x '", b"x ", b"x"),
    ("char(3) collate utf8mb4_general_ci", "' a '", b" a ", b" a"),
    ("varchar(9)", "' '", b" ", b" "),
    ("varchar(1)", "'x  '", b"x  ", b"x"),
    ("binary(2)", "' '", b" \0", b" \0"),
    ("char(2)", "''", b"", b""),
    ("char(2)", "'ab'", b"ab", b"ab"),
]


def _table(column: str, default: str) -> str:
    return (
        f"create table t (id int primary key, c {column} default {default});"
        " insert into t (id) values (1); insert into t values (2, null);"
    )


@pytest.mark.parametrize(("column", "default", "metadata", "stored"), CHARS)
def test_the_default_in_metadata_and_in_rows(
    column: str, default: str, metadata: bytes, stored: bytes
) -> None:
    history = history_of(_table(column, default))
    assert table_of(history).columns[1].metadata_default == metadata
    assert rows_of(_table(column, default)) == [(b"1", stored), (b"2", None)]


def _schema_default(value: Any) -> object:
    return {field["field"]: field.get("default") for field in value["schema"]["fields"][0]["fields"]}["c"]


@pytest.mark.parametrize("profile", ["classic", "new"])
@pytest.mark.parametrize(("column", "default", "metadata", "stored"), CHARS)
def test_debezium(
    tmp_path: Path, column: str, default: str, metadata: bytes, stored: bytes, profile: str
) -> None:
    options = f"protocol=debezium&output-ddl=true&profile={profile}"
    script = _table(column, default)
    ddl, given, null = values_of(tmp_path, script, options)
    assert (
        ddl["payload"]["tableChanges"][0]["table"]["columns"][1]["defaultValueExpression"]
        == metadata.decode()
    )
    assert [_schema_default(value) for value in (given, null)] == [metadata.decode()] * 2
    if not column.startswith("binary"):
        assert given["payload"]["after"]["c"] == stored.decode()
        assert null["payload"]["after"]["c"] == metadata.decode()


@pytest.mark.parametrize(("column", "default", "metadata", "stored"), CHARS)
def test_avro_and_simple(tmp_path: Path, column: str, default: str, metadata: bytes, stored: bytes) -> None:
    assert stored is not None
    script = _table(column, default)
    (schema,) = (each for each in job_of(tmp_path, script, "protocol=avro").schemas if each.part == "value")
    if not column.startswith("binary"):
        assert json.loads(schema.schema)["fields"][1]["default"] == metadata.decode()
    created, *_ = values_of(tmp_path, script, "protocol=simple", "ddl")
    assert created["tableSchema"]["columns"][1]["default"] == metadata.decode()


def test_a_default_can_be_changed_and_dropped() -> None:
    script = "create table t (id int primary key, c char(3) default ' ');"
    for part, default in (("set default 'y '", b"y "), ("set default 'y'", b"y"), ("drop default", None)):
        column = table_of(history_of(f"{script} alter table t alter c {part}")).columns[1]
        assert column.metadata_default == default


ADDED = (
    "create table t (id int primary key, v int); insert into t values (1, 1), (2, 2), (3, 3);"
    " alter table t add column c char(9) default ' ';"
)


def test_rows_from_before_the_column_show_its_blanks_until_they_are_written_again() -> None:
    history = history_of(
        f"{ADDED} update t set v = 7 where id = 1; update t set v = 8 where id = 1;"
        " delete from t where id = 2;"
        " insert into t (id, v) values (4, 4)"
    )
    changes = [(change.before, change.after) for change in history.changes[3:]]
    assert changes == [
        ((b"1", b"1", b" "), (b"1", b"7", b"")),
        ((b"1", b"7", b""), (b"1", b"8", b"")),
        ((b"2", b"2", b" "), None),
        (None, (b"4", b"4", b"")),
    ]


def test_statements_do_not_see_these_blanks() -> None:
    assert [row[2] for row in rows_of(ADDED)] == [b"", b"", b""]
    assert len(history_of(f"{ADDED} update t set c = '' where id = 1").changes) == 3
    selected = (
        f"{ADDED} create table u (id int primary key, n int); insert into u select id, length(c) from t"
    )
    assert rows_of(selected, "u") == [(b"1", b"0"), (b"2", b"0"), (b"3", b"0")]


def test_a_varchar_keeps_its_blanks() -> None:
    script = ADDED.replace("char(9)", "varchar(9)")
    assert [row[2] for row in rows_of(f"{script} update t set v = 7 where id = 1")] == [b" ", b" ", b" "]
