"""Decodes messages to Arrow batches of the shape ``DECODED``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, TypeAlias, cast

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import DecodeError, RecognitionError
from ticdc_producer.model.event import (
    MAX_EVENTS,
    TOMBSTONE,
    ClaimObject,
    DDLEvent,
    Event,
    Record,
    RowEvent,
)
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.shapes import DECODED, WIRE, BatchFunction, StoredMessageBatch
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import BatchDecoder, Decoder
from ticdc_producer.protocols.registry import detect_protocol, signatures
from ticdc_producer.protocols.spec import Options, ProtocolSpec
from ticdc_producer.protocols.wire_digests import Contents, WireDigests, contents
from ticdc_producer.targets.checksums import with_checksum_errors
from ticdc_producer.targets.claims import claimed_contents, with_claim_check
from ticdc_producer.targets.decoded_events import (
    DecodedEvents,
    batch_of_columns,
    described,
    of_messages,
)
from ticdc_producer.targets.record_batches import headers_of

COLUMNS = (
    "topic", "partition", "offset", "index", "events", "size", "kind", "commit_ts", "schema", "table",
    "table_id", "op", "columns", "before", "after", "handle_key_only", "query", "ddl_type", "error",
    "error_byte", "error_expected",
)  # fmt: skip
"""The columns of the shape ``DECODED``, which needs Arrow."""
_TOMBSTONE = None
_RECORD = ("topic", "partition", "offset", "size")
"""The columns that are the same for all events of a record."""

_Decoded: TypeAlias = Event | DecodeError
_Field: TypeAlias = Callable[[Sequence[Any]], Iterable[Any]]


def event_rows(record: Record, decoder: Decoder) -> list[DecodedRow]:
    """Return the events of one record, in order, with all columns in the order of ``COLUMNS``.

    If the record does not decode, the last row has the kind ``error``. A record without value and events is
    one row of kind ``tombstone``.

    :param record: where it is, and its key and value.
    """
    counts, columns = event_columns([(record.key, record.value)], decoder)
    size = len(record.key or b"") + len(record.value or b"")
    of_record = zip(_RECORD, (record.topic, record.partition, record.offset, size), strict=True)
    columns |= {name: [value] * counts[0] for name, value in of_record}
    rows = zip(*(columns[name] for name in COLUMNS), strict=True)
    return [cast("DecodedRow", dict(zip(COLUMNS, row, strict=True))) for row in rows]


def event_columns(
    messages: Iterable[tuple[bytes | None, bytes | None]], decoder: Decoder, *, row_ids: bool = False
) -> tuple[list[int], dict[str, list[object]]]:
    """Return the events of messages, in order.

    If a message does not decode, its last event has the kind ``error``. So has a row with a wrong checksum. A
    message without value and events is a tombstone.

    :param messages: keys and values.
    :param row_ids: whether the column ``row_id`` is also returned.
    :return: the number of events of each message; and all columns by name, except those of the record.
    """
    decoded: list[_Decoded | None] = []
    counts: list[int] = []
    for key, value in messages:
        before = len(decoded)
        decoded += _events(key, value, decoder) or ([_TOMBSTONE] if value is None else [])
        counts.append(len(decoded) - before)
    checked = with_checksum_errors(decoded)
    kinds: list[object] = [_kind(event) for event in checked]
    columns: dict[str, list[object]] = {
        name: [None] * len(decoded) for name in COLUMNS if name not in _RECORD
    }
    columns["kind"] = kinds
    columns["index"] = [*chain.from_iterable(map(range, counts))]
    columns["events"] = [*chain.from_iterable(map(repeat, counts, counts))]
    for kind in set(kinds):
        numbers = [number for number, of_event in enumerate(kinds) if of_event == kind]
        events = [checked[number] for number in numbers]
        for name, values in _FIELDS[str(kind)].items():
            column = columns[name]
            for number, value in zip(numbers, values(events), strict=True):
                column[number] = value
    if row_ids:
        columns["row_id"] = [event.row_id if isinstance(event, RowEvent) else 0 for event in checked]
    return counts, columns


def _events(key: bytes | None, value: bytes | None, decoder: Decoder) -> list[_Decoded]:
    """Return the events of one message, and the error that ends them."""
    events: list[_Decoded] = []
    try:
        for event in decoder.events(key, value):
            if len(events) == MAX_EVENTS - 1:
                raise DecodeError("EVENTS-MANY", f"less than {MAX_EVENTS} events", part="value", byte=0)
            events.append(event)
    except DecodeError as error:
        events.append(_with_damage(error, key, value))
    return events


_REPLACED = "\ufffd".encode()
_DAMAGE = "the bytes have U+FFFD, with which programs such as jq replace what is not UTF-8"


def _with_damage(error: DecodeError, key: bytes | None, value: bytes | None) -> DecodeError:
    """Return the error; it names the likely cause if the message was read as text on its way."""
    if _REPLACED not in (key or b"") and _REPLACED not in (value or b""):
        return error
    return DecodeError(error.code, f"{error.expected}; {_DAMAGE}", part=error.part, byte=error.byte)


def _kind(event: _Decoded | None) -> str:
    if event is _TOMBSTONE:
        return TOMBSTONE
    if isinstance(event, RowEvent):
        return "row"
    if isinstance(event, DDLEvent):
        return "ddl"
    return "error" if isinstance(event, DecodeError) else "resolved"


def _attribute(name: str) -> _Field:
    field = attrgetter(name)
    return lambda events: map(field, events)


def _all_described(events: Sequence[RowEvent]) -> Iterable[list[dict[str, Any]]]:
    """Yield the column descriptions of rows; a decoder gives the rows of one table the same columns."""
    distinct = {id(columns): columns for columns in map(attrgetter("columns"), events)}
    descriptions = {number: described(columns) for number, columns in distinct.items()}
    return (descriptions[id(event.columns)] for event in events)


_FIELDS: Mapping[str, Mapping[str, _Field]] = {
    "row": {
        **{name: _attribute(name) for name in ("commit_ts", "schema", "table", "table_id")},
        "op": _attribute("op.label"),
        "columns": _all_described,
        **{name: _attribute(name) for name in ("before", "after")},
        "handle_key_only": lambda events: (int(event.handle_key_only) for event in events),
    },
    "ddl": {name: _attribute(name) for name in ("commit_ts", "schema", "table", "query", "ddl_type")},
    "resolved": {"commit_ts": _attribute("commit_ts")},
    TOMBSTONE: {},
    "error": {
        "error": _attribute("code"),
        "error_byte": _attribute("byte"),
        "error_expected": lambda errors: (f"{error.expected} ({error.part})" for error in errors),
    },
}
"""The columns of each kind of event."""


_SEARCHED = 100
"""Messages to search for the first one with a detectable protocol; they are buffered."""
_HINT = "set `protocol`"


def protocol_of(records: Iterator[Record]) -> tuple[str | None, Iterator[Record]]:
    """Detect the protocol of records.

    :return: the protocol, None if there are no records, and all the records.
    :raises RecognitionError: if it cannot be detected from the first messages.
    """
    seen: list[Record] = []
    for record in records:
        seen.append(record)
        if protocol := detect_protocol(record.key, record.value):
            return protocol, chain(seen, records)
        if len(seen) == _SEARCHED:
            break
    if seen:
        raise _not_recognised(seen)
    return None, iter(())


def check_same(record: Record, protocol: str) -> None:
    """Check a record that did not decode.

    :raises RecognitionError: if it belongs to another protocol than the records before.
    """
    other = detect_protocol(record.key, record.value)
    if other not in (None, protocol):
        what = f"this message is of {other}, the messages before are of {protocol}; a topic has one protocol"
        raise _error(
            what,
            record,
            "with `protocol`, all messages are decoded with one protocol, and the others are errors",
        )


def _not_recognised(seen: list[Record]) -> RecognitionError:
    looked_for = "; ".join(f"{name}: {signature.description}" for name, signature in signatures())
    before = f"none of the first {len(seen)} messages is" if len(seen) > 1 else "this message is not"
    return _error(f"{before} of a detectable protocol ({looked_for})", seen[0], _HINT)


def _error(what: str, record: Record, hint: str) -> RecognitionError:
    return RecognitionError(
        what, topic=record.topic, partition=record.partition, offset=record.offset, hint=hint
    ).about("protocol")


_CHUNK = 8192


EventsFunction: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[DecodedEvents]]
"""Decodes messages (shape ``MESSAGES``), in their order."""


def event_decoder(
    protocol: str, options: Options, claims: str = "", wire: WireDigests | None = None
) -> BatchFunction:
    """Return a function from messages (shape ``MESSAGES``) to events (shape ``DECODED``), in their order.

    A message that does not decode gives a row of kind ``error`` after the events before the error. The events
    of a message are never in two batches.

    :param options: with the table schemas in the messages, see ``with_table_schemas``.
    :param claims: URI or path of the storage of claim-check objects; if empty, rows that refer to one have
        only the handle key of their message.
    :param wire: computes the digests of the events, which are then in the shape ``DECODED_WIRE``.
    """
    events_of = events_decoder(protocol, options, claims)

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        content = claimed_contents(claims)
        for events in events_of(batches):
            if wire is None:
                yield events.batch
            else:
                keys, values = map(list, zip(*events.contents, strict=True))
                headers = headers_of(events.messages.column("headers"))
                digests = wire.of_messages(keys, values, events.counts.tolist(), content, headers)
                yield events.batch.append_column(WIRE, pa.array(digests))

    return decode


def events_decoder(
    protocol: str, options: Options, claims: str = "", *, row_ids: bool = False
) -> EventsFunction:
    """Return a function from messages to the same events as ``event_decoder``.

    Rows that the protocol decodes to columns remain columns.

    :param row_ids: whether the events have the ids of their rows.
    """

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[DecodedEvents]:
        decoder = with_claim_check(registry.decoder(protocol, options), claims)
        rows_decoder = registry.batch_decoder(protocol, options)
        for batch in batches:
            for start in range(0, batch.num_rows, _CHUNK):
                yield decoded_events(batch.slice(start, _CHUNK), decoder, rows_decoder, row_ids=row_ids)

    return decode


def decoded_events(
    messages: StoredMessageBatch,
    decoder: Decoder,
    rows_decoder: BatchDecoder | None,
    *,
    row_ids: bool = False,
) -> DecodedEvents:
    """Return the events of a few messages (shape ``MESSAGES``).

    :param rows_decoder: decodes rows to columns; None: the decoder decodes all messages.
    :param row_ids: whether the events have the ids of their rows.
    """
    contents = [*zip(*(messages.column(name).to_pylist() for name in ("key", "value")), strict=True)]
    rows = [] if rows_decoder is None else rows_decoder.rows(contents)
    counts = np.zeros(len(contents), np.int64)
    for group in rows:
        counts[group.messages.to_numpy()] = 1
    others = np.flatnonzero(counts == 0)
    of_others, of_events = event_columns(
        (contents[number] for number in others.tolist()), decoder, row_ids=row_ids
    )
    counts[others] = of_others
    columns = {**of_events, **of_messages(messages, np.repeat(others, of_others))}
    return DecodedEvents(
        messages=messages,
        contents=contents,
        counts=counts,
        rows=rows,
        others=batch_of_columns(columns, DECODED),
        row_ids=pa.array(of_events["row_id"], pa.int64()) if row_ids else None,
    )


def canonical_forms(
    wire: WireDigests, content: Contents, messages: StoredMessageBatch
) -> dict[tuple[str, int, int, int], bytes]:
    """Return the canonical form of each event by topic, partition, offset and index.

    A message that cannot be divided has one form.

    :param content: reads claim-check objects, unless the messages have theirs.
    :param messages: shape ``MESSAGES``, or ``message_rows.STORED_MESSAGES``.
    """
    names = ("topic", "partition", "offset", "key", "value", "headers", "claims")
    forms: dict[tuple[str, int, int, int], bytes] = {}
    for row in messages.select([name for name in names if name in messages.schema.names]).to_pylist():
        objects = [ClaimObject(**claim) for claim in row.get("claims") or ()]
        own = contents({0: objects}) if objects else content
        message = row["key"], row["value"]
        headers = tuple((header["key"], header["value"]) for header in row["headers"])
        for index, event in enumerate(wire.format.events(*message) or (message,)):
            forms[row["topic"], row["partition"], row["offset"], index] = wire.form(
                event, partial(own, 0), headers
            )
    return forms


def eventless_digests(
    spec: ProtocolSpec, wire: WireDigests, messages: StoredMessageBatch
) -> list[tuple[int, int]]:
    """Return row and digest of the messages without events.

    :param messages: with the columns ``key``, ``value`` and ``headers`` of ``MESSAGES``.
    """
    rows = spec.describing(messages.column("value"))
    keys, values = (messages.column(name).take(rows).to_pylist() for name in ("key", "value"))
    numbers, headers = rows.to_pylist(), headers_of(messages.column("headers").take(rows))
    return [(numbers[index], digest) for index, digest in wire.eventless(keys, values, headers)]
