"""Decodes a topic, folder or file event by event, without Spark, and returns the kind of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from ticdc_producer.config import (
    Changefeed,
    ConfigSource,
    SinkKind,
    changefeed_content,
    parse_sink_uri,
    resolve,
)
from ticdc_producer.config.kafka_properties import parse_kafka_properties
from ticdc_producer.errors import FolderError
from ticdc_producer.local_path import local_path
from ticdc_producer.model.event import Record
from ticdc_producer.model.event_line import DecodedRow, event_content, event_text
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.protocols.registry import detect_protocol, protocol_specs
from ticdc_producer.protocols.spec import Options
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.targets.decode import check_same, event_rows, protocol_of
from ticdc_producer.targets.dump import file_records
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.golden.folder import MANIFEST
from ticdc_producer.targets.kafka.schema_registry import schemas_of_registry


def folder_source(folder: Path, protocol: str | None = None) -> dict[str, str]:
    """Return the argument of ``decode`` for a folder: ``folder`` or ``sink_uri``.

    :param protocol: of a storage folder; None: it follows from the names of the data files.
    :raises FolderError: for a folder of another kind.
    """
    if (folder / MANIFEST).is_file():
        return {"folder": str(folder)}
    likely = protocol or _protocol_of(folder)
    if likely is None:
        what = "this is neither a golden folder nor the folder of a storage sink"
        hint = f"a golden folder has a {MANIFEST}, a storage sink's has files such as CDC000001.csv"
        raise FolderError(what, path=str(folder), hint=hint)
    return {"sink_uri": f"file://{quote(str(folder.absolute()))}?protocol={likely}"}


def _protocol_of(folder: Path) -> str | None:
    """Return the protocol of the first data files; None if there are none."""
    for spec in protocol_specs():
        if spec.file_format is not None and any(folder.rglob(f"CDC*{spec.file_format.extension}")):
            return spec.name
    return None


def decode(
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    file: str | Path | None = None,
    config: ConfigSource | None = None,
    protocol: str | None = None,
    kafka_properties: Sequence[str] = (),
    on_status: Callable[[str], object] | None = None,
) -> Iterator[DecodedRow]:
    """Yield the decoded events, as rows of the shape ``DECODED``, in partition and offset order.

    Exactly one of ``sink_uri``, ``folder`` and ``file`` is given.

    :param sink_uri: TiCDC's sink URI of a topic or storage.
    :param folder: a golden folder.
    :param file: a file in the format of ``messages.jsonl``, of ``kcat -J`` or of Kafka's console consumer;
        ``-`` for standard input, a golden folder, or the folder of a storage sink.
    :param config: a changefeed TOML, or its content as a mapping.
    :param protocol: overrides the protocol of manifest, sink URI or ``config``. If none of them names one,
        it is detected from the first messages.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param on_status: called with a line of text if the first message looks like one of another protocol.
    :raises RecognitionError: if the protocol cannot be detected, or a later message has another protocol.
    :raises ProducerError: for a source that cannot be read; bytes that do not decode are rows of kind
        ``error``.
    """
    check_options("decode", {"sink_uri": sink_uri, "folder": folder, "file": file, "config": config})
    if file is not None and local_path(file).is_dir():
        source = folder_source(local_path(file), protocol)
        yield from decode(
            **source,
            config=config,
            protocol=protocol,
            kafka_properties=kafka_properties,
            on_status=on_status,
        )
        return
    content = None if config is None else changefeed_content(config)
    if folder is None:
        changefeed = resolve(sink_uri, content, name="decode", kafka_properties=kafka_properties)
        requested_protocol = protocol or (changefeed.protocol if names_protocol(sink_uri, content) else None)
    else:
        parse_kafka_properties(kafka_properties)
        folder = local_path(folder)
        changefeed = golden.changefeed(folder, golden.manifest(folder))
        requested_protocol = protocol or changefeed.protocol
    if sink_uri is not None and changefeed.sink_uri.kind is SinkKind.STORAGE:
        yield from _storage_events(changefeed)
        return

    def options_of(protocol: str) -> Options:
        options = changefeed.codec_options(protocol)
        if registry.protocol_spec(protocol).schemas is not None:
            options["schema_of"] = _schema_of(changefeed, folder)
        return options

    claims = changefeed.claim_check_storage_uri if folder is None else golden.claims(Path(folder))
    yield from _decoded_events(
        _records(changefeed, sink_uri, folder, file), requested_protocol, options_of, claims, on_status
    )


def _schema_of(changefeed: Changefeed, folder: str | Path | None) -> Callable[[int], str | None]:
    """Return the lookup of Avro schemas by the number that messages contain.

    :raises ChangefeedError: if neither the folder nor a registry has them.
    """
    stored = {} if folder is None else golden.schemas(Path(folder))
    if stored or (folder is not None and not changefeed.schema_registry):
        return stored.get  # the messages of a folder have the ids of its own schemas
    return schemas_of_registry(changefeed)


def names_protocol(sink_uri: str | None, config: Mapping[str, object] | None) -> bool:
    """Return whether a sink URI or changefeed file names the protocol."""
    named = sink_uri is not None and "protocol" in parse_sink_uri(sink_uri).parameters
    sink: Any = (config or {}).get("sink", {})
    return named or "protocol" in sink


def _decoded_events(
    records: Iterator[Record],
    requested_protocol: str | None,
    options_of: Callable[[str], Options],
    claims: str,
    on_status: Callable[[str], object] | None,
) -> Iterator[DecodedRow]:
    """Yield the rows of all records; if the protocol was detected, all records must be in it.

    :param options_of: a protocol to the options of its decoder.
    :param claims: location of claim-check objects, as URI or path; empty if unknown.
    """
    protocol = requested_protocol
    if protocol is None:
        protocol, records = protocol_of(records)
    if protocol is None:
        return
    options = options_of(protocol)
    decoder = registry.decoder(protocol, options)
    if claims:
        from ticdc_producer.targets.claims import with_claim_check

        decoder = with_claim_check(decoder, claims)
    describes_table, waiting = registry.protocol_spec(protocol).described_versions, list[Record]()
    for number, record in enumerate(records):
        rows = event_rows(record, decoder)
        if number == 0 and on_status is not None and rows and rows[0]["kind"] == "error":
            likely = detect_protocol(record.key, record.value)
            if likely not in (None, protocol):
                from ticdc_producer.runs.wrong_protocol import protocol_hint  # imports much

                on_status(protocol_hint(likely, protocol))
        if requested_protocol is None and rows and rows[-1]["kind"] == "error":
            check_same(record, protocol)
        if describes_table is not None and not rows and not describes_table(record.value or b""):
            waiting.append(record)
        yield from rows
    yield from _undescribed(
        waiting, decoder, registry.decoder(protocol, {**options, "table_descriptions": ()})
    )


def _undescribed(waiting: Iterable[Record], decoder: Decoder, strict: Decoder) -> Iterator[DecodedRow]:
    """Return errors for rows whose table no message described.

    :param waiting: records that yielded no event because their table was unknown.
    :param strict: a decoder that rejects rows of unknown tables.
    """
    for record in waiting:
        if not event_rows(record, decoder):
            yield from event_rows(record, strict)


def _records(
    changefeed: Changefeed, sink_uri: str | None, folder: str | Path | None, file: str | Path | None
) -> Iterator[Record]:
    if sink_uri is not None:
        return _topic_records(changefeed)
    if folder is not None:
        return golden.records(Path(folder) / "messages.jsonl")
    return file_records(Path("/dev/stdin") if str(file) == "-" else Path(str(file)))


def _storage_events(changefeed: Changefeed) -> Iterator[DecodedRow]:
    """Yield the events of a storage folder in replay order; its DDLs are in schema files."""
    from ticdc_producer.rows.origin import selected_names
    from ticdc_producer.targets.storage.read import readable_listing, reading_options, records

    options, listing = changefeed.codec_options(), readable_listing(changefeed)
    names = selected_names(changefeed, listing)
    decoder = registry.decoder(changefeed.protocol, reading_options(listing, options, names))
    for record in records(listing, changefeed.protocol, options):
        yield from event_rows(record, decoder)


def _topic_records(changefeed: Changefeed) -> Iterator[Record]:
    from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
    from ticdc_producer.targets.kafka.read import read

    brokers = brokers_of(changefeed)
    for part in whole_topics(brokers, [changefeed.sink_uri.topic]):
        yield from read(brokers, part)


FolderText: TypeAlias = dict[str, list[str]]
"""``events of TOPIC/PARTITION`` and ``rows of SCHEMA.TABLE``, each with its lines."""


def folder_text(folder: Path) -> FolderText:
    """Return the lines of a golden folder.

    Offsets and commit-ts are omitted: an inserted statement moves those of all later events. Resolved events
    are omitted: they carry nothing else.

    :raises FolderError: for a damaged folder.
    """
    text: FolderText = {}
    for row in decode(folder=folder):
        lines = text.setdefault(f"events of {row['topic']}/{row['partition']}", [])
        if row["kind"] != "resolved":
            lines.append(event_text(row) if row["kind"] == "error" else event_content(row))
    for path in sorted((folder / "state").glob("*.jsonl")):
        text[f"rows of {unquote(path.stem)}"] = path.read_text("utf-8").split("\n")[:-1]
    return text
