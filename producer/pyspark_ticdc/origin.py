"""What a batch query reads: messages, and how they decode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Self
from urllib.parse import quote, urlencode

from pyspark_ticdc.offsets import Partitions, bounds, partitions_of, ranges_of
from pyspark_ticdc.options import BOOTSTRAP, GivenOptions
from ticdc_producer.config import Changefeed, SinkKind, changefeed_content
from ticdc_producer.engine.local import LocalDataset, LocalEngine, local
from ticdc_producer.errors import ArgumentError, ChangefeedError, FolderError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.shapes import DECODED, MESSAGES, BatchFunction
from ticdc_producer.protocols.registry import fidelity
from ticdc_producer.protocols.spec import Options
from ticdc_producer.runs.decode import names_protocol
from ticdc_producer.runs.folder_source import folder_source
from ticdc_producer.runs.topics import brokers_of
from ticdc_producer.simulate.job import changefeed_of
from ticdc_producer.targets.decode import event_decoder, protocol_of
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.golden.parquet import message_groups, parquet_parts, read_group
from ticdc_producer.targets.golden.write import MESSAGE_FILES
from ticdc_producer.targets.kafka.read import OffsetRange, read, slices
from ticdc_producer.targets.kafka.topics import Topics
from ticdc_producer.targets.record_batches import record_batches, with_table_schemas
from ticdc_producer.targets.storage.read import list_storage, reading_options, storage_rows
from ticdc_producer.verifier.consumer_state.plan import expected_tables

SOURCES = (BOOTSTRAP, "sink-uri", "path", "scenario")
"""The options that name a source."""
TABLE_DESCRIPTIONS = "table_descriptions"
"""The option of a decoder that ``with_table_schemas`` adds."""
_TASKS = 32
"""Large topics are cut into about twice as many ranges, which tasks read at the same time."""


@dataclass(frozen=True)
class KnownTable:
    """A table whose definition is known.

    :param columns: the columns that are sent, in table order.
    :param key: names of the handle key's columns; empty without a handle key.
    """

    columns: tuple[ColumnInfo, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Messages that exist, in parts, and what is needed to decode them.

    :param messages: shape ``MESSAGES``; a part has a range of a topic partition, in the order of its offsets.
    :param options: of the decoder, without the table schemas that are in the messages.
    :param claims: location of the claim-check objects; empty if unknown.
    :param tables: the tables whose definition is known, by ``SCHEMA.TABLE``.
    """

    changefeed: Changefeed
    messages: LocalDataset
    options: Options
    claims: str = ""
    tables: Mapping[str, KnownTable] = field(default_factory=dict)

    @property
    def fidelity(self) -> Fidelity:
        """What the messages carry."""
        return fidelity(self.changefeed.protocol, self.options)

    @cached_property
    def decoder(self) -> BatchFunction:
        """The function from messages to events.

        In some protocols the schemas of tables are messages of their own; then all messages are read once.
        """
        options = self.options
        if TABLE_DESCRIPTIONS not in options:
            options = with_table_schemas(self.messages, self.changefeed.protocol, options)
        return event_decoder(self.changefeed.protocol, options, self.claims)

    @property
    def events(self) -> LocalDataset:
        """The events of the messages (shape ``DECODED``)."""
        return local(self.messages.map(self.decoder, DECODED))


def origin(options: GivenOptions) -> Origin:
    """Return what the options of a batch query name.

    :raises ProducerError: for options that name nothing or too much, or a source that cannot be read.
    """
    if source_of(options) == "path":
        return _folder(Path(str(options.values["path"])), options)
    changefeed, detect = _changefeed(options)
    if changefeed.sink_uri.kind is SinkKind.STORAGE:
        return _storage_folder(changefeed)
    topics = TopicOptions.of(options, changefeed, detect=detect)
    ranges = ranges_of(topics.cluster, topics.names, options)
    return topics.origin(ranges, options)


def source_of(options: GivenOptions) -> str:
    """Return the option that names the source.

    :raises ArgumentError: if none or several do.
    """
    names = [name for name in SOURCES if options.values.get(name) is not None]
    if len(names) != 1:
        what = f"give exactly one source: one of the options {', '.join(map(repr, SOURCES))}"
        raise ArgumentError(what, argument=names[-1] if names else BOOTSTRAP)
    return names[0]


def topics_of(options: GivenOptions) -> TopicOptions:
    """Return the topics that options name.

    :raises ProducerError: for options that name no topics.
    """
    source_of(options)
    changefeed, detect = _changefeed(options)
    return TopicOptions.of(options, changefeed, detect=detect)


def _changefeed(options: GivenOptions) -> tuple[Changefeed, bool]:
    """Return the changefeed of a sink URI, and whether the protocol is to be detected."""
    config = None if options.values["config"] is None else changefeed_content(str(options.values["config"]))
    given = options.values.get("sink-uri")
    uri = sink_uri(options) if given is None else str(given)
    changefeed = changefeed_of(uri, config, kafka_properties=options.kafka_properties)
    return changefeed, not names_protocol(uri, config)


def _folder(folder: Path, options: GivenOptions) -> Origin:
    source = folder_source(folder, options.sink_parameters.get("protocol"))
    if "folder" in source:
        return _golden_folder(Path(source["folder"]))
    return _storage_folder(changefeed_of(source["sink_uri"], None))


def sink_uri(options: GivenOptions) -> str:
    """Return the sink URI that the options for Kafka are equal to.

    :raises ArgumentError: if no topic is named.
    """
    topics = options.values.get("subscribe")
    if topics is None:
        what = f"option {BOOTSTRAP!r} requires the option 'subscribe'"
        raise ArgumentError(what, argument="subscribe", hint="it names the topics")
    topic = quote(str(topics).partition(",")[0].strip())
    # ${NAME} is substituted before percent-encoding is undone.
    return f"kafka://{options.values[BOOTSTRAP]}/{topic}?{urlencode(options.sink_parameters, safe='${}')}"


@dataclass(frozen=True)
class TopicOptions:
    """Topics, and how their messages decode.

    :param detect: whether the protocol follows from the first messages.
    """

    names: Sequence[str]
    changefeed: Changefeed
    detect: bool

    @classmethod
    def of(cls, options: GivenOptions, changefeed: Changefeed, *, detect: bool) -> Self:
        """Return the topics that options name."""
        subscribed = options.values["subscribe"]
        names = str(subscribed).split(",") if subscribed else [changefeed.sink_uri.topic]
        return cls([name.strip() for name in names], changefeed, detect)

    @property
    def cluster(self) -> Topics:
        """The cluster of the topics."""
        return Topics(brokers_of(self.changefeed))

    def initial(self, options: GivenOptions) -> Partitions:
        """Return the offsets at which a stream begins."""
        return bounds(self.cluster, self._partitions, options, "starting", self.starts(), self.ends())

    def starts(self) -> Partitions:
        """Return the offset of the first message of each partition."""
        return self.cluster.starts(self._partitions)

    def ends(self) -> Partitions:
        """Return the offset after the last message of each partition."""
        return self.cluster.ends(self._partitions)

    def available(self, starts: Partitions) -> Partitions:  # noqa: ARG002  # a scenario depends on it
        """Return how far a stream can read now."""
        return self.ends()

    @property
    def _partitions(self) -> dict[str, int]:
        return partitions_of(self.cluster, self.names)

    def origin(
        self,
        ranges: Sequence[OffsetRange],
        options: GivenOptions,
        descriptions: Sequence[bytes] | None = None,
    ) -> Origin:
        """Return the messages in some ranges.

        :param descriptions: the messages that describe tables, of protocols that have such messages; None:
            those in the ranges.
        """
        brokers = brokers_of(self.changefeed)
        changefeed = _detected(self.changefeed, brokers, ranges) if self.detect else self.changefeed
        # Whether an event is a duplicate depends on those before it.
        whole = options.values["duplicates"] == "drop"
        parts = ranges if whole else slices(ranges, _TASKS)
        messages = LocalEngine().of_parts(
            len(parts), lambda part: record_batches(read(brokers, parts[part])), MESSAGES
        )
        codec_options = changefeed.codec_options()
        if changefeed.spec.schemas is not None:
            codec_options["schema_of"] = _RegisteredSchemas(changefeed)
        if descriptions is not None and changefeed.spec.described_versions is not None:
            codec_options[TABLE_DESCRIPTIONS] = tuple(descriptions)
        claims = options.values["claim-check-storage-uri"]
        return Origin(
            changefeed=changefeed,
            messages=local(messages),
            options=codec_options,
            claims=changefeed.claim_check_storage_uri if claims is None else str(claims),
        )


def _detected(changefeed: Changefeed, brokers: Brokers, ranges: Sequence[OffsetRange]) -> Changefeed:
    """Return the changefeed with the protocol of the first messages; unchanged without messages.

    :raises RecognitionError: if it cannot be detected.
    """
    protocol, _ = protocol_of(chain.from_iterable(read(brokers, part) for part in ranges))
    return changefeed if protocol is None else changefeed.model_copy(update={"protocol": protocol})


class _RegisteredSchemas:
    """The schemas of a registry by their ids, which a task fetches when it needs them."""

    def __init__(self, changefeed: Changefeed) -> None:
        if not changefeed.schema_registry:
            what = "Avro messages cannot be decoded without schemas"
            raise ChangefeedError(what, parameter="schema-registry", hint="name the schema registry")
        self._url = changefeed.schema_registry

    def __call__(self, number: int) -> str | None:
        from ticdc_producer.targets.kafka.schema_registry import SchemaRegistry

        return SchemaRegistry(self._url).schema(number)


def _golden_folder(folder: Path) -> Origin:
    manifest = golden.manifest(folder)
    changefeed = golden.changefeed(folder, manifest)
    options = changefeed.codec_options()
    if changefeed.spec.schemas is not None:
        options["schemas"] = golden.schemas(folder)
    return Origin(
        changefeed=changefeed,
        messages=_folder_messages(folder),
        options=options,
        claims=golden.claims(folder),
        tables=_tables(folder, manifest),
    )


def _tables(folder: Path, manifest: Mapping[str, object]) -> dict[str, KnownTable]:
    try:
        tables = expected_tables(folder, manifest)
    except FolderError:  # a folder with messages only
        return {}
    return {table.qualified_name: KnownTable(table.columns, table.key) for table in tables}


def _folder_messages(folder: Path) -> LocalDataset:
    """Return the messages of a golden folder, which the tasks read."""
    engine, files = LocalEngine(), folder.absolute() / MESSAGE_FILES
    if files.exists():
        groups = message_groups(files)
        if groups is None:
            return local(parquet_parts(engine, files, MESSAGES))
        return local(engine.of_parts(len(groups), lambda part: read_group(*groups[part], MESSAGES), MESSAGES))
    lines = folder.absolute() / "messages.jsonl"
    return local(engine.of_parts(1, lambda _: record_batches(golden.message_lines(lines)), MESSAGES))


def _storage_folder(changefeed: Changefeed) -> Origin:
    """Return the rows of a storage sink's files."""
    listing = list_storage(changefeed.sink_uri.path, changefeed.protocol)
    options = changefeed.codec_options()
    rows = storage_rows(LocalEngine(), listing, changefeed.protocol, options)
    return Origin(changefeed=changefeed, messages=local(rows), options=reading_options(listing, options))
