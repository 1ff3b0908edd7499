"""DataFrames of messages (shape ``MESSAGES``), with the table schemas that other parts of a topic have.

A Spark task decodes a part of a partition, so it gets the table schemas of all parts as an option.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model import shapes
from ticdc_producer.model.dataframes import MESSAGES
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.kafka.read import OffsetRange, read, read_at, slices

if TYPE_CHECKING:
    from ticdc_producer.targets.golden.read import MessageLine

_ROWS, _BYTES = 8192, 16 << 20
"""A batch of messages ends with the message that reaches one of them."""
_PLAIN = ("topic", "partition", "offset", "key", "value")


def kafka_messages(spark: SparkSession, brokers: Brokers, ranges: Sequence[OffsetRange]) -> DataFrame:
    """The messages of the offset ranges (shape ``MESSAGES``).

    A task reads a part of one range, in the order of the offsets.
    """
    return mapped_kafka_messages(spark, brokers, ranges, lambda batches: batches, MESSAGES)


def mapped_kafka_messages(
    spark: SparkSession,
    brokers: Brokers,
    ranges: Sequence[OffsetRange],
    function: BatchFunction,
    schema: StructType | str,
) -> DataFrame:
    """The result of a function on the messages that each task of ``kafka_messages`` reads.

    :param schema: that of the result.
    """
    parts = slices(ranges, spark.sparkContext.defaultParallelism)
    rows = [(n, part.topic, part.partition, part.start, part.end) for n, part in enumerate(parts)]
    tasks = spark.createDataFrame(rows, "id int, topic string, partition int, start long, stop long")
    spread = tasks.repartitionById(max(1, len(parts)), "id")

    def fetch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for task in (task for batch in batches for task in batch.to_pylist()):
            part = OffsetRange(
                topic=task["topic"], partition=task["partition"], start=task["start"], end=task["stop"]
            )
            yield from record_batches(read(brokers, part))

    return spread.mapInArrow(lambda batches: function(fetch(batches)), schema)


def mapped_kafka_messages_at(
    spark: SparkSession,
    brokers: Brokers,
    offsets: Sequence[tuple[str, int, int]],
    function: BatchFunction,
    schema: StructType | str,
) -> DataFrame:
    """The result of a function on a few messages of topics, which one task reads.

    :param offsets: their topics, partitions and offsets, in ascending order.
    :param schema: that of the result.
    """

    def fetch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            for (topic, partition), same in groupby(offsets, key=itemgetter(0, 1)):
                yield from record_batches(read_at(brokers, topic, partition, [one[2] for one in same]))

    return spark.range(0, 1, 1, 1).mapInArrow(lambda batches: function(fetch(batches)), schema)


def messages_dataframe(spark: SparkSession, records: Iterable[Record]) -> DataFrame:
    """A DataFrame (shape ``MESSAGES``) of records on the driver."""
    table = pa.Table.from_batches(list(record_batches(records)), schema=shapes.MESSAGES)
    if not table.num_rows:  # pyspark cannot create it from an empty Arrow table
        return spark.createDataFrame([], MESSAGES)
    return spark.createDataFrame(table, MESSAGES)


def record_batches(records: Iterable[Record | MessageLine]) -> Iterator[pa.RecordBatch]:
    """Convert records, or the lines of a golden folder, to Arrow batches of bounded size.

    :return: shape ``MESSAGES``, in the same order; ``timestamp`` is 0 if it is unknown, ``events`` is NULL.
    """
    for chunk in _chunks(records):
        columns: dict[str, list[Any]] = {name: [*map(attrgetter(name), chunk)] for name in _PLAIN}
        columns["timestamp"] = [record.timestamp or 0 for record in chunk]
        columns["type"] = [record.type or None for record in chunk]
        columns["events"] = [None] * len(chunk)
        yield pa.RecordBatch.from_arrays(
            [
                _headers([record.headers or () for record in chunk])
                if name == "headers"
                else pa.array(columns[name], shapes.MESSAGES.field(name).type)
                for name in shapes.MESSAGES.names
            ],
            schema=shapes.MESSAGES,
        )


def _chunks(records: Iterable[Record | MessageLine]) -> Iterator[list[Record | MessageLine]]:
    chunk: list[Record | MessageLine] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += len(record.key or b"") + len(record.value or b"")
        if len(chunk) == _ROWS or size >= _BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _headers(of_messages: Sequence[Sequence[tuple[str, bytes]]]) -> pa.ListArray:
    pairs = [pair for headers in of_messages for pair in headers]
    fields = list(shapes.HEADERS.value_type)
    children = [pa.array([pair[at] for pair in pairs], field.type) for at, field in enumerate(fields)]
    starts = [0, *accumulate(map(len, of_messages))]
    return pa.ListArray.from_arrays(
        pa.array(starts, pa.int32()), pa.StructArray.from_arrays(children, fields=fields), shapes.HEADERS
    )


VersionReader: TypeAlias = Callable[[bytes], frozenset[Hashable]]
"""Returns the table versions that a message value describes."""

_VALUE = pa.schema([("value", pa.binary())])


def with_table_schemas(messages: DataFrame | pa.Table, protocol: str, options: Options) -> Options:
    """Add all table schemas in the messages to the options of a decoder. They are few and are collected on
    the driver.

    Only protocols with separate schema messages cost a pass over the messages.

    :param messages: with the column ``value`` of ``MESSAGES``, in any order.
    """
    versions_of = registry.protocol_spec(protocol).described_versions
    if versions_of is None:
        return options

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        values = (value for batch in batches for value in batch.column("value").to_pylist() if value)
        for value in _first_of_each(values, versions_of):
            yield pa.record_batch([pa.array([value], pa.binary())], schema=_VALUE)

    if isinstance(messages, pa.Table):
        rows = pa.Table.from_batches(find(iter(messages.to_batches())), _VALUE)
    else:
        rows = messages.select("value").mapInArrow(find, "value binary").toArrow()
    found = _first_of_each(rows.column("value").to_pylist(), versions_of)
    return {**options, "table_descriptions": tuple(found)}


def _first_of_each(values: Iterable[bytes], versions_of: VersionReader) -> Iterator[bytes]:
    """The values that describe a version that no earlier value describes."""
    seen: set[Hashable] = set()
    for value in values:
        versions = versions_of(value)
        if not versions <= seen:
            seen |= versions
            yield value
