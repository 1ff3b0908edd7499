"""Reads in a batch query: the messages that the options name, how they decode, and their tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pyspark_ticdc.offsets import Partitions, bounds, ranges_of
from pyspark_ticdc.options import BOOTSTRAP, READS, GivenOptions, given_options
from pyspark_ticdc.rows import columns_of, row_function
from pyspark_ticdc.rules import ROWS_OF_BATCH, SOURCE, SOURCES, check_combinations
from ticdc_producer.config import Changefeed, SinkKind, changefeed_content
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine.local import Source, local
from ticdc_producer.errors import ArgumentError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.local_path import local_path
from ticdc_producer.rows.origin import Origin, golden_folder, messages_of_topics, storage_folder
from ticdc_producer.rows.state import one_part
from ticdc_producer.runs.decode import folder_source, names_protocol
from ticdc_producer.runs.targets.existing_topics import brokers_of, partitions_of
from ticdc_producer.spark.storage import arrow_schema
from ticdc_producer.spark.worker_daemon import rare_collections
from ticdc_producer.targets.decode import protocol_of
from ticdc_producer.targets.kafka.read import OffsetRange, read, slices
from ticdc_producer.targets.kafka.topics import Topics


def origin(options: GivenOptions) -> Origin:
    """Return what the options of a batch query name.

    :raises ProducerError: for options that name nothing or too much, or a source that cannot be read.
    """
    if source_of(options) == "path":
        return _folder(local_path(str(options.values["path"])), options)
    changefeed, detect = _changefeed(options)
    if changefeed.sink_uri.kind is SinkKind.STORAGE:
        return storage_folder(changefeed)
    topics = TopicOptions(options, changefeed, detect)
    return topics.origin(ranges_of(topics.cluster, topics.names, options))


def source_of(options: GivenOptions) -> str:
    """Return the option that names the source.

    :raises ArgumentError: if none or several do, and for brokers without a topic.
    """
    check_combinations(SOURCE, options)
    return next(name for name in SOURCES if options.values.get(name) is not None)


def topics_of(options: GivenOptions) -> TopicOptions:
    """Return the topics that options name.

    :raises ProducerError: for options that name no topics.
    """
    source_of(options)
    return TopicOptions(options, *_changefeed(options))


def _changefeed(options: GivenOptions) -> tuple[Changefeed, bool]:
    """Return the changefeed of a sink URI, and whether the protocol is to be detected."""
    config = None if options.values["config"] is None else changefeed_content(str(options.values["config"]))
    given = options.values.get("sink-uri")
    uri = _sink_uri(options) if given is None else str(given)
    changefeed = changefeed_of(uri, config, kafka_properties=options.kafka_properties)
    return changefeed, not names_protocol(uri, config)


def _folder(folder: Path, options: GivenOptions) -> Origin:
    source = folder_source(folder, options.sink_parameters.get("protocol"))
    if "folder" in source:
        for name in options.sink_parameters:
            what = f"the option {name!r} has no effect on a golden folder"
            raise ArgumentError(what, argument=name, hint="leave it out: the folder has its own changefeed")
        return golden_folder(Path(source["folder"]))
    return storage_folder(changefeed_of(source["sink_uri"], None))


def _sink_uri(options: GivenOptions) -> str:
    """Return the sink URI that the options for Kafka are equal to."""
    topic = quote(str(options.values["subscribe"]).partition(",")[0].strip())
    return options.with_parameters(f"kafka://{options.values[BOOTSTRAP]}/{topic}")


@dataclass(frozen=True)
class TopicOptions:
    """The topics that options name, and how their messages decode.

    :param detect: whether the protocol follows from the first messages.
    """

    options: GivenOptions
    changefeed: Changefeed
    detect: bool

    @property
    def names(self) -> Sequence[str]:
        """The names of the topics."""
        subscribed = self.options.values["subscribe"]
        names = str(subscribed).split(",") if subscribed else [self.changefeed.sink_uri.topic]
        return [name.strip() for name in names]

    @property
    def cluster(self) -> Topics:
        """The cluster of the topics."""
        return Topics(brokers_of(self.changefeed))

    def initial(self) -> Partitions:
        """Return the offsets at which a stream begins."""
        return bounds(self.cluster, self._partitions, self.options, "starting", self.starts(), self.ends())

    def starts(self) -> Partitions:
        """Return the offset of the first message of each partition."""
        return self.cluster.starts(self._partitions)

    def ends(self) -> Partitions:
        """Return the offset after the last message of each partition."""
        return self.cluster.ends(self._partitions)

    def ids(self) -> Mapping[str, str]:
        """Return Kafka's ids of the topics that have one."""
        return self.cluster.ids(self._partitions)

    def available(self, _starts: Partitions, /) -> Partitions:
        """Return how far a stream can read now; only that of a scenario depends on its start."""
        return self.ends()

    @property
    def _partitions(self) -> dict[str, int]:
        return partitions_of(self.cluster, self.names)

    def origin(self, ranges: Sequence[OffsetRange], descriptions: Sequence[bytes] | None = None) -> Origin:
        """Return the messages in some ranges.

        :param descriptions: the messages that describe tables, of protocols that have such messages; None:
            those in the ranges.
        """
        brokers = brokers_of(self.changefeed)
        changefeed = _detected(self.changefeed, brokers, ranges) if self.detect else self.changefeed
        # Whether an event is a duplicate depends on those before it.
        whole = self.options.values["duplicates"] == "drop"
        parts = ranges if whole else slices(ranges)
        claims = self.options.values["claim-check-storage-uri"]
        described = descriptions if changefeed.spec.described_versions is not None else None
        messages = messages_of_topics(changefeed, brokers, parts, descriptions=described)
        return messages if claims is None else replace(messages, claims=str(claims))


def _detected(changefeed: Changefeed, brokers: Brokers, ranges: Sequence[OffsetRange]) -> Changefeed:
    """Return the changefeed with the protocol of the first messages; unchanged without messages.

    :raises RecognitionError: if it cannot be detected.
    """
    protocol, _ = protocol_of(chain.from_iterable(read(brokers, part) for part in ranges))
    return changefeed if protocol is None else changefeed.model_copy(update={"protocol": protocol})


def schema(given: Mapping[str, str]) -> StructType:
    """Return the columns of the rows that options name.

    :raises ProducerError: for invalid options, and a table of which no message has a row.
    """
    return columns_of(given_options(given, *READS), _given_origin)


class TaskPartition(InputPartition):
    """The part of a partition that one task reads.

    :param source: returns the batches.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def __repr__(self) -> str:
        """Return a constant: the source may hold secrets."""
        return "TaskPartition()"


class TicdcReader(DataSourceReader):
    """A reader of the rows of a batch query.

    :param given: the options.
    :param columns: the columns that Spark expects, by name.
    :raises ProducerError: for invalid options or columns, and a source that cannot be read.
    """

    def __init__(self, given: Mapping[str, str], columns: StructType) -> None:
        options = given_options(given, "read")
        check_combinations(ROWS_OF_BATCH, options)
        read = _given_origin(options)
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
        """Read the rows of a partition."""
        return rows_of(partition)


def rows_of(partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition. Spark passes an empty one of its own if there are none."""
    if isinstance(partition, TaskPartition):
        with rare_collections():
            yield from partition.source()


def _given_origin(options: GivenOptions) -> Origin:
    if source_of(options) != "scenario":
        return origin(options)
    from pyspark_ticdc.scenario_messages import ScenarioTopics  # simulations import much

    return ScenarioTopics.of(options).whole()
