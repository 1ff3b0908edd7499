"""The DEFAULT of a BIT column has the bytes of the literal in TiDB's metadata; rows have the number."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest

from tests.scenario.sql.script_results import history_of, rows_of, table_of
from tests.sql_messages import job_of, values_of
from ticdc_producer.protocols.storage_files import schema_file

BITS = [
    ("bit(9)", "b'101'", b"\x05", b"5", "101"),
    ("bit(9)", "b'000000101'", b"\0\x05", b"5", "000000101"),
    ("bit(16)", "x'0005'", b"\0\x05", b"5", "000000101"),
    ("bit(16)", "5", b"\x05", b"5", "101"),
    ("bit(16)", "x'0105'", b"\x01\x05", b"261", "100000101"),
    ("bit(4)", "b'0101'", b"\x05", b"5", "0101"),
    ("bit(1)", "b'0'", b"\0", b"0", "0"),
]


@pytest.mark.parametrize(("column", "default", "stored", "number", "digits"), BITS)
def test_the_bytes_of_the_default(
    tmp_path: Path, column: str, default: str, stored: bytes, number: bytes, digits: str
) -> None:
    script = (
        f"create table t (id int primary key, b {column} default {default}); insert into t (id) values (1);"
    )
    assert rows_of(script) == [(b"1", number)]
    described = json.loads(schema_file(table_of(history_of(script)), 1).content)["TableColumns"][1]
    assert described["ColumnDefault"] == stored.decode()
    (schema,) = (each for each in job_of(tmp_path, script, "protocol=avro").schemas if each.part == "value")
    assert b64decode(json.loads(schema.schema)["fields"][1]["default"]) == stored
    ddl, _ = values_of(tmp_path, script, "protocol=debezium&output-ddl=true")
    assert ddl["payload"]["tableChanges"][0]["table"]["columns"][1]["defaultValueExpression"] == digits
    created, *_ = values_of(tmp_path, script, "protocol=simple", "ddl")
    assert created["tableSchema"]["columns"][1]["default"] == int(number)
