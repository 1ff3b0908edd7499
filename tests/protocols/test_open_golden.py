"""Open Protocol against the bytes of real TiCDC: every file and option, encoded and decoded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden_events import GOLDEN, GoldenDDL, GoldenEvent, GoldenResolved, GoldenRow
from tests.protocols.golden_messages import (
    Compared,
    GoldenMessage,
    encode_other,
    events_of,
    load_messages,
    row_messages,
)
from tests.tiers import one_in
from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import DDLEvent, Event, Image, ResolvedEvent, RowEvent
from ticdc_producer.model.mysql_type import STRINGS
from ticdc_producer.protocols.batch_options import OpenOptions
from ticdc_producer.protocols.open_protocol.decoder import FrameReader, OpenDecoder
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder

VARIANTS = {
    "open": OpenOptions(batch_by="partition"),
    "open.max-batch-size-1": OpenOptions(batch_by="partition", max_batch_size=1),
    "open.delete-only-handle-key": OpenOptions(
        batch_by="partition", delete_only_output_handle_key_columns=True
    ),
    "open.max-message-bytes-1024.handle-key-only": OpenOptions(
        batch_by="partition", max_message_bytes=1024, large_message_handle_option="handle-key-only"
    ),
    "open.merge": OpenOptions(batch_by="partition"),
    "open.merge.max-message-bytes-2048": OpenOptions(batch_by="partition", max_message_bytes=2048),
    "open.only-output-updated-columns": OpenOptions(batch_by="partition", only_output_updated_columns=True),
    "open.output-old-value-false": OpenOptions(batch_by="partition", output_old_value=False),
    "new-open": OpenOptions(profile="new", batch_by="partition"),
    "new-open.max-batch-size-1": OpenOptions(profile="new", batch_by="partition", max_batch_size=1),
    "new-open.max-message-bytes-512.handle-key-only": OpenOptions(
        profile="new",
        batch_by="partition",
        max_message_bytes=512,
        large_message_handle_option="handle-key-only",
    ),
    "new-open.max-message-bytes-1024.handle-key-only": OpenOptions(
        profile="new",
        batch_by="partition",
        max_message_bytes=1024,
        large_message_handle_option="handle-key-only",
    ),
    "new-open.merge": OpenOptions(profile="new", batch_by="partition"),
    "new-open.merge.max-message-bytes-2048": OpenOptions(
        profile="new", batch_by="partition", max_message_bytes=2048
    ),
    "new-open.only-output-updated-columns": OpenOptions(
        profile="new", batch_by="partition", only_output_updated_columns=True
    ),
}
# Updates that set a column to NULL: with only-output-updated-columns, TiCDC new architecture omits the
# column's name and braces in "p", so its members collide. We write them.
UPDATED_COLUMNS = "new-open.only-output-updated-columns"
NAMELESS = {
    "binaries": {20},
    "canal_types_params": {6},
    "decimals": {15},
    "enum_set_bit_json": {16, 42, 66},
    "floats": {48},
    "generated_defaults": {44, 58},
    "ints": {11},
    "strings": {22},
}
FILES = sorted(
    (path, variant)
    for part in ("visible", "fuzz", "new")
    for variant in VARIANTS
    for path in (GOLDEN / part).glob(f"*.{variant}.jsonl")
)
IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]


def test_all_files_exist() -> None:
    assert len(FILES) == 16 * 6 + 15 * 2 + 20 * 2 + 16 * 7


@pytest.mark.parametrize(("path", "variant"), one_in(5, FILES), ids=IDS)
def test_golden_events_give_golden_bytes(path: Path, variant: str, compared: Compared) -> None:
    """The slow half has the other files; ``test_golden_streams`` compares the messages of all, from SQL."""
    events, messages = events_of(path), load_messages(path)
    assert messages
    encoder, count = OpenEncoder(VARIANTS[variant]), 0
    for unit in _units(messages, events):
        expected = [message for message in unit if not message.error and not nameless(path, message)]
        rows = [event for event in _flat(expected, events) if isinstance(event, GoldenRow)]
        if rows:
            sent = [(m.key, m.value) for m in row_messages(encoder, rows)]
        else:
            others = [
                encode_other(encoder, event)
                for event in _flat(expected, events)
                if isinstance(event, GoldenDDL | GoldenResolved)
            ]
            sent = [(m.key, m.value) for m in others if m]
        assert sent == [(m.key, m.value) for m in expected]
        count += len(expected)
    compared("open-protocol, encoded", count)


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_events_that_ticdc_rejects_are_rejected(path: Path, variant: str) -> None:
    events = events_of(path)
    for message in load_messages(path):
        if message.error:
            encoder = OpenEncoder(VARIANTS[variant])
            rows = [row for row in _flat([message], events) if isinstance(row, GoldenRow)]
            with pytest.raises(EncodeError) as refusal:
                row_messages(encoder, rows)
            assert refusal.value.what in message.error.replace("]", ": ", 1).removeprefix("[")


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_bytes_give_golden_events(path: Path, variant: str, compared: Compared) -> None:
    events = events_of(path)
    options, decoder = VARIANTS[variant], OpenDecoder()
    sent = [message for message in load_messages(path) if not message.error and not nameless(path, message)]
    for message in sent:
        decoded = list(decoder.events(message.key, message.value))
        assert decoded == [
            _expected(events[seq], decoded[i], options) for i, seq in enumerate(message.events)
        ]
    compared("open-protocol, decoded", len(sent))


@pytest.mark.parametrize("stem", NAMELESS)
def test_a_column_that_becomes_null_keeps_its_name(stem: str) -> None:
    path = GOLDEN / "new" / f"{stem}.{UPDATED_COLUMNS}.jsonl"
    events, options = events_of(path), VARIANTS[UPDATED_COLUMNS]
    damaged = [message for message in load_messages(path) if nameless(path, message)]
    assert NAMELESS[stem] <= {seq for message in damaged for seq in message.events}
    for theirs in damaged:
        rows = [row for row in _flat([theirs], events) if isinstance(row, GoldenRow)]
        encoder = OpenEncoder(options)
        (ours,) = row_messages(encoder, rows)
        assert ours.key == theirs.key
        values = zip(rows, _values(ours.value), _values(theirs.value), strict=True)
        for row, our_value, their_value in values:
            assert (our_value != their_value) is (row.seq in NAMELESS[stem])
            assert _without_names(row, our_value) == their_value
        decoded = list(OpenDecoder().events(ours.key, ours.value))
        assert decoded == [_expected(row, event, options) for row, event in zip(rows, decoded, strict=True)]


def nameless(path: Path, message: GoldenMessage) -> bool:
    """Whether a message contains an update of ``NAMELESS``."""
    stem, variant = path.name.removesuffix(".jsonl").split(".", 1)
    return variant == UPDATED_COLUMNS and not NAMELESS.get(stem, set()).isdisjoint(message.events)


def _values(value: bytes | None) -> list[bytes]:
    blocks = FrameReader("value", value or b"")
    values = []
    while not blocks.at_end:
        values.append(blocks.next())
    return values


_COLUMN = rb'"t":\d+,"f":\d+,"v":(?:null|[-+.e\d]+|"(?:[^"\\]|\\.)*")'


def _without_names(row: GoldenRow, value: bytes) -> bytes:
    """The value of TiCDC new architecture: in "p", columns that became NULL have no name and no braces."""
    head, p, old = value.partition(b'"p":')
    for column, a, b in zip(row.table.sent_columns, row.before or (), row.after or (), strict=True):
        if a is not None and b is None:
            named = b'"%b":{(%b)}' % (re.escape(column.name.encode()), _COLUMN)
            old = re.sub(named, rb"\1", old)
    return head + p + old


def _units(messages: list[GoldenMessage], events: dict[int, GoldenEvent]) -> Iterator[list[GoldenMessage]]:
    """Consecutive row messages, the result of one Build call."""
    unit: list[GoldenMessage] = []
    for message in messages:
        if not _is_row(events[message.events[0]]):
            if unit:
                yield unit
            unit = []
            yield [message]
        else:
            unit.append(message)
    if unit:
        yield unit


def _is_row(event: GoldenEvent) -> bool:
    return isinstance(event, GoldenRow)


def _flat(messages: list[GoldenMessage], events: dict[int, GoldenEvent]) -> list[GoldenEvent]:
    return [events[seq] for message in messages for seq in message.events]


def _expected(event: GoldenEvent, decoded: Event, options: OpenOptions) -> Event:
    """The golden event as a consumer must see it, without what the options omit."""
    if isinstance(event, GoldenResolved):
        return ResolvedEvent(commit_ts=event.commit_ts)
    if isinstance(event, GoldenDDL):
        return DDLEvent(
            commit_ts=event.commit_ts,
            schema=event.schema,
            table=event.table,
            query=event.query,
            ddl_type=event.ddl_type,
        )
    assert isinstance(event, GoldenRow)
    assert isinstance(decoded, RowEvent)
    return _expected_row(event, decoded, options)


def _expected_row(event: GoldenRow, decoded: RowEvent, options: OpenOptions) -> RowEvent:
    names = [column.name for column in event.table.sent_columns]
    raw_bytes = options.profile == "new"
    after, before = (_image(event, image, raw_bytes=raw_bytes) for image in (event.after, event.before))
    if event.op.label == "update" and before is not None and after is not None:
        if not options.output_old_value:
            before = None
        elif options.only_output_updated_columns:
            raw = zip(names, event.before or (), event.after or (), strict=True)
            before = {name: before[name] for name, a, b in raw if a != b}
            if not before and options.profile == "classic":
                before = None
    if event.op.label == "delete" and options.delete_only_output_handle_key_columns:
        before = {name: value for name, value in (before or {}).items() if name in event.handle_key_columns}
    if decoded.handle_key_only:  # the bytes show which rows are too large
        assert options.large_message_handle_option == "handle-key-only"
        after, before = (_handle_key(event, image) for image in (after, before))
    primary = before if event.op.label == "delete" else after
    written = list(primary or {}) if options.profile == "new" else sorted(primary or {}, key=str.encode)
    assert [column.name for column in decoded.columns] == written
    flags = dict(zip(names, event.table.sent_flags, strict=True))
    types = {column.name: column.type_name for column in event.table.columns}
    assert [(c.name, c.type, c.flag) for c in decoded.columns] == [
        (c.name, types[c.name], flags[c.name]) for c in decoded.columns
    ]
    lost = event.op.label == "update" and before is None
    return RowEvent(
        commit_ts=event.commit_ts,
        schema=event.table.schema,
        table=event.table.name,
        op=type(event.op).INSERT if lost else event.op,
        columns=decoded.columns,
        before=before,
        after=after,
        table_id=event.table_id if event.is_partitioned else 0,
        row_id=event.row_id if options.profile == "classic" else 0,
        handle_key_only=decoded.handle_key_only,
    )


def _handle_key(event: GoldenRow, image: Image | None) -> Image | None:
    if image is None:
        return None
    return {name: value for name, value in image.items() if name in event.handle_key_columns}


def _image(event: GoldenRow, image: tuple[bytes | None, ...] | None, *, raw_bytes: bool) -> Image | None:
    if image is None:
        return None
    columns = event.table.sent_columns
    return {
        column.name: _utf8(value) if column.type in STRINGS and not column.binary and not raw_bytes else value
        for column, value in zip(columns, image, strict=True)
    }


def _utf8(value: bytes | None) -> bytes | None:
    """JSON cannot carry bytes that are not UTF-8: each becomes U+FFFD."""
    if value is None:
        return None
    text = value.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in text).encode()
