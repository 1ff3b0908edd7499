"""Descriptions of tables that stand somewhere else in a topic than the rows they are needed for.

A Spark task decodes a part of a partition; what the protocol says of tables in other parts it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.protocols import registry
from ticdc_producer.protocols.registry import Options

Told: TypeAlias = Callable[[bytes], frozenset[Hashable]]
"""Message value to the table versions that it describes."""

_VALUE = pa.schema([("value", pa.binary())])


def with_descriptions(messages: DataFrame, protocol: str, options: Options) -> Options:
    """The options of a decoder, with every description that the messages hold; few, on the driver.

    Only protocols that describe tables apart from rows cost a pass over the messages.
    """
    told = registry.describes_tables(protocol)
    if told is None:
        return options

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        values = (value for batch in batches for value in batch.column("value").to_pylist() if value)
        for value in _first_of_each(values, told):
            yield pa.record_batch([pa.array([value], pa.binary())], schema=_VALUE)

    rows = messages.select("value").mapInArrow(find, "value binary").collect()
    found = _first_of_each((bytes(row["value"]) for row in rows), told)
    return {**options, "table_descriptions": tuple(found)}


def _first_of_each(values: Iterable[bytes], told: Told) -> Iterator[bytes]:
    """The values that describe a version which none before described."""
    seen: set[Hashable] = set()
    for value in values:
        versions = told(value)
        if not versions <= seen:
            seen |= versions
            yield value
