"""Compares the rows of both sides by buckets, and row by row within buckets that differ.

Rows are assigned to buckets by their key. Buckets with equal counts and checksums are equal; only the rows
of the others are paired. The same plan serves ten rows and a billion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as sf

from ticdc_producer.model.event import Value
from ticdc_producer.verifier.consumer_state.plan import Comparable

COMPARABLE_ROWS = "number int, key array<binary>, row array<binary>"
"""``number`` of the table, values of the key, values of the other compared columns."""
COMPARABLE_ARROW = pa.schema(
    [("number", pa.int32()), ("key", pa.list_(pa.binary())), ("row", pa.list_(pa.binary()))]
)
BATCH_ROWS = 5_000


def row_batches(number: int, rows: Iterable[Comparable]) -> Iterator[pa.RecordBatch]:
    """Yield rows as Arrow batches of the shape ``COMPARABLE_ROWS``."""
    rows = iter(rows)
    while chunk := list(islice(rows, BATCH_ROWS)):
        keys, others = zip(*chunk, strict=True)
        columns = [pa.array([number] * len(chunk), pa.int32()), list(keys), list(others)]
        yield pa.record_batch(columns, schema=COMPARABLE_ARROW)


BUCKETS = 4096
_BUCKET = ["number", "bucket"]


@dataclass(frozen=True, kw_only=True)
class RowPair:
    """A row that differs: its expected and actual values; None for a side without the row."""

    number: int
    key: Sequence[Value]
    expected: Sequence[Value] | None
    actual: Sequence[Value] | None


@dataclass(kw_only=True)
class TableCounts:
    """Row counts and examples of differences of one table."""

    expected: int = 0
    actual: int = 0
    missing: int = 0
    extra: int = 0
    different: int = 0
    examples: list[RowPair] = field(default_factory=list)


def compare_rows(
    expected: DataFrame, actual: DataFrame, tables: Sequence[int], max_examples: int
) -> dict[int, TableCounts]:
    """Compare rows of shape ``COMPARABLE_ROWS``, in any order.

    :param tables: the numbers of the tables.
    :returns: counts by number of the table.
    :param max_examples: maximum number of examples per table and kind of difference.
    """
    both = _signed(expected, 1).unionAll(_signed(actual, -1))
    counts = {number: TableCounts() for number in tables}
    different = _chunks(both, counts)
    if different:
        buckets = expected.sparkSession.createDataFrame(different, "number int, bucket int")
        _pairs(both.join(sf.broadcast(buckets), _BUCKET, "left_semi"), counts, max_examples)
    return counts


def _signed(rows: DataFrame, sign: int) -> DataFrame:
    bucket = sf.pmod(sf.xxhash64("key"), sf.lit(BUCKETS)).cast("int")
    return rows.select("*", bucket.alias("bucket"), sf.lit(sign).alias("sign"))


def _chunks(both: DataFrame, counts: dict[int, TableCounts]) -> list[tuple[int, int]]:
    """Count rows, and find the buckets whose sides differ in count or checksum."""
    checksum = sf.xxhash64("key", "row").cast("decimal(20,0)") * sf.col("sign")
    sums = both.groupBy(*_BUCKET).agg(
        sf.count_if(sf.col("sign") > 0).alias("expected"),
        sf.count_if(sf.col("sign") < 0).alias("actual"),
        sf.sum(checksum).alias("checksum"),
    )
    unequal = (sf.col("expected") != sf.col("actual")) | (sf.col("checksum") != 0)
    by_table = sums.groupBy("number").agg(
        sf.sum("expected").alias("expected"),
        sf.sum("actual").alias("actual"),
        sf.collect_list(sf.when(unequal, sf.col("bucket"))).alias("buckets"),
    )
    different = []
    for row in by_table.collect():
        count = counts[row["number"]]
        count.expected, count.actual = row["expected"], row["actual"]
        different += [(row["number"], bucket) for bucket in row["buckets"]]
    return different


def _pairs(both: DataFrame, counts: dict[int, TableCounts], max_examples: int) -> None:
    """Remove equal rows, and pair the remaining rows by key."""
    unequal = both.groupBy("number", "key", "row").agg(sf.sum("sign").alias("copies")).where("copies <> 0")
    single = unequal.withColumn("copy", sf.explode(sf.sequence(sf.lit(1), sf.abs("copies"))))
    same_side = Window.partitionBy("number", "key", sf.signum("copies")).orderBy("row", "copy")
    paired = single.withColumn("turn", sf.row_number().over(same_side)).groupBy("number", "key", "turn")
    rows = paired.agg(
        sf.max(sf.when(sf.col("copies") > 0, sf.col("row"))).alias("expected"),
        sf.max(sf.when(sf.col("copies") < 0, sf.col("row"))).alias("actual"),
    )
    kind = sf.when(sf.isnull("actual"), "missing").when(sf.isnull("expected"), "extra").otherwise("different")
    of_kind = Window.partitionBy("number", "kind")
    ranked = rows.withColumn("kind", kind).select(
        "*",
        sf.count("*").over(of_kind).alias("rows"),
        sf.row_number().over(of_kind.orderBy(_numbers_in_order(), "turn")).alias("rank"),
    )
    for row in ranked.where(sf.col("rank") <= max_examples).orderBy("number", "kind", "rank").collect():
        _add(counts[row["number"]], row)


def _numbers_in_order() -> Column:
    """Return the sort key by which shorter values come first, so that 9 comes before 10."""
    return sf.transform("key", lambda value: sf.struct(sf.length(value), value))


def _add(count: TableCounts, row: Row) -> None:
    setattr(count, row["kind"], row["rows"])
    count.examples.append(
        RowPair(number=row["number"], key=row["key"], expected=row["expected"], actual=row["actual"])
    )
