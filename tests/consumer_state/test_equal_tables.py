"""The sums of rows decide what the comparison row by row decides."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from ticdc_producer import api
from ticdc_producer.engine.dataset import Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import FolderError
from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.registry import fidelity
from ticdc_producer.rows.columns import conversion, type_of_column
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.state import replicated_state
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.golden.expectations import row_batches
from ticdc_producer.targets.golden.write import write_manifest
from ticdc_producer.verifier.consumer_state.equal_tables import actual_sums
from ticdc_producer.verifier.consumer_state.outcome import StateOutcome
from ticdc_producer.verifier.consumer_state.parquet_files import parquet_files
from ticdc_producer.verifier.consumer_state.plan import ExpectedTable, TablePlan, expected_tables, plan_table
from ticdc_producer.verifier.consumer_state.row_sums import RowSums, sums_of_images

ALL_TYPES = Path(__file__).parents[2] / "scenarios" / "all-types.yaml"
COLUMNS_OF_ALL_TYPES = re.findall(r"^        (c_\w+) ", ALL_TYPES.read_text("utf-8"), re.MULTILINE)
URI = "kafka:///t?protocol=open-protocol"


@pytest.fixture(scope="module")
def rows_of_all_types() -> tuple[TableInfo, pa.Array]:
    """The table of ``all-types`` with the least and the greatest value of each type, and NULL."""
    states = replicated_state(job := prepare(ALL_TYPES, sink_uri=URI), job.history.state)
    (table, rows) = next(of_table for of_table in states if of_table[0].name == "edges")
    return table, pa.array(rows, IMAGE)


def typed_table(table: TableInfo, images: pa.Array) -> pa.Table:
    """Rows as a consumer has them that stores each column in the type of its values."""
    width = len(table.sent_columns)
    values = images.flatten()
    columns = {}
    for at, column in enumerate(table.sent_columns):
        convert = conversion(column.name, type_of_column(column), "UTC", column)
        columns[column.name] = convert(values.take(pa.array(range(at, len(values), width))))
    return pa.table(columns)


def plan_of(table: TableInfo) -> TablePlan:
    expected = ExpectedTable(
        schema=table.schema,
        name=table.name,
        columns=table.sent_columns,
        key=("id",),
        virtual=(),
        file=Path("t"),
    )
    names = [column.name for column in table.sent_columns]
    lossless = fidelity("open-protocol", {})
    return plan_table(0, expected, "t", names, ignored=frozenset(), zone=UTC, fidelity=lossless)


def sums_on(engine: Engine, rows: pa.Table, plan: TablePlan) -> RowSums | None:
    return actual_sums(engine.of_batches(rows.to_batches(max_chunksize=2), rows.schema), plan)


@pytest.mark.parametrize("engine", ["local", "spark"], indirect=True)
def test_a_table_of_all_types_has_the_sums_of_its_rows(
    engine: Engine, rows_of_all_types: tuple[TableInfo, pa.Array]
) -> None:
    table, images = rows_of_all_types
    plan, rows = plan_of(table), typed_table(table, images)
    expected = sums_of_images(table.sent_columns, images)
    assert expected is not None
    assert expected.rows == 3
    assert sums_on(engine, rows, plan) == expected
    assert sums_on(engine, rows.take([2, 0, 1]), plan) == expected
    assert sums_on(engine, rows.take([0, 1]), plan) != expected
    assert sums_on(engine, rows.take([0, 1, 2, 2]), plan) != expected
    assert sums_on(engine, rows.take([0, 1, 2, 2, 2]), plan) != expected  # an odd number of copies
    assert sums_on(engine, rows.take([0, 1, 1]), plan) != expected


def test_each_changed_value_changes_the_sums(rows_of_all_types: tuple[TableInfo, pa.Array]) -> None:
    table, images = rows_of_all_types
    plan, rows = plan_of(table), typed_table(table, images)
    expected = sums_of_images(table.sent_columns, images)
    for at, name in enumerate(rows.column_names):
        for row in range(rows.num_rows):
            others = [other for other in range(rows.num_rows) if rows[name][other] != rows[name][row]]
            for other in others:
                taken = pa.array([other if index == row else index for index in range(rows.num_rows)])
                changed = rows.set_column(at, name, rows[name].take(taken))
                assert sums_on(LocalEngine(), changed, plan) != expected, (name, row, other)


COLUMNS = {
    "id": st.integers(0, 5), "name": st.one_of(st.none(), st.sampled_from(["", "a", "ab", "a" * 200])),
    "price": st.one_of(st.none(), st.integers(-3, 3)),
}  # fmt: skip
ROWS = st.lists(st.fixed_dictionaries(COLUMNS), max_size=8)


def frame_of(rows: Sequence[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(
        list(rows), pa.schema([("id", pa.int32()), ("name", pa.string()), ("price", pa.int64())])
    )


@given(ROWS, ROWS)
def test_sums_are_equal_exactly_if_the_rows_are(
    first: list[dict[str, object]], second: list[dict[str, object]]
) -> None:
    """The tables have few different values, so that swapped values and repeated rows are frequent."""
    plan = plan_of(shop_table())
    sums = [sums_on(LocalEngine(), frame_of(rows), plan) for rows in (first, second)]
    counts = [Counter(tuple(row[name] for name in COLUMNS) for row in rows) for rows in (first, second)]
    assert (sums[0] == sums[1]) == (counts[0] == counts[1])


def shop_table() -> TableInfo:
    scenario = Scenario("shop").sql(
        "CREATE TABLE test.t (id INT PRIMARY KEY, name VARCHAR(200), price BIGINT)"
    )
    (table,) = prepare(scenario, sink_uri=URI).history.catalog.tables
    return table


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run of ``all-types`` writes."""
    folder = tmp_path_factory.mktemp("types") / "golden"
    api.run(ALL_TYPES, sink_uri=URI, out=folder, verify_output=False, engine="local")
    return folder


@pytest.fixture(scope="module")
def lake(golden: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the folder as Parquet, each column in the type of its values."""
    folder = tmp_path_factory.mktemp("lake")
    manifest = source.manifest(golden)
    for table in expected_tables(golden, manifest):
        projections = {column.name: lambda value: value for column in table.columns}
        rows = [row for batch in row_batches(table.file, projections) for row in batch]
        columns = {
            column.name: conversion(column.name, type_of_column(column), "UTC", column)(
                pa.array(values, pa.binary())
            )
            for column, values in zip(table.columns, zip(*rows, strict=True), strict=True)
        }
        pq.write_table(pa.table(columns), folder / f"{table.qualified_name}.parquet")
    return folder


def test_equal_tables_are_found_without_their_rows(golden: Path, lake: Path) -> None:
    status: list[str] = []
    outcome = api.verify_state(golden, lake, on_status=status.append)
    assert outcome.ok
    assert {table.table: table.expected_rows for table in outcome.tables} == {
        table.table: table.actual_rows for table in outcome.tables
    }
    assert [table.actual_rows for table in outcome.tables if table.table != "types.rows"] == [3, 2]
    assert "comparing rows" not in status


def without_sums(golden: Path, folder: Path) -> Path:
    """A folder of an earlier version."""
    shutil.copytree(golden, folder)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    del manifest["row_sums"], manifest["files"]
    write_manifest(folder, manifest)
    return folder


Change: TypeAlias = Callable[[pa.Table], pa.Table]
CHANGES: dict[str, Change] = {
    "repeated": lambda rows: pa.concat_tables([rows, rows.slice(1, 1)]),
    "removed": lambda rows: rows.slice(1),
    "reordered": lambda rows: rows.take(list(reversed(range(rows.num_rows)))),
    "without a column": lambda rows: rows.drop_columns([rows.column_names[-1]]),
    "with another column": lambda rows: rows.append_column("seen", pa.array(range(rows.num_rows))),
    "as text": lambda rows: pa.table([as_text(column) for column in rows.columns], rows.column_names),
}


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column if pa.types.is_binary(column.type) else column.cast(pa.string())


def with_value_of_next_row(name: str) -> Change:
    """Give the first row the value that another row has in a column."""

    def changed(rows: pa.Table) -> pa.Table:
        values = rows[name].to_pylist()
        other = next(row for row, value in enumerate(values) if value != values[0])
        taken = rows[name].take(pa.array([other, *range(1, rows.num_rows)]))
        return rows.set_column(rows.column_names.index(name), name, taken)

    return changed


@pytest.mark.parametrize("change", CHANGES)
def test_the_outcome_is_that_of_the_comparison_row_by_row(
    spark: SparkSession, golden: Path, lake: Path, tmp_path: Path, change: str
) -> None:
    check_outcome(golden, lake, tmp_path, CHANGES[change])


def check_outcome(golden: Path, lake: Path, tmp_path: Path, change: Change) -> StateOutcome:
    """Compare the outcomes with and without sums, for Parquet files."""
    changed = tmp_path / "changed"
    changed.mkdir()
    for file in lake.iterdir():
        pq.write_table(change(pq.read_table(file)), changed / file.name)
    outcome = api.verify_state(golden, changed)
    assert outcome == api.verify_state(without_sums(golden, tmp_path / "before"), changed)
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v", *COLUMNS_OF_ALL_TYPES])
def test_the_outcome_for_one_changed_value(
    spark: SparkSession, golden: Path, lake: Path, tmp_path: Path, name: str
) -> None:
    def change(rows: pa.Table) -> pa.Table:
        return with_value_of_next_row(name)(rows) if name in rows.column_names else rows

    outcome = check_outcome(golden, lake, tmp_path, change)
    assert not outcome.ok


def test_a_dataframe_has_the_sums_of_its_rows(spark: SparkSession, golden: Path, lake: Path) -> None:
    frames = {file.stem: spark.read.parquet(str(file)) for file in lake.iterdir()}
    status: list[str] = []
    assert api.verify_state(golden, frames, on_status=status.append).ok
    assert "comparing rows" not in status


def test_rows_that_were_changed_with_their_sha256_are_compared(
    spark: SparkSession, golden: Path, lake: Path, tmp_path: Path
) -> None:
    """The sums belong to the rows that the run wrote."""
    folder = tmp_path / "edited"
    shutil.copytree(golden, folder)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    file = folder / "state" / "types.vectors.jsonl"
    file.write_text(file.read_text("utf-8").replace("-1.5", "-2.5"), "utf-8")
    manifest["files"]["state/types.vectors.jsonl"] = sha256(file.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    outcome = api.verify_state(folder, lake, tables=["types.vectors"])
    assert [table.different for table in outcome.tables] == [1]


def test_rows_that_were_changed_are_an_error(golden: Path, lake: Path, tmp_path: Path) -> None:
    folder = tmp_path / "edited"
    shutil.copytree(golden, folder)
    with (folder / "state" / "types.vectors.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(FolderError, match="differs from what the manifest lists"):
        api.verify_state(folder, lake)


def test_a_file_that_spark_reads_otherwise_is_read_by_spark(tmp_path: Path) -> None:
    for name, values in {"nanoseconds": pa.array([1], pa.timestamp("ns")), "nested": pa.array([[1]])}.items():
        pq.write_table(pa.table({"id": values}), tmp_path / f"{name}.parquet")
        assert parquet_files(tmp_path / f"{name}.parquet") is None
    pq.write_table(pa.table({"id": [1], "ID": [2]}), tmp_path / "case.parquet")
    assert parquet_files(tmp_path / "case.parquet") is None
    assert parquet_files(tmp_path) is None  # files of several forms
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1")
    assert parquet_files(tmp_path / "damaged.parquet") is None


def test_times_that_spark_writes_are_instants(spark: SparkSession, tmp_path: Path) -> None:
    """Spark writes INT96, unless its configuration names another type."""
    query = "SELECT 1 AS id, TIMESTAMP '2021-12-20 13:30:49.12 UTC' AS at, TIMESTAMP_NTZ '2021-12-20' AS day"
    spark.sql(query).write.parquet(str(tmp_path / "t"))
    files = parquet_files(tmp_path / "t")
    assert files is not None
    (batch,) = files.dataset(LocalEngine(), files.columns).batches()
    assert batch.schema.types == [pa.int32(), pa.timestamp("us", "UTC"), pa.timestamp("us")]
    assert batch.column("at").to_pylist() == [datetime(2021, 12, 20, 13, 30, 49, 120_000, UTC)]
