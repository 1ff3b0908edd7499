"""Decoding a topic, folder or file event by event, without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ticdc_producer.config import Changefeed, SinkKind, load_changefeed_toml, parse_sink_uri, resolve
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.record import Record
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.protocols.registry import Options
from ticdc_producer.targets.decoding.event_rows import event_rows
from ticdc_producer.targets.decoding.protocol import check_same, protocol_of
from ticdc_producer.targets.golden import read as golden


def decode(
    *,
    sink_uri: str | None = None,
    folder_in: str | Path | None = None,
    file: str | Path | None = None,
    config: str | Path | None = None,
    protocol: str | None = None,
    client: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """Decoded events, as rows of the shape ``DECODED``, in partition and offset order.

    Exactly one of the three sources is given.

    :param folder_in: a golden folder.
    :param file: lines of the form of ``messages.jsonl``; ``-`` for standard input.
    :param protocol: instead of what manifest, sink URI or ``config`` say; where none does, the first
        messages tell.
    :param client: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :raises RecognitionError: if they do not, or if a later message is of another protocol.
    :raises ProducerError: for a source that cannot be read; bytes that do not decode are rows of kind
        ``error``.
    """
    if sum(source is not None for source in (sink_uri, folder_in, file)) != 1:
        what = "name one thing to decode: --sink-uri, --in or a file"
        raise ChangefeedError(what, parameter="sink-uri")
    if folder_in is not None and config is not None:
        what, hint = "a golden folder says itself how it was written", "leave --config out"
        raise ChangefeedError(what, parameter="config", hint=hint)
    content = None if config is None else load_changefeed_toml(config)
    if folder_in is None:
        feed = resolve(sink_uri, content, name="decode", client=client)
        told = protocol or (feed.protocol if _names_protocol(sink_uri, content) else None)
    else:
        feed = golden.changefeed(Path(folder_in), golden.manifest(Path(folder_in)))
        told = protocol or feed.protocol
    options = feed.codec_options
    if sink_uri is not None and feed.sink_uri.kind is SinkKind.STORAGE:
        yield from _of_storage(feed, options)
        return
    if told == "avro":
        options["schema_of"] = _schema_of(feed, folder_in)
    claims = feed.claim_check_storage_uri if folder_in is None else golden.claims(Path(folder_in))
    yield from _decoded(_records(feed, sink_uri, folder_in, file), told, options, claims)


def _schema_of(feed: Changefeed, folder_in: str | Path | None) -> Callable[[int], str | None]:
    """Where the schemas are that messages name by number.

    :raises ChangefeedError: if that is nowhere.
    """
    if folder_in is not None and not feed.schema_registry:
        return golden.schemas(Path(folder_in)).get
    if not feed.schema_registry:
        what, hint = "Avro is not to be read without its schemas", "name its schema registry"
        raise ChangefeedError(what, parameter="schema-registry", hint=hint)
    from ticdc_producer.targets.kafka.schema_registry import SchemaRegistry

    return SchemaRegistry(feed.schema_registry).schema


def _names_protocol(sink_uri: str | None, config: Mapping[str, Any] | None) -> bool:
    named = sink_uri is not None and "protocol" in parse_sink_uri(sink_uri).parameters
    return named or "protocol" in (config or {}).get("sink", {})


def _decoded(
    records: Iterator[Record], told: str | None, options: Options, claims: str
) -> Iterator[dict[str, Any]]:
    """Rows of all records; without a protocol told they must all be of that of the first ones.

    :param claims: where claim-check objects are, as URI or path; empty if that is not known.
    """
    protocol = told
    if protocol is None:
        protocol, records = protocol_of(records)
    if protocol is None:
        return
    decoder = registry.decoder(protocol, options)
    if claims:
        from ticdc_producer.targets.decoding.claims import whole_rows

        decoder = whole_rows(decoder, claims)
    describes, waiting = registry.describes_tables(protocol), list[Record]()
    for record in records:
        rows = event_rows(_place(record), decoder)
        if told is None and rows and rows[-1]["kind"] == "error":
            check_same(record, protocol)
        if describes is not None and not rows and not describes(record.value or b""):
            waiting.append(record)
        yield from rows
    yield from _undescribed(
        waiting, decoder, registry.decoder(protocol, {**options, "table_descriptions": ()})
    )


def _undescribed(waiting: Iterable[Record], decoder: Decoder, strict: Decoder) -> Iterator[dict[str, Any]]:
    """Errors for rows whose table no message described.

    :param waiting: records that gave no event when they came.
    :param strict: a decoder in which no row waits.
    """
    for record in waiting:
        if not event_rows(_place(record), decoder):
            yield from event_rows(_place(record), strict)


def _place(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in ("topic", "partition", "offset", "key", "value")}


def _records(
    feed: Changefeed, sink_uri: str | None, folder_in: str | Path | None, file: str | Path | None
) -> Iterator[Record]:
    if sink_uri is not None:
        return _of_topic(feed)
    if folder_in is not None:
        return golden.records(Path(folder_in) / "messages.jsonl")
    return golden.records(Path("/dev/stdin") if str(file) == "-" else Path(str(file)))


def _of_storage(feed: Changefeed, options: Options) -> Iterator[dict[str, Any]]:
    """The rows of a storage folder, in replay order; DDLs are its schema files."""
    from ticdc_producer.targets.storage.listing import list_storage
    from ticdc_producer.targets.storage.read import reading_options, records

    listing = list_storage(feed.sink_uri.place, feed.protocol)
    decoder = registry.decoder(feed.protocol, reading_options(listing, options))
    for record in records(listing, feed.protocol, options):
        yield from event_rows(_place(record), decoder)


def _of_topic(feed: Changefeed) -> Iterator[Record]:
    from ticdc_producer.runs.offset_ranges import brokers_of, whole_topics
    from ticdc_producer.targets.kafka.read import read

    brokers = brokers_of(feed)
    for part in whole_topics(brokers, [feed.sink_uri.topic]):
        yield from read(brokers, part)
