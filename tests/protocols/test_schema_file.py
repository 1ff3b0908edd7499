"""Schema files of the storage sink, compared with checksums of TiCDC's tests and tables stored by TiDB."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden_events import event_files
from tests.protocols.golden_messages import Compared
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.storage_files import (
    DataName,
    SchemaFile,
    data_name,
    dispatcher_id,
    index_path,
    metadata,
    parse_data_name,
    read_schema_file,
    schema_file,
    schema_name,
    schema_path,
)
from ticdc_producer.simulate.prepare import prepare

T = MySQLType
TABLE = TableInfo(
    schema="schema1",
    name="table1",
    table_id=20,
    columns=(
        ColumnInfo(name="Id", type=T.LONG, nullable=False, id=1),
        ColumnInfo(name="LastName", type=T.VARCHAR, length=128, charset="utf8mb4", nullable=False, id=2),
        ColumnInfo(name="FirstName", type=T.VARCHAR, length=64, charset="utf8mb4", id=4),
        ColumnInfo(name="Birthday", type=T.DATETIME, id=5),
    ),
    indexes=(IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True),),
)


def test_names_have_ticdcs_checksums() -> None:
    """Both are in tiflow's ``table_definition_test.go``."""
    assert schema_path(schema_file(TABLE, 100)) == "schema1/table1/meta/schema_100_0785427252.json"
    assert schema_path(SchemaFile(schema="schema1", table="", version=100)) == (
        "schema1/meta/schema_100_3233644819.json"
    )


def test_a_schema_file_is_the_json_of_go() -> None:
    file = schema_file(TABLE, 100, "ALTER TABLE t ADD x<>", 5)
    lines = file.content.decode().split("\n")
    assert lines[:10] == [
        "{",
        '    "Table": "table1",',
        '    "Schema": "schema1",',
        '    "Version": 1,',
        '    "TableVersion": 100,',
        '    "Query": "ALTER TABLE t ADD x\\u003c\\u003e",',
        '    "Type": 5,',
        '    "TableColumns": [',
        "        {",
        '            "ColumnName": "Id",',
    ]
    assert lines[-8:] == [
        "        },",
        "        {",
        '            "ColumnName": "Birthday",',
        '            "ColumnType": "DATETIME"',
        "        }",
        "    ],",
        '    "TableColumnsTotal": 4',
        "}",
    ]
    assert file.checksum == schema_file(TABLE, 7).checksum


def test_a_file_of_a_database_has_no_columns() -> None:
    content = json.loads(
        SchemaFile(schema="d", table="", version=1, query="CREATE DATABASE d", type=1).content
    )
    assert content["TableColumns"] is None
    assert (content["Table"], content["TableColumnsTotal"]) == ("", 0)


def test_column_ids_are_written_if_enabled() -> None:
    with_ids = schema_file(TABLE, 100, column_ids=True)
    assert [column["ColumnId"] for column in json.loads(with_ids.content)["TableColumns"]] == list("1245")
    assert with_ids.checksum != schema_file(TABLE, 100).checksum


@pytest.mark.parametrize("path", event_files(), ids=lambda path: path.name.split(".")[0])
def test_columns_are_described_as_in_tidb(path: Path, compared: Compared) -> None:
    name = path.name.split(".")[0]
    overrides = ["on-error=skip", *(["changefeed.force-replicate=true"] if name == "nokey_force" else [])]
    job = prepare(path.with_name(f"{name}.sql"), sink_uri="file:///out?protocol=csv", overrides=overrides)
    golden = [
        raw
        for raw in map(json.loads, path.read_text("utf-8").splitlines())
        if raw["kind"] == "ddl" and raw["table_info"]
    ]
    files = {}
    for ddl in job.history.catalog.ddls:
        after, before = job.history.catalog.tables_of(ddl)
        if ddl.sent and (table := after or before) is not None:
            ts = job.stream.resolved.clock.ts(ddl.commit_seq)
            files[ts, ddl.schema, ddl.table] = schema_file(table, ts, ddl.query, ddl.ddl_type)
    for raw in golden:
        file = json.loads(files[raw["commit_ts"], raw["schema"], raw["table"]].content)
        assert file["Type"] == raw["ddl_type"]
        written = files[raw["commit_ts"], raw["schema"], raw["table"]]
        read = read_schema_file(written.content)
        assert (read.checksum, read.content) == (written.checksum, written.content)
        assert file["TableColumns"] == [_expected(column) for column in raw["table_info"]["cols"]]
    compared("schema files, columns", len(golden))


_LENGTH = {*range(1, 6), 8, 9, 13, 15, 16, 246, *range(249, 255)}  # types with a length


def _expected(column: dict[str, Any]) -> dict[str, Any]:
    """TiCDC's description of a column of TiDB (``FromTiColumnInfo``)."""
    kind, expected = column["type"], {"ColumnName": column["name"]["O"]}
    expected["ColumnType"] = _TYPES[kind["Tp"]][kind["Charset"] == "binary"] + " UNSIGNED" * bool(
        kind["Flag"] & 32
    )
    if column["default_bit"] is not None:
        expected["ColumnDefault"] = base64.b64decode(column["default_bit"]).decode("utf-8", "replace")
    elif column["default"] is not None:
        expected["ColumnDefault"] = column["default"]
    if kind["Tp"] in _LENGTH:
        expected["ColumnPrecision"] = str(kind["Flen"])
    if kind["Tp"] == 246 or (kind["Tp"] in (4, 5, 7, 11, 12) and kind["Decimal"] > 0):
        expected["ColumnScale"] = str(kind["Decimal"])
    if kind["Flag"] & 1:
        expected["ColumnNullable"] = "false"
    if kind["Flag"] & 2:
        expected["ColumnIsPk"] = "true"
    return expected


_SAME = {
    0: "UNSPECIFIED", 1: "TINYINT", 2: "SMALLINT", 3: "INT", 4: "FLOAT", 5: "DOUBLE", 7: "TIMESTAMP",
    8: "BIGINT", 9: "MEDIUMINT", 10: "DATE", 11: "TIME", 12: "DATETIME", 13: "YEAR", 16: "BIT", 225: "VECTOR",
    245: "JSON", 246: "DECIMAL", 247: "ENUM", 248: "SET",
}  # fmt: skip
_TYPES = {
    **{code: (name, name) for code, name in _SAME.items()},
    15: ("VARCHAR", "VARBINARY"),
    253: ("VAR_STRING", "VAR_STRING"),
    254: ("CHAR", "BINARY"),
    249: ("TINYTEXT", "TINYBLOB"),
    250: ("MEDIUMTEXT", "MEDIUMBLOB"),
    251: ("LONGTEXT", "LONGBLOB"),
    252: ("TEXT", "BLOB"),
}


def test_names_of_data_files() -> None:
    assert data_name(1, 20, ".csv") == "CDC00000000000000000001.csv"
    assert data_name(12, 6, ".json") == "CDC000012.json"
    assert data_name(12, 6, ".json", "42") == "CDC_42_000012.json"
    assert parse_data_name("CDC000012.json") == DataName("", 12)
    assert parse_data_name("CDC_42_000012.json") == DataName("42", 12)
    assert parse_data_name("CDC_6b1c-9f_x_000012.csv") == DataName("6b1c-9f_x", 12)
    for name in ("CDC.index", "CDC_000012.json", "CDC__000012.json"):
        assert parse_data_name(name) is None
    assert [index_path(), index_path("42")] == ["meta/CDC.index", "meta/CDC_42.index"]
    assert dispatcher_id("d/t").isdecimal()
    parsed = schema_name("schema_100_0785427252.json")
    assert parsed is not None
    assert (parsed.version, parsed.checksum) == (100, 785427252)
    assert metadata(5) == b'{"checkpoint-ts":5}'


_GOOD = schema_file(TABLE, 100).content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        _GOOD.replace(b'"TableColumnsTotal": 4', b'"TableColumnsTotal": 3'),
        _GOOD.replace(b'"TableVersion": 100', b'"TableVersion": -1'),
        _GOOD.replace(b'"ColumnType": "INT"', b'"ColumnType": 1'),
        _GOOD.replace(b'"ColumnName": "Id"', b'"Name": "Id"'),
        _GOOD.replace(b'"11"', b"11"),
        _GOOD.replace(b'"11"', b'"\\ud800"'),
        *(_GOOD.replace(name, b'"\\ud800"') for name in (b'"table1"', b'"schema1"', b'"ColumnPrecision"')),
        _GOOD.replace(b'"Query": ""', b'"Query": "\\ud800"'),
    ],
)
def test_malformed_schema_files_are_rejected(content: bytes) -> None:
    with pytest.raises(DecodeError, match="SCHEMA-FILE"):
        read_schema_file(content)


@given(cut=st.integers(0, len(_GOOD) - 1), bit=st.integers(0, 8 * len(_GOOD) - 1))
def test_truncated_or_damaged_schema_files_raise_only_decode_errors(cut: int, bit: int) -> None:
    with pytest.raises(DecodeError):
        read_schema_file(_GOOD[:cut])
    damaged = bytearray(_GOOD)
    damaged[bit // 8] ^= 1 << bit % 8
    with suppress(DecodeError):
        read_schema_file(bytes(damaged))
