"""The maximum size of a row: no value exceeds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.generate.plans import planned
from ticdc_producer.model.table import TableInfo, max_row_bytes
from ticdc_producer.scenario.generate.domain import boundary_values_of

BOUNDED = (
    "BIGINT UNSIGNED", "DECIMAL(65,30)", "FLOAT", "DOUBLE", "YEAR", "BIT(64)", "DATE", "DATETIME(6)",
    "TIMESTAMP(6) NULL", "TIME(6)", "CHAR(255)", "VARCHAR(300)", "BINARY(255)", "VARBINARY(900)",
    "ENUM('x','y')", "SET('p','q')",
)  # fmt: skip


def _table(folder: Path, kind: str) -> TableInfo:
    return planned(folder, f"CREATE TABLE t (id INT PRIMARY KEY, c {kind})", transactions=1).table


@pytest.mark.parametrize("kind", BOUNDED)
def test_no_boundary_value_exceeds_the_maximum(tmp_path: Path, kind: str) -> None:
    table = _table(tmp_path, kind)
    rest, whole = max_row_bytes(_table(tmp_path, "INT")), max_row_bytes(table)
    assert rest is not None
    assert whole is not None
    assert max(len(value or b"") for value in boundary_values_of(table.columns[1])) <= whole - rest // 2


@pytest.mark.parametrize("kind", ["TEXT", "TINYBLOB", "LONGTEXT", "JSON"])
def test_types_of_unlimited_length_have_no_maximum(tmp_path: Path, kind: str) -> None:
    assert max_row_bytes(_table(tmp_path, kind)) is None
