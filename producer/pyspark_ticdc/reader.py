"""Reads messages, events or changes in a batch query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from pyspark_ticdc.options import READS, GivenOptions, given_options
from pyspark_ticdc.origin import origin
from ticdc_producer.engine.local import LocalDataset, Source
from ticdc_producer.errors import ArgumentError
from ticdc_producer.hints import nearest
from ticdc_producer.model.shapes import DECODED, MESSAGES, BatchFunction

_SHAPES = {"messages": MESSAGES, "events": DECODED}


def schema(given: Mapping[str, str]) -> StructType:
    """Return the columns of the rows that options name.

    :raises ArgumentError: for invalid options.
    """
    options = given_options(given, *READS)
    columns: StructType = from_arrow_schema(_SHAPES[str(options.values["rows"])])
    return columns


class TaskPartition(InputPartition):
    """What one task reads.

    :param source: returns the batches.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def __repr__(self) -> str:
        """Return a constant: the source may hold secrets."""
        return "TaskPartition()"


class TicdcReader(DataSourceReader):
    """Reads the rows of a batch query.

    :param given: the options.
    :param columns: the columns that Spark expects, by name.
    :raises ProducerError: for invalid options or columns, and a source that cannot be read.
    """

    def __init__(self, given: MutableMapping[str, str], columns: StructType) -> None:
        rows = _rows(given_options(given, "read"))
        self._sources = rows.map(selected(columns, rows.schema), rows.schema).sources

    def __repr__(self) -> str:
        """Return a constant: options may hold secrets."""
        return "TicdcReader()"

    def partitions(self) -> list[InputPartition]:
        """Return a partition per range of a topic partition."""
        return [TaskPartition(source) for source in self._sources]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of a partition. Spark passes an empty one of its own if there are none."""
        return partition.source() if isinstance(partition, TaskPartition) else iter(())


def _rows(options: GivenOptions) -> LocalDataset:
    read = origin(options)
    if options.values["rows"] == "messages":
        return read.messages
    return read.messages.map(read.decoder(), DECODED)


def selected(columns: StructType, available: pa.Schema) -> BatchFunction:
    """Return the function that selects columns, in Spark's Arrow types.

    :param columns: by name, in their order.
    :raises ArgumentError: for a column that is not available.
    """
    for name in columns.names:
        if name not in available.names:
            what = f"the rows have no column {name!r}"
            raise ArgumentError(what, argument="schema", hint=nearest(name, available.names))
    schema = to_arrow_schema(columns, timezone="UTC")

    def select(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.select(schema.names).cast(schema)

    return select
