"""Two sets of rows against each other: chunk by chunk, and row by row where chunks differ.

Rows fall into buckets by their key. Buckets of equal count and checksum are equal; only the rows of the
others are paired. The same plan serves ten rows and a billion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as sf

from ticdc_producer.model.event import Value

BUCKETS = 4096
_PLACE = ["number", "bucket"]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A row that differs: as it is expected and as it is there; None on the side that has none."""

    number: int
    key: Sequence[Value]
    expected: Sequence[Value] | None
    actual: Sequence[Value] | None


@dataclass(kw_only=True)
class Tally:
    """What was found in one table, in rows."""

    expected: int = 0
    actual: int = 0
    missing: int = 0
    extra: int = 0
    different: int = 0
    examples: list[Pair] = field(default_factory=list)


def compare_rows(
    expected: DataFrame, actual: DataFrame, tables: Sequence[int], shown: int
) -> dict[int, Tally]:
    """Compare rows of shape ``ROWS``.

    :param tables: the numbers of the tables.
    :param shown: examples per table.
    """
    both = _signed(expected, 1).unionAll(_signed(actual, -1))
    tallies = {number: Tally() for number in tables}
    different = _chunks(both, tallies)
    if different:
        chosen = expected.sparkSession.createDataFrame(different, "number int, bucket int")
        _pairs(both.join(sf.broadcast(chosen), _PLACE, "left_semi"), tallies, shown)
    return tallies


def _signed(rows: DataFrame, sign: int) -> DataFrame:
    bucket = sf.pmod(sf.xxhash64("key"), sf.lit(BUCKETS)).cast("int")
    return rows.select("*", bucket.alias("bucket"), sf.lit(sign).alias("sign"))


def _chunks(both: DataFrame, tallies: dict[int, Tally]) -> list[tuple[int, int]]:
    """Count rows, and find the buckets whose sides differ in count or checksum."""
    checksum = sf.xxhash64("key", "row").cast("decimal(20,0)") * sf.col("sign")
    sums = both.groupBy(*_PLACE).agg(
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
    for line in by_table.collect():
        tally = tallies[line["number"]]
        tally.expected, tally.actual = line["expected"], line["actual"]
        different += [(line["number"], bucket) for bucket in line["buckets"]]
    return different


def _pairs(both: DataFrame, tallies: dict[int, Tally], shown: int) -> None:
    """Take equal rows away, and pair what is left by key."""
    left = both.groupBy("number", "key", "row").agg(sf.sum("sign").alias("copies")).where("copies <> 0")
    single = left.withColumn("copy", sf.explode(sf.sequence(sf.lit(1), sf.abs("copies"))))
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
    for line in ranked.where(sf.col("rank") <= shown).orderBy("number", "kind", "rank").collect():
        _note(tallies[line["number"]], line)


def _numbers_in_order() -> Column:
    """Shorter values first, so that 9 stands before 10."""
    return sf.transform("key", lambda value: sf.struct(sf.length(value), value))


def _note(tally: Tally, line: Row) -> None:
    setattr(tally, line["kind"], line["rows"])
    tally.examples.append(
        Pair(number=line["number"], key=line["key"], expected=line["expected"], actual=line["actual"])
    )
