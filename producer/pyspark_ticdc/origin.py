"""What a batch query reads: messages, and how they decode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from urllib.parse import quote, urlencode

from pyspark_ticdc.options import BOOTSTRAP, GivenOptions
from ticdc_producer.config import Changefeed, SinkKind, parse_sink_uri
from ticdc_producer.engine.local import LocalDataset, LocalEngine, local
from ticdc_producer.errors import ArgumentError, ChangefeedError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.shapes import MESSAGES, BatchFunction
from ticdc_producer.protocols.spec import Options
from ticdc_producer.runs.folder_source import folder_source
from ticdc_producer.runs.topics import brokers_of, whole_topics
from ticdc_producer.simulate.job import changefeed_of
from ticdc_producer.targets.decode import event_decoder, protocol_of
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.golden.parquet import message_groups, parquet_parts, read_group
from ticdc_producer.targets.golden.write import MESSAGE_FILES
from ticdc_producer.targets.kafka.read import OffsetRange, read, slices
from ticdc_producer.targets.record_batches import record_batches, with_table_schemas
from ticdc_producer.targets.storage.read import list_storage, reading_options, storage_rows

_TASKS = 32
"""Large topics are cut into about twice as many ranges, which tasks read at the same time."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Messages that exist, in parts, and what is needed to decode them.

    :param messages: shape ``MESSAGES``; a part has a range of a topic partition, in the order of its offsets.
    :param options: of the decoder, without the table schemas that are in the messages.
    :param claims: location of the claim-check objects; empty if unknown.
    """

    changefeed: Changefeed
    messages: LocalDataset
    options: Options
    claims: str = ""

    def decoder(self) -> BatchFunction:
        """Return the function from messages to events.

        In some protocols the schemas of tables are messages of their own; then all messages are read once.
        """
        options = with_table_schemas(self.messages, self.changefeed.protocol, self.options)
        return event_decoder(self.changefeed.protocol, options, self.claims)


def origin(options: GivenOptions) -> Origin:
    """Return what the options name.

    :raises ProducerError: for options that name nothing or too much, or a source that cannot be read.
    """
    values = options.values
    names = [name for name in ("sink-uri", "path", BOOTSTRAP) if values.get(name) is not None]
    if len(names) != 1:
        what = f"give exactly one source: the options {BOOTSTRAP!r} and 'subscribe', or 'sink-uri', or 'path'"
        raise ArgumentError(what, argument=names[-1] if names else BOOTSTRAP)
    if names == ["path"]:
        protocol = options.sink_parameters.get("protocol")
        source = folder_source(Path(str(values["path"])), protocol)
        if "folder" in source:
            return _golden_folder(Path(source["folder"]))
        return _storage_folder(changefeed_of(source["sink_uri"], None))
    uri = str(values["sink-uri"]) if names == ["sink-uri"] else sink_uri(options)
    changefeed = changefeed_of(uri, None, kafka_properties=options.kafka_properties)
    if changefeed.sink_uri.kind is SinkKind.STORAGE:
        return _storage_folder(changefeed)
    topics = str(values["subscribe"]).split(",") if values["subscribe"] else [changefeed.sink_uri.topic]
    return _topics(changefeed, topics, detect="protocol" not in parse_sink_uri(uri).parameters)


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


def _topics(changefeed: Changefeed, topics: Sequence[str], *, detect: bool) -> Origin:
    brokers = brokers_of(changefeed)
    ranges = whole_topics(brokers, [topic.strip() for topic in topics])
    if detect:
        changefeed = _detected(changefeed, brokers, ranges)
    parts = slices(ranges, _TASKS)
    messages = LocalEngine().of_parts(
        len(parts), lambda part: record_batches(read(brokers, parts[part])), MESSAGES
    )
    options = changefeed.codec_options()
    if changefeed.spec.schemas is not None:
        options["schema_of"] = _RegisteredSchemas(changefeed)
    return Origin(
        changefeed=changefeed,
        messages=local(messages),
        options=options,
        claims=changefeed.claim_check_storage_uri,
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
    changefeed = golden.changefeed(folder, golden.manifest(folder))
    options = changefeed.codec_options()
    if changefeed.spec.schemas is not None:
        options["schemas"] = golden.schemas(folder)
    return Origin(
        changefeed=changefeed,
        messages=_folder_messages(folder),
        options=options,
        claims=golden.claims(folder),
    )


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
