"""TiDB's metadata has the DEFAULT of a YEAR as the user wrote it; rows have four digits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scenario.sql.script_results import rows_of
from tests.sql_messages import job_of, messages_of, values_of
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder

YEARS = [
    ("not null default 0", "0", b"2000", 0),
    ("default 0", "0", b"2000", 0),
    ("default '0'", "0", b"2000", 0),
    ("default '0000'", "0000", b"0", 0),
    ("default 1", "1", b"2001", 1),
    ("default '70'", "70", b"1970", 70),
    ("default 2020", "2020", b"2020", 2020),
    ("default '1999'", "1999", b"1999", 1999),
]


def _script(column: str) -> str:
    script = f"create table t (id int primary key, y year {column}); insert into t (id) values (1);"
    return script if "not null" in column else f"{script} insert into t values (2, null);"


@pytest.mark.parametrize(("column", "text", "stored", "number"), YEARS)
def test_simple_has_the_text(tmp_path: Path, column: str, text: str, stored: bytes, number: int) -> None:
    created, *_ = values_of(tmp_path, _script(column), "protocol=simple", "ddl")
    assert created["tableSchema"]["columns"][1]["default"] == text
    assert rows_of(_script(column))[0] == (b"1", stored)
    assert number == int(text)


def test_year_not_null_without_default(tmp_path: Path) -> None:
    script = "create table t (id int primary key, y year not null); insert into t values (1, 2020);"
    created, *_ = values_of(tmp_path, script, "protocol=simple", "ddl")
    assert created["tableSchema"]["columns"][1]["default"] == "0000"


@pytest.mark.parametrize("profile", ["classic", "new"])
@pytest.mark.parametrize(
    ("column", "text", "stored", "number"), [year for year in YEARS if "null" not in year[0]]
)
def test_debezium_instead_of_null(
    tmp_path: Path, column: str, text: str, stored: bytes, number: int, profile: str
) -> None:
    """Classic TiCDC writes the text, new architecture the number; both expand two digits in the schema."""
    options = f"protocol=debezium&profile={profile}"
    given, null = values_of(tmp_path, _script(column), options, "row")
    assert given["payload"]["after"]["y"] == int(stored)
    assert null["payload"]["after"]["y"] == (text if profile == "classic" else number)
    fields = null["schema"]["fields"][0]["fields"]
    expanded = number + 2000 if number < 70 else number + 1900 if number < 100 else number
    assert fields[1]["default"] == expanded
    (_, (key, value)) = messages_of(tmp_path, _script(column), options, "row")
    (event,) = DebeziumDecoder().events(key, value)
    assert event.after["y"] is not None


@pytest.mark.parametrize(("column", "text", "stored", "number"), YEARS)
def test_avro_has_the_number(tmp_path: Path, column: str, text: str, stored: bytes, number: int) -> None:
    assert text
    assert stored
    (schema,) = (
        each for each in job_of(tmp_path, _script(column), "protocol=avro").schemas if each.part == "value"
    )
    assert json.loads(schema.schema)["fields"][1]["default"] == number
