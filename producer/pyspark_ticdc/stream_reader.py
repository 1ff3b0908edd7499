"""Reads a growing topic in a streaming query.

An offset of the checkpoint is ``{"TOPIC": {"PARTITION": {"offset": n, "resolvedTs": ts, "topicId": id}}}``:
the next message, with ``duplicates=drop`` the highest resolved-ts before it, and Kafka's id of the topic. A
topic that was deleted and created again has another id. Older checkpoints and brokers have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from pyspark_ticdc.offsets import Partitions, ResolvedSearch, limited
from pyspark_ticdc.options import given_options
from pyspark_ticdc.reader import TaskPartition, rows_of, source_of, topics_of
from pyspark_ticdc.rows import RANGES, check_rows, row_function, selected
from pyspark_ticdc.rules import ROWS_OF_STREAM, check_combinations
from pyspark_ticdc.scenario_messages import ScenarioTopics
from ticdc_producer.config import Changefeed
from ticdc_producer.engine.local import local
from ticdc_producer.errors import TopicError
from ticdc_producer.rows.origin import TABLE_DESCRIPTIONS, Origin
from ticdc_producer.runs.targets.existing_topics import offset_ranges
from ticdc_producer.spark.read_limit import ReadLimit, ReadMaxRows, TriggerAvailableNow, check_limit
from ticdc_producer.spark.storage import arrow_schema
from ticdc_producer.targets.kafka.read import OffsetRange
from ticdc_producer.targets.record_batches import with_table_schemas

StreamOffset: TypeAlias = dict[str, dict[str, dict[str, int | str]]]


class StreamSource(Protocol):
    """Topics, or a scenario in their place."""

    @property
    def changefeed(self) -> Changefeed:
        """The changefeed of the messages."""

    def initial(self) -> Partitions:
        """Return the offsets at which a stream begins."""

    def starts(self) -> Partitions:
        """Return the offset of the first message of each partition."""

    def ends(self) -> Partitions:
        """Return the offset after the last message of each partition."""

    def ids(self) -> Mapping[str, str]:
        """Return Kafka's ids of the topics that have one."""

    def available(self, starts: Partitions, /) -> Partitions:
        """Return how far a stream can read now.

        :param starts: the offsets of the first micro-batch that is still to come.
        """

    def origin(self, ranges: Sequence[OffsetRange], descriptions: Sequence[bytes] | None = None) -> Origin:
        """Return the messages in some ranges."""


class TicdcStreamReader(DataSourceStreamReader, TriggerAvailableNow):
    """A reader of the rows of a streaming query on topics.

    Brokers are not asked before Spark needs an offset.

    :param given: the options.
    :param columns: the columns that Spark expects, by name.
    :raises ProducerError: for invalid options.
    """

    def __init__(self, given: Mapping[str, str], columns: StructType) -> None:
        self._options, self._columns = given_options(given, "readStream"), columns
        check_rows(self._options)
        check_combinations(ROWS_OF_STREAM, self._options)
        check_limit(self._options.values["maxOffsetsPerTrigger"])
        scenario = source_of(self._options) == "scenario"
        self._topics: StreamSource = (ScenarioTopics.of if scenario else topics_of)(self._options)
        self._drop = self._options.values["duplicates"] == "drop"
        self._target: Partitions | None = None
        self._described: dict[tuple[str, int], int] = {}
        self._descriptions: tuple[bytes, ...] = ()

    def __repr__(self) -> str:
        """Return a constant: options may hold secrets."""
        return "TicdcStreamReader()"

    def initialOffset(self) -> StreamOffset:
        """Return where a query without a checkpoint begins."""
        return _stream_offset(self._topics.initial(), {}, self._topics.ids())

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return the option ``maxOffsetsPerTrigger``."""
        most = self._options.values["maxOffsetsPerTrigger"]
        return super().getDefaultReadLimit() if most is None else ReadMaxRows(int(most))

    def prepareForTriggerAvailableNow(self) -> None:
        """Record the messages that a query with the trigger ``availableNow`` reads."""
        self._target = self._topics.ends()

    def reportLatestOffset(self) -> StreamOffset:
        """Return the ends of the topics, for the progress of the query."""
        return _stream_offset(self._topics.ends(), {}, self._topics.ids())

    def latestOffset(self, start: StreamOffset | None = None, limit: ReadLimit | None = None) -> StreamOffset:
        """Return where the next micro-batch ends.

        With ``duplicates=drop`` it ends after a resolved event in each partition, even if it is then larger
        than the limit.

        :param start: where it begins; None: Spark is older than 4.2, and does not say it.
        :raises TopicError: if messages after the start were removed.
        """
        start = start or self.initialOffset()
        (starts, resolved), ids = _positions(start), self._topics.ids()
        _check_ids(start, ids)
        available = dict(self._topics.available(starts) if self._target is None else self._target)
        starts = self._with_new_partitions(starts, available)
        ends = limited(starts, available, limit)
        if self._drop:
            search = ResolvedSearch(partial(self._origin_of, self._topics.starts()))
            ends, resolved = search.ends(starts, ends, available, resolved)
        return _stream_offset(ends, resolved, ids)

    def partitions(self, start: StreamOffset, end: StreamOffset) -> list[InputPartition]:
        """Return the parts of a micro-batch.

        :raises TopicError: if some of its messages were removed.
        """
        ids = self._topics.ids()
        for offset in (start, end):
            _check_ids(offset, ids)
        (starts, resolved), (ends, _) = _positions(start), _positions(end)
        starts, first = self._with_new_partitions(starts, ends), self._topics.starts()
        if self._options.values["rows"] == "ranges":
            return [TaskPartition(partial(_range_rows, _ranges(first, starts, ends), self._columns))]
        read = self._origin_of(first, starts, ends)
        rows = row_function(self._options, read, self._columns, partial(dict, resolved))
        shape = arrow_schema(self._columns)
        return [TaskPartition(source) for source in local(read.messages.map(rows, shape)).sources]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of a partition."""
        return rows_of(partition)

    def _with_new_partitions(self, starts: Partitions, ends: Partitions) -> dict[tuple[str, int], int]:
        """Add the partitions that the topics got since, which are read from their first message."""
        for position, offset in starts.items():
            if ends.get(position, -1) < offset:
                what = f"it has {ends.get(position, 0)} messages, and the checkpoint is at {offset}"
                raise TopicError(what, topic=f"{position[0]}/{position[1]}", hint=_WRITTEN_AGAIN)
        return {**dict.fromkeys(ends, 0), **starts}

    def _origin_of(self, first: Partitions, starts: Partitions, ends: Partitions) -> Origin:
        """Return the messages between two offsets of each partition.

        :param first: the offset of the first message that each partition still has.
        :raises TopicError: if some of the messages were removed.
        """
        return self._topics.origin(_ranges(first, starts, ends), self._table_descriptions(first, ends))

    def _table_descriptions(self, first: Partitions, ends: Partitions) -> tuple[bytes, ...]:
        """Return the descriptions of tables in all messages before some offsets; each is read once."""
        of_messages = self._options.values["rows"] == "messages"  # they are not decoded
        if of_messages or self._topics.changefeed.spec.described_versions is None:
            return ()
        starts = {
            position: max(offset, self._described.get(position, 0)) for position, offset in first.items()
        }
        ranges = [part for part in offset_ranges(starts, ends) if part.start < part.end]
        if ranges:
            read = self._topics.origin(ranges)
            options = with_table_schemas(read.messages, read.changefeed.protocol, read.options)
            added: Any = options[TABLE_DESCRIPTIONS]
            self._descriptions = (*self._descriptions, *added)
            self._described.update(ends)
        return self._descriptions


def _ranges(first: Partitions, starts: Partitions, ends: Partitions) -> list[OffsetRange]:
    """Return the ranges between two offsets of each partition that have messages.

    :param first: the offset of the first message that each partition still has.
    :raises TopicError: if some of the messages were removed.
    """
    ranges = [part for part in offset_ranges(dict(starts), ends) if part.start < part.end]
    for part in ranges:
        if part.start < first[part.topic, part.partition]:
            what = f"messages from offset {part.start} were removed before they were read"
            raise TopicError(what, topic=f"{part.topic}/{part.partition}", hint="raise retention.ms")
    return ranges


def _range_rows(ranges: Sequence[OffsetRange], columns: StructType) -> Iterator[pa.RecordBatch]:
    """Yield ranges as rows."""
    rows = pa.RecordBatch.from_pylist([asdict(part) for part in ranges], RANGES)
    return selected(columns, RANGES)(iter([rows]))


_WRITTEN_AGAIN = "the topic was deleted or written again; start with a new checkpoint"


def _check_ids(offset: StreamOffset, ids: Mapping[str, str]) -> None:
    """Check that the topics are those of an offset.

    :raises TopicError: for a topic that was created again.
    """
    for topic, partitions in offset.items():
        known = {position["topicId"] for position in partitions.values() if "topicId" in position}
        if topic in ids and known - {ids[topic]}:
            what = "its id is not the one of the checkpoint"
            raise TopicError(what, topic=topic, hint=_WRITTEN_AGAIN)


def _stream_offset(
    offsets: Partitions, resolved: Mapping[tuple[str, int], int], ids: Mapping[str, str]
) -> StreamOffset:
    """Return offsets as Spark stores them in the checkpoint."""
    by_topic: StreamOffset = {}
    for (topic, partition), offset in sorted(offsets.items()):
        position: dict[str, int | str] = {
            "offset": offset,
            "resolvedTs": resolved.get((topic, partition), 0),
        }
        if topic in ids:
            position["topicId"] = ids[topic]
        by_topic.setdefault(topic, {})[str(partition)] = position
    return by_topic


def _positions(offset: StreamOffset) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int], int]]:
    """Return offsets and resolved-ts by topic and partition."""
    positions = {
        (topic, int(partition)): position
        for topic, partitions in offset.items()
        for partition, position in partitions.items()
    }
    return (
        {name: int(position["offset"]) for name, position in positions.items()},
        {name: int(position["resolvedTs"]) for name, position in positions.items()},
    )
