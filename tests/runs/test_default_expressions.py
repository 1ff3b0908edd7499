"""A DEFAULT that TiDB computes per row: its text in metadata, and what protocols make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.sql.script_results import history_of, rows_of, table_of
from tests.sql_messages import job_of, messages_of, values_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder

STORED = "json_object(_utf8mb4'k', _utf8mb4'v')"
SCRIPT = (
    "create table t (id int primary key, j json default (JSON_OBJECT('k','v')));"
    " insert into t (id) values (1); insert into t values (2, null);"
)


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        ("json default (JSON_OBJECT('k','v'))", STORED),
        ("json default ((json_Array(1+1, 1--1, \"it's\")))", "json_array(1 + 1, 1 - -1, _utf8mb4'it''s')"),
        ("json default (json_quote('a'))", "json_quote(_utf8mb4'a')"),
        ("varchar(20) default (date_format(now(),'%Y-%m'))", "date_format(now(), _utf8mb4'%Y-%m')"),
        ("date default (str_to_date('1980-01-01', '%Y-%m-%d'))",
         "str_to_date(_utf8mb4'1980-01-01', _utf8mb4'%Y-%m-%d')"),
        ("date default (current_date)", "CURRENT_DATE"),
        ("date default (CURDATE())", "CURRENT_DATE"),
        ("datetime(3) default (now(3))", "CURRENT_TIMESTAMP"),
        ("timestamp default ((current_timestamp))", "CURRENT_TIMESTAMP"),
    ],
)  # fmt: skip
def test_the_text_in_metadata(column: str, stored: str) -> None:
    script = f"create table t (id int primary key, c {column});"
    altered = f"create table t (id int primary key); alter table t add column c {column};"
    assert table_of(history_of(script)).columns[1].default_expression == stored
    if stored.startswith("json"):  # TiDB computes it per row, also the equal values of these
        with pytest.raises(ScenarioError, match="Statement is unsafe"):
            history_of(altered)
    else:
        assert table_of(history_of(altered)).columns[1].default_expression == stored


def test_rows_have_the_computed_value() -> None:
    assert rows_of(SCRIPT) == [(b"1", b'{"k": "v"}'), (b"2", None)]
    columns = "d date default (current_date), s varchar(9) default (json_quote('B'))"
    clock = f"create table t (id int primary key, {columns});"
    assert rows_of(f"{clock} insert into t (id) values (1)") == [(b"1", b"2021-12-20", b'"B"')]


def test_an_expression_that_does_not_parse_is_an_error_at_its_line() -> None:
    with pytest.raises(ScenarioError) as caught:
        history_of("\n\ncreate table t (id int primary key, j json default (json_array(1 2)))")
    assert caught.value.line == 3


def _fields(value: Any) -> dict[str, Any]:
    return {field["field"]: field for field in value["schema"]["fields"][0]["fields"]}


@pytest.mark.parametrize("profile", ["classic", "new"])
def test_debezium_sends_the_text_as_default_and_instead_of_null(tmp_path: Path, profile: str) -> None:
    options = f"protocol=debezium&profile={profile}"
    computed, null = values_of(tmp_path, SCRIPT, options, "row")
    assert _fields(computed)["j"]["default"] == STORED
    assert json.loads(computed["payload"]["after"]["j"]) == {"k": "v"}
    assert null["payload"]["after"]["j"] == STORED


@pytest.mark.parametrize(
    ("column", "default"),
    [
        ("varchar(20) default (json_quote('b'))", "json_quote(_utf8mb4'b')"),
        ("varbinary(20) default (json_quote('b'))", "json_quote(_utf8mb4'b')"),
        ("date default (current_date)", None),
        ("datetime default (str_to_date('1980-01-01', '%Y-%m-%d'))", None),
        ("datetime not null default (str_to_date('1980-01-01', '%Y-%m-%d'))", 0),
    ],
)
def test_debezium_has_no_default_that_it_cannot_read(tmp_path: Path, column: str, default: object) -> None:
    script = f"create table t (id int primary key, c {column}); insert into t (id) values (1)"
    (value,) = values_of(tmp_path, script, "protocol=debezium", "row")
    assert _fields(value)["c"].get("default") == default


def test_the_expression_instead_of_null_is_decoded(tmp_path: Path) -> None:
    decoder = DebeziumDecoder()
    (_, (key, value)) = messages_of(tmp_path, SCRIPT, "protocol=debezium", "row")
    (event,) = decoder.events(key, value)
    assert event.after == {"id": b"2", "j": STORED.encode()}


def test_avro_registers_the_text(tmp_path: Path) -> None:
    (schema,) = (each for each in job_of(tmp_path, SCRIPT, "protocol=avro").schemas if each.part == "value")
    (field,) = (each for each in json.loads(schema.schema)["fields"] if each["name"] == "j")
    assert field["default"] == STORED


def test_simple_describes_the_column_by_the_text(tmp_path: Path) -> None:
    created, *_ = values_of(tmp_path, SCRIPT, "protocol=simple", "ddl")
    assert created["tableSchema"]["columns"][1]["default"] == STORED
