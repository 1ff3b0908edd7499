"""Rows that no partition accepts are refused with their values, before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scenario.generate.plans import changes_of, planned
from ticdc_producer.errors import ScenarioError

COLUMNS = "id BIGINT, area VARCHAR(9), day DATE, n INT, PRIMARY KEY (id, area, day)"
BY_ID = "RANGE (id) (PARTITION a VALUES LESS THAN (5), PARTITION b VALUES LESS THAN (31))"
BY_AREA = "LIST COLUMNS (area) (PARTITION a VALUES IN ('no'), PARTITION b VALUES IN ('so'))"
BY_YEAR = "RANGE (YEAR(day)) (PARTITION a VALUES LESS THAN (2010), PARTITION b VALUES LESS THAN (2020))"


def step(folder: Path, by: str, columns: dict[str, Any], **keys: Any) -> Any:
    table = f"CREATE TABLE t ({COLUMNS}) PARTITION BY {by}"
    columns = {"area": {"values": ["no", "so"]}, "day": {"max": "2015-01-01"}, **columns}
    keys = {"rows": 20, "transactions": 10, "mix": {"insert": 1, "update": 1}, **keys}
    return planned(folder, table, columns=columns, **keys)


@pytest.mark.parametrize(
    ("by", "columns"),
    [(BY_ID, {}), (BY_AREA, {}), (BY_YEAR, {}), (BY_ID, {"id": {"min": "-9223372036854775808"}})],
)
def test_rows_that_all_have_a_partition(tmp_path: Path, by: str, columns: dict[str, Any]) -> None:
    plan = step(tmp_path, by, columns)
    ids = {partition.id for partition in plan.table.partitions}
    assert {change.table_id for change in changes_of(plan)} <= ids


@pytest.mark.parametrize(
    ("by", "columns", "keys", "message"),
    [
        (BY_ID, {"id": {"min": 7}}, {}, "test.t has id = 31: Table has no partition for value 31 (limit"),
        (BY_ID, {}, {"key_changes": 0.001}, "test.t has id = 55: Table has no partition for value 55 (limit"),
        (
            BY_AREA,
            {"area": {"values": ["no", "we"]}},
            {},
            "test.t has area = we: Table has no partition for value we (limit the column by min",
        ),
        (
            BY_YEAR,
            {"day": {"min": "2021-03-01", "max": "2021-03-01"}},
            {},
            "test.t has day = 2021-03-01: Table",
        ),
        (
            BY_AREA,
            {"area": {"expression": "'no'"}},
            {},
            "column 'area' decides the partitions of test.t and has",
        ),
    ],
)
def test_rows_without_a_partition(
    tmp_path: Path, by: str, columns: dict[str, Any], keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        step(tmp_path, by, columns, **keys)
    assert "generated.yaml:" in str(caught.value)
    assert message in str(caught.value)
