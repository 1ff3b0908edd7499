"""The DataFrames of other libraries, and their files."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ticdc_producer import ProducerError
from ticdc_producer.engine import SMALL_EVENTS
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.scenario.frames.frame import Frame, ParquetFrame, SparkFrame, frame_of
from ticdc_producer.scenario.frames.frame_rows import FrameColumnNames, frame_rows
from ticdc_producer.scenario.frames.zones import SESSION_ZONE

NULLS = pa.nulls(SMALL_EVENTS + 1)
ROWS = pa.table({"n": [0, 1], "v": ["a", None]})


class Exported:
    """A DataFrame of a library that exports Arrow streams, as Polars and DuckDB do."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return ROWS.__arrow_c_stream__(requested_schema)


def rows_of(frame: Frame) -> list[dict[str, object]]:
    assert frame.rows is not None
    rows: list[dict[str, object]] = frame.rows.to_pylist()
    return rows


@pytest.mark.parametrize(
    "df", [ROWS, Exported(), ROWS.to_pandas(), ROWS.to_reader()], ids=lambda df: type(df).__name__
)
def test_dataframes_of_any_library(df: object) -> None:
    assert rows_of(frame_of(df)) == ROWS.to_pylist()


VIEWS = pa.table({
    "text": pa.array(["a", None], pa.string_view()),
    "bytes": pa.array([b"\xff", None], pa.binary_view()),
    "category": pa.DictionaryArray.from_arrays(
        pa.array([1, None], pa.uint32()), pa.array(["x", "y"], pa.string_view())
    ),
})  # fmt: skip
"""The types of texts, bytes and categories of Polars."""


def test_a_dataframe_with_views() -> None:
    assert rows_of(frame_of(VIEWS)) == [
        {"text": "a", "bytes": b"\xff", "category": "y"},
        {"text": None, "bytes": None, "category": None},
    ]


def test_a_column_that_arrow_cannot_read_is_an_error() -> None:
    frame = frame_of(pa.table({"c": VIEWS.select(["category"]).to_struct_array()}))
    with pytest.raises(ProducerError, match="the DataFrame has a column that cannot be read"):
        rows_of(frame)


UNION = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])


@pytest.mark.parametrize(
    "values", [UNION, pa.StructArray.from_arrays([UNION], ["v"]), pa.ListArray.from_arrays([0, 1, 2], UNION)]
)
def test_values_of_several_types_in_a_column_are_refused(values: pa.Array) -> None:
    frame = frame_of(pa.table({"txn": [0, 1], "after": values}))
    with pytest.raises(ProducerError, match="column 'after' has values of several types"):
        rows_of(frame)
    with pytest.raises(ProducerError, match="column 'after' has values of several types"):
        frame_rows(LocalEngine(), frame, FrameColumnNames.of(frame.names()), frame.names())


@pytest.mark.parametrize("name", ["txn", "row_id", "resolved"])
def test_numbers_of_a_large_frame_are_integers(name: str) -> None:
    frame = frame_of(pa.table({"txn": [0, 1], "resolved": [1, None], "row_id": [1, None], name: [[1], [2]]}))
    columns = FrameColumnNames.of(frame.names(), canonical=True)
    with pytest.raises(ProducerError, match=f"column '{name}' must be an integer column, not list"):
        [*frame_rows(LocalEngine(), frame, columns, frame.names()).batches()]


def test_equal_rows_have_equal_digests() -> None:
    chunks = pa.concat_tables([ROWS.slice(0, 1), ROWS.slice(1)])
    with_metadata = ROWS.replace_schema_metadata({"library": "x"})
    digests = {frame_of(table).digest for table in (ROWS, chunks, with_metadata)}
    assert len(digests) == 1
    assert frame_of(ROWS.slice(1)).digest not in digests


def large(first: int, **columns: pa.Array) -> pa.Table:
    return pa.table({"n": [first, *range(SMALL_EVENTS)], **columns})


def test_digests_of_large_dataframes_are_those_of_their_rows() -> None:
    tables = [large(1), large(1), pa.concat_tables([large(1).slice(0, 7), large(1).slice(7)])]
    assert frame_of(tables[0]).rows is None
    assert len({frame_of(table).digest for table in tables}) == 1
    others = (large(2), large(1).rename_columns(["m"]), large(1).slice(1), large(1).append_column("m", NULLS))
    assert len({frame_of(table).digest for table in (tables[0], *others)}) == 5


def test_a_large_dataframe_of_spark_has_a_digest_of_its_own(spark: SparkSession) -> None:
    """Its rows are not read for it; the same plan may read other ones."""
    frames = [frame_of(spark.range(SMALL_EVENTS + 1)) for _ in range(2)]
    assert frames[0].rows is None
    assert frames[0].digest == frames[0].digest != frames[1].digest


def test_a_file_has_the_rows_that_were_written(tmp_path: Path) -> None:
    moments = pd.DataFrame({"t": [pd.Timestamp("2024-01-01 00:00:00.5")], "c": pd.Categorical(["x"])})
    frame = frame_of(moments)
    frame.write(tmp_path / "rows.parquet")
    assert rows_of(ParquetFrame(str(tmp_path / "rows.parquet"), "s.yaml", 3)) == rows_of(frame)


def test_tasks_get_no_rows() -> None:
    frame = frame_of(pa.table({"n": range(10_000)}))
    assert frame.rows is not None
    assert len(pickle.dumps(frame)) < 200


def test_a_folder_is_read_like_a_file(tmp_path: Path) -> None:
    for number in range(2):
        pq.write_table(ROWS.slice(number, 1), tmp_path / f"{number}.parquet")
    assert rows_of(ParquetFrame(str(tmp_path), "s.yaml", 3)) == ROWS.to_pylist()


@pytest.mark.parametrize("content", [None, b"no parquet"])
def test_a_file_that_cannot_be_read_names_the_step(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(ProducerError, match=r"^s.yaml:3: cannot read the rows of the step: "):
        _ = ParquetFrame(str(tmp_path / "rows.parquet"), "s.yaml", 3).rows


def test_sorted_rows_of_spark_may_be_in_other_parts_when_they_are_read_again(spark: SparkSession) -> None:
    rows = spark.range(SMALL_EVENTS + 1)
    assert frame_of(rows).has_fixed_parts
    assert not frame_of(rows.orderBy(rows.id % 7)).has_fixed_parts
    assert frame_of(pa.table({"id": [1]})).has_fixed_parts


def test_both_engines_read_the_wall_clocks_of_a_zone(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads time stamps in UTC."""
    instant, zoned = datetime(2020, 1, 1, 3, tzinfo=UTC), pa.timestamp("us", "Asia/Tokyo")
    image = pa.array([{"id": 1, "at": instant}], pa.struct([("id", pa.int64()), ("at", zoned)]))
    table = pa.table({"at": pa.array([instant], zoned), "after": image})
    pq.write_table(table, tmp_path / "rows.parquet")
    for frame in (frame_of(table), ParquetFrame(str(tmp_path / "rows.parquet"), "s.yaml", 1)):
        here, in_spark = (
            pa.Table.from_batches(frame.dataset(engine, ["at", "after"]).batches())
            for engine in (LocalEngine(), SparkEngine(spark))
        )
        assert here.schema.types == in_spark.schema.types == table.schema.types
        assert here.to_pylist() == in_spark.to_pylist() == table.to_pylist()


@pytest.fixture
def in_tokyo(spark: SparkSession) -> Iterator[SparkSession]:
    """The session in another time zone, under a name of Java."""
    before = str(spark.conf.get(SESSION_ZONE))
    spark.conf.set(SESSION_ZONE, "GMT+9")
    yield spark
    spark.conf.set(SESSION_ZONE, before)


def test_time_stamps_of_spark_have_the_zone_of_the_session(in_tokyo: SparkSession, tmp_path: Path) -> None:
    rows = in_tokyo.sql(
        "SELECT at, struct(at) AS after, map('at', at) AS images "
        "FROM VALUES (timestamp'2020-01-01 12:00:00') AS t(at)"
    )
    frame, zoned = SparkFrame(rows), pa.timestamp("us", "+09:00")
    assert frame.rows is not None
    large = pa.Table.from_batches(frame.dataset(SparkEngine(in_tokyo), rows.columns).batches())
    assert [frame.rows.schema.types[0], large.schema.types[0]] == [zoned, zoned]
    assert large.cast(frame.rows.schema) == frame.rows
    with pytest.raises(ProducerError, match="does not retain the time zone GMT\\+9 of the time stamps"):
        LargeFrame(rows).write(tmp_path / "rows")
    path = tmp_path / "rows.parquet"
    pq.write_table(frame.rows, path)
    location = LargeFile(str(path), "s.yaml", 1)
    in_spark = pa.Table.from_batches(location.dataset(SparkEngine(in_tokyo), ["at", "after"]).batches())
    assert in_spark.schema.types[0] == pa.timestamp("us", "UTC")
    assert in_spark.column("at").cast(zoned).equals(frame.rows.column("at"))


class LargeFile(ParquetFrame):
    """A file that only Spark reads, as one in a bucket."""

    is_local = False


class LargeFrame(SparkFrame):
    """A DataFrame of Spark with too many rows for this process."""

    rows = None
