"""Reads in a batch query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pyspark_ticdc.options import READS, GivenOptions, given_options
from pyspark_ticdc.origin import origin, source_of
from pyspark_ticdc.rows import columns_of, row_function
from ticdc_producer.engine.local import Source, local
from ticdc_producer.rows.origin import Origin
from ticdc_producer.rows.state import one_part
from ticdc_producer.spark.arrow_schema import arrow_schema


def schema(given: Mapping[str, str]) -> StructType:
    """Return the columns of the rows that options name.

    :raises ProducerError: for invalid options, and a table of which no message has a row.
    """
    return columns_of(given_options(given, *READS), _origin)


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

    def __init__(self, given: Mapping[str, str], columns: StructType) -> None:
        options = given_options(given, "read")
        read = _origin(options)
        shape = arrow_schema(columns)
        messages = one_part(read.messages) if options.values["rows"] == "state" else read.messages
        self._sources = local(messages.map(row_function(options, read, columns), shape)).sources

    def __repr__(self) -> str:
        """Return a constant: options may hold secrets."""
        return "TicdcReader()"

    def partitions(self) -> list[InputPartition]:
        """Return a partition per range of a topic partition."""
        return [TaskPartition(source) for source in self._sources]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of a partition. Spark passes an empty one of its own if there are none."""
        return partition.source() if isinstance(partition, TaskPartition) else iter(())


def _origin(options: GivenOptions) -> Origin:
    if source_of(options) != "scenario":
        return origin(options)
    from pyspark_ticdc.scenario_messages import ScenarioTopics  # simulations import much

    return ScenarioTopics.of(options).whole()
