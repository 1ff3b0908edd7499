"""The same jobs on many events, generated in the JVM: one swap is found, and nothing else."""

from __future__ import annotations

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from tests.verifier.test_distributed import as_they_are
from tests.verifier.topic import FIELDS, HANDLE, PLAIN, Topic, ts
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.verifier.check import check_messages
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions

KEYS = 5_000
PARTITIONS = 4
TOPICS = ("sound", "unsound")
OPTIONS = VerifyOptions(
    rules=[ExpectedDispatch(schema="bank", table="accounts", rule="index-value")],
    partitions=dict.fromkeys(TOPICS, PARTITIONS),
)


def text(number: Column) -> Column:
    return number.cast("string").cast("binary")


def commit_ts() -> Column:
    return sf.lit(ts(1)) + sf.col("id") * (1 << 18)


def updates(spark: SparkSession, rows: int) -> DataFrame:
    """Row ``id`` is the next balance of one of a few thousand accounts."""
    key = sf.col("id") % KEYS
    hashed = sf.crc32(sf.lit(b"bankaccounts")).bitwiseXOR(sf.crc32(sf.concat(sf.lit(b"id"), text(key))))

    def image(balance: Column) -> Column:
        return sf.create_map(sf.lit("id"), text(key), sf.lit("balance"), text(balance))

    columns = [
        sf.struct(sf.lit(name).alias("name"), sf.lit("bigint").alias("type"), sf.lit(flag).alias("flag"))
        for name, flag in (("id", HANDLE), ("balance", PLAIN))
    ]
    return shaped(
        spark.range(rows),
        partition=sf.pmod(hashed, sf.lit(PARTITIONS)),
        kind=sf.lit("row"),
        schema=sf.lit("bank"),
        table=sf.lit("accounts"),
        op=sf.lit("update"),
        columns=sf.array(*columns),
        before=image(sf.col("id") - KEYS),
        after=image(sf.col("id")),
    )


def resolved(spark: SparkSession, rows: int) -> DataFrame:
    """A resolved event in every partition, right after each thousandth row."""
    moments = spark.range(999, rows, 1000)
    everywhere = sf.explode(sf.array(*(sf.lit(partition) for partition in range(PARTITIONS))))
    in_partitions = moments.withColumn("partition", everywhere)
    return shaped(
        in_partitions, partition=sf.col("partition"), kind=sf.lit("resolved"), offset=sf.col("id") * 2 + 1
    )


def shaped(rows: DataFrame, **fields: Column) -> DataFrame:
    """Rows at even offsets, one millisecond apart; resolved events between them."""
    defaults = {"offset": sf.col("id") * 2, "index": sf.lit(0), "commit_ts": commit_ts()}
    known = defaults | fields
    return rows.select(
        *(known.get(name, sf.lit(None)).cast(kind).alias(name) for name, kind in FIELDS.items())
    )


def whole(spark: SparkSession, rows: int) -> DataFrame:
    topic = Topic(partitions=PARTITIONS)
    create = topic.ddl(ts(0), "CREATE TABLE bank.accounts (id INT PRIMARY KEY, balance INT)").frame(spark)
    first = create.withColumn("offset", sf.lit(-1).cast("long"))
    return first.union(updates(spark, rows)).union(resolved(spark, rows))


def swapped(events: DataFrame, early: int, late: int) -> DataFrame:
    """The stream with the offsets of two rows swapped."""
    offset = sf.when(sf.col("kind") == "row", sf.col("offset"))
    exchanged = sf.when(offset == early, late).when(offset == late, early).otherwise(sf.col("offset"))
    return events.withColumn("offset", exchanged.cast("long"))


@pytest.mark.slow  # fast: test_distributed.py
def test_one_swap_among_many_events_is_found_and_nothing_else(spark: SparkSession) -> None:
    rows = 200_000
    early, late = rows, rows + 2 * KEYS
    sound, unsound = (whole(spark, rows).withColumn("topic", sf.lit(name)) for name in TOPICS)
    in_order = ("topic", "partition", "offset", "index")
    events = sound.union(swapped(unsound, early, late)).repartitionByRange(7, *in_order)
    decoded = events.sortWithinPartitions(*in_order).persist()
    messages = Messages(SparkEngine(spark).of_frame(decoded, DECODED))
    findings = check_messages(SparkEngine(spark), messages, as_they_are, OPTIONS).findings
    decoded.unpersist()
    by_id = {finding.id: finding for finding in findings if finding.severity != "not checked"}
    assert by_id.keys() == {"INV-ORDER-TABLE", "INV-ORDER-KEY", "INV-RESOLVED"}
    for finding in by_id.values():
        assert {event.topic for example in finding.examples for event in example.events} == {"unsound"}

    broken = by_id["INV-ORDER-KEY"]
    assert (broken.severity, broken.count) == ("error", 1)
    newer, older = broken.examples[0].events
    assert (newer.partition, newer.offset, newer.text) == (older.partition, early, "id=0")
    assert (older.offset, older.text) == (late, "id=0")
    assert by_id["INV-RESOLVED"].count == 1
