"""Invalid files and DataFrames of a consumer are rejected, files with their line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from ticdc_producer import run, verify_state
from ticdc_producer.errors import StateError
from ticdc_producer.verifier.consumer_state.files import csv_columns
from ticdc_producer.verifier.consumer_state.plan import select_tables


def test_a_csv_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xff\xfe\n1\n")
    with pytest.raises(StateError, match=r"t\.csv: not a CSV file with a header .it is not UTF-8"):
        csv_columns([path])


def test_a_line_without_a_json_object_is_rejected_with_its_number(tmp_path: Path) -> None:
    run("seed_t1", out=tmp_path / "golden", verify_output=False)
    path = tmp_path / "test.t1.jsonl"
    path.write_text('{"id": 1}\n[2]\n')
    with pytest.raises(StateError) as rejected:
        verify_state(tmp_path / "golden", str(tmp_path))
    assert str(rejected.value).startswith(f"{path}:2: the line is not a JSON object: '[2]'")


def test_an_unexpected_table_is_rejected_with_the_argument() -> None:
    with pytest.raises(StateError, match=r"`table_map`: no table 'd\.t' is expected"):
        select_tables([], ["d.t"], argument="table_map")


@pytest.mark.parametrize("rows", [pd.DataFrame({"id": [1]}), pa.table({"id": [1]}), 5])
def test_what_is_no_dataframe_of_spark_is_rejected(tmp_path: Path, rows: Any) -> None:
    run("seed_t1", out=tmp_path / "golden", verify_output=False)
    with pytest.raises(StateError, match=rf"test\.t1: {type(rows).__name__} is not a DataFrame of Spark"):
        verify_state(tmp_path / "golden", {"test.t1": rows})
