"""The refusal of a value names table, column and key in each protocol; TiCDC's own text does not."""

from __future__ import annotations

from pathlib import Path

import pytest

import ticdc_producer
from ticdc_producer.errors import EncodeError

_TABLE = "SET sql_mode = ''; CREATE TABLE t (a INT, k VARCHAR(9), v {}, n INT, PRIMARY KEY (k, a)); "
_ROW = "INSERT INTO t VALUES (1, 'key', '{}', 1); UPDATE t SET n = 2;"
CASES = {
    "maxwell": ("kafka:///t?protocol=maxwell", "BLOB", "x"),
    "debezium": ("kafka:///t?protocol=debezium", "DATETIME", "2020-00-00"),
    "avro": ("kafka:///t?protocol=avro", "ENUM('x')", "y"),
    "csv": ("file://OUT?protocol=csv", "ENUM('x')", "y"),
}


@pytest.mark.parametrize("name", CASES)
def test_table_column_and_key_are_named(name: str, tmp_path: Path) -> None:
    uri, kind, value = CASES[name]
    sql = _TABLE.format(kind) + _ROW.format(value)
    file = tmp_path / "a.sql"
    file.write_text(f"CREATE DATABASE s; USE s; {sql}", "utf-8")
    with pytest.raises(EncodeError, match=r"in column 'v' of s\.t, k='key', a='1'") as caught:
        ticdc_producer.run(file, sink_uri=uri.replace("OUT", str(tmp_path / "out")), dry_run=True)
    assert caught.value.table == "s.t"
