"""Collects schema messages, which may be in other parts of a topic than the rows that need them.

A Spark task decodes a part of a partition, so it gets the table schemas of all parts as an option.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.protocols import registry
from ticdc_producer.protocols.spec import Options

VersionReader: TypeAlias = Callable[[bytes], frozenset[Hashable]]
"""Returns the table versions that a message value describes."""

_VALUE = pa.schema([("value", pa.binary())])


def with_table_schemas(messages: DataFrame | pa.Table, protocol: str, options: Options) -> Options:
    """Add all table schemas in the messages to the options of a decoder. They are few and are collected on
    the driver.

    Only protocols with separate schema messages cost a pass over the messages.
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
