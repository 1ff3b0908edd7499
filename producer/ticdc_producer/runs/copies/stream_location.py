"""Where a stream is: a topic, a storage, a golden folder, or a file of messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pyarrow as pa

from ticdc_producer.config import Changefeed, SinkKind, parse_sink_uri
from ticdc_producer.config.changefeed_toml import load_changefeed_toml
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine.dataset import Batches
from ticdc_producer.engine.local import LocalDataset, LocalEngine, local
from ticdc_producer.errors import FolderError
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.rows.origin import Origin, broker_messages, golden_folder, storage_folder
from ticdc_producer.runs.decode import folder_source, names_protocol
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.targets.decode import protocol_of
from ticdc_producer.targets.dump import file_lines
from ticdc_producer.targets.kafka.read import OffsetRange, range_rows
from ticdc_producer.targets.record_batches import record_batches

SourceKind: TypeAlias = Literal["topic", "storage", "golden folder", "file"]


@dataclass(frozen=True, kw_only=True)
class StreamLocation:
    """The location of a stream. One of ``sink_uri`` and ``path`` is given; none: in a file that was copied.

    :param sink_uri: TiCDC's sink URI of a topic or storage.
    :param path: a golden folder, the folder of a storage, or a file of messages: lines of
        ``messages.jsonl``, of ``kcat -J`` or of Kafka's console consumer.
    :param config: path of the changefeed file of ``sink_uri``, or of a storage or file; empty: none.
    :param protocol: replaces that of the sink URI; empty: if nothing names it, it is detected.
    :param name: the topic of messages of a file that do not name it.
    :param schema_registry: URL of the registry for the Avro messages of a file; empty: none.
    :param kafka_properties: ``name=value`` each, of the clients.
    """

    sink_uri: str = ""
    path: str = ""
    config: str = ""
    protocol: str = ""
    name: str = "messages"
    schema_registry: str = ""
    kafka_properties: tuple[str, ...] = ()

    @property
    def kind(self) -> SourceKind:
        """What it is.

        :raises FolderError: for a folder of another kind, and a path that does not exist.
        :raises ChangefeedError: for an invalid sink URI.
        """
        if self.sink_uri:
            kind = parse_sink_uri(self.sink_uri).target.kind
            return "storage" if kind is SinkKind.STORAGE else "topic"
        path = Path(self.path)
        if not self.path:
            return "file"
        if path.is_dir():
            return "golden folder" if "folder" in folder_source(path, self.protocol or None) else "storage"
        if not path.is_file():
            raise FolderError("there is no such folder or file", path=self.path)
        return "file"

    @property
    def uri(self) -> str:
        """The sink URI of the messages, also of those in a file or in the folder of a storage."""
        if self.sink_uri:
            parts = urlsplit(self.sink_uri)
        elif self.kind == "storage":
            parts = urlsplit(folder_source(Path(self.path), self.protocol or None)["sink_uri"])
        else:
            parts = urlsplit(f"kafka:///{quote(self.name, safe='')}")
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if self.protocol:
            query["protocol"] = self.protocol
        if self.schema_registry and not self.sink_uri and _has_schemas(self.protocol):
            query["schema-registry"] = self.schema_registry
        return parts._replace(query=urlencode(query)).geturl()

    @property
    def changefeed(self) -> Changefeed:
        """The changefeed whose messages these are.

        :raises ProducerError: for an invalid sink URI, and a damaged golden folder.
        """
        if self.kind == "golden folder":
            return golden_folder(Path(self.path)).changefeed
        return changefeed_of(self.uri, self.config or None, kafka_properties=self.kafka_properties)

    @property
    def _file_content(self) -> dict[str, object] | None:
        return load_changefeed_toml(self.config) if self.config else None

    @property
    def names_protocol(self) -> bool:
        """Whether something names the protocol."""
        return (
            bool(self.protocol)
            or self.kind in ("golden folder", "storage")
            or names_protocol(self.sink_uri or None, self._file_content)
        )


def _has_schemas(protocol: str) -> bool:
    return any(spec.schemas and protocol in (spec.name, *spec.aliases) for spec in BUILT_IN.values())


@dataclass(frozen=True, kw_only=True)
class SourceMessages:
    """The messages of a source.

    :param rows: shape ``MESSAGES``.
    :param omitted: number of older messages of a topic that are left out.
    """

    rows: LocalDataset
    omitted: int = 0


def messages_of(source: StreamLocation, most: int) -> SourceMessages:
    """Return the messages of a source; of a topic the newest, as many of each partition.

    :param most: number of the messages of a topic.
    :raises ProducerError: for a source that cannot be read.
    """
    match source.kind:
        case "golden folder":
            return SourceMessages(rows=golden_folder(Path(source.path)).messages)
        case "storage":
            return SourceMessages(rows=storage_folder(source.changefeed).messages)
        case "file":
            return SourceMessages(rows=_file_messages(Path(source.path), source.name))
    changefeed = source.changefeed
    brokers = brokers_of(changefeed)
    ranges = whole_topics(brokers, [changefeed.sink_uri.topic])
    newest = [*_newest(ranges, most)]
    omitted = sum(part.size for part in ranges) - sum(part.size for part in newest)
    return SourceMessages(rows=local(range_rows(LocalEngine(), brokers, newest)), omitted=omitted)


def _file_messages(path: Path, topic: str) -> LocalDataset:
    """Return the messages of a file, in its order. Unlike ``verify``, it may lack partitions and offsets."""

    def lines(_part: int) -> Batches:
        return record_batches(file_lines(path, topic=topic))

    return local(LocalEngine().of_parts(1, lines, MESSAGES))


def _newest(ranges: Sequence[OffsetRange], most: int) -> Iterator[OffsetRange]:
    """Yield the ends of the ranges: all of short ones, and equal shares of the others."""
    remaining = most
    for number, part in enumerate(sorted(ranges, key=lambda part: part.size)):
        size = min(part.size, remaining // (len(ranges) - number))
        remaining -= size
        yield replace(part, start=part.end - size)


def detected(source: StreamLocation, messages: pa.Table) -> StreamLocation:
    """Return the source with the protocol of its first messages, unless something names the protocol.

    :param messages: shape ``MESSAGES``.
    :raises RecognitionError: if it cannot be detected.
    """
    if source.names_protocol or not messages.num_rows:
        return source
    columns = ("topic", "partition", "offset", "key", "value")
    rows = messages.slice(0, _SAMPLE).select(columns).to_pylist()
    protocol, _ = protocol_of(Record(**row) for row in rows)
    return replace(source, protocol=protocol or "")


_SAMPLE = 100


def origin_of(source: StreamLocation, messages: Sequence[pa.RecordBatch] = ()) -> Origin:
    """Return what is needed to decode messages of a source that names its protocol.

    :param messages: shape ``MESSAGES``.
    :raises ChangefeedError: for a protocol with schemas, if no registry is named.
    """
    rows = local(LocalEngine().of_batches(messages, MESSAGES))
    match source.kind:
        case "golden folder":
            return replace(golden_folder(Path(source.path)), messages=rows)
        case "storage":
            return replace(storage_folder(source.changefeed), messages=rows)
    return broker_messages(source.changefeed, rows)
