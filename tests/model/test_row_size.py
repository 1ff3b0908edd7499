"""A bound of a row's size that no value goes beyond."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.generate.plans import planned
from ticdc_producer.model.row_size import most_bytes
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.domain import edges_of

BOUNDED = (
    "BIGINT UNSIGNED", "DECIMAL(65,30)", "FLOAT", "DOUBLE", "YEAR", "BIT(64)", "DATE", "DATETIME(6)",
    "TIMESTAMP(6) NULL", "TIME(6)", "CHAR(255)", "VARCHAR(300)", "BINARY(255)", "VARBINARY(900)",
    "ENUM('x','y')", "SET('p','q')",
)  # fmt: skip


def _table(folder: Path, kind: str) -> TableInfo:
    return planned(folder, f"CREATE TABLE t (id INT PRIMARY KEY, c {kind})", transactions=1).table


@pytest.mark.parametrize("kind", BOUNDED)
def test_no_value_on_the_edge_is_larger(tmp_path: Path, kind: str) -> None:
    table = _table(tmp_path, kind)
    rest, whole = most_bytes(_table(tmp_path, "INT")), most_bytes(table)
    assert rest is not None
    assert whole is not None
    assert max(len(value or b"") for value in edges_of(table.columns[1])) <= whole - rest // 2


@pytest.mark.parametrize("kind", ["TEXT", "TINYBLOB", "LONGTEXT", "JSON"])
def test_what_may_be_long_has_no_bound(tmp_path: Path, kind: str) -> None:
    assert most_bytes(_table(tmp_path, kind)) is None
