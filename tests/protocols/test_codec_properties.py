"""Properties of every message of every protocol, for any table, row and options.

It survives the round trip but for what the codec says it loses, and damage to it is a decode error or an
event, in time and memory of its own size, and never anything else.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.conftest import EXHAUSTIVE
from tests.golden_events import GoldenRow
from tests.protocols.encoding import OneRow, alone, framed, one_by_one
from tests.protocols.expected_events import expected_ddl, expected_resolved, expected_row
from tests.protocols.golden_messages import encode_rows
from tests.protocols.random_codecs import CODECS, Codec
from tests.protocols.random_tables import NAMES, STAMPS, TABLE_ID, History, histories, insert
from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, Message, Record, RowEvent
from ticdc_producer.model.event_line import event_line, event_text, json_line
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.targets.decode import event_rows
from ticdc_producer.testing.random_values import TEXTS
from ticdc_producer.testing.strategies import damaged


def _tiers(fast: int, full: int) -> pytest.MarkDecorator:
    """Number of examples per property; without ``TEST_EXHAUSTIVE`` the full tier has a tenth of its own."""
    slow = pytest.param(full if EXHAUSTIVE else full // 10, id="full", marks=pytest.mark.slow)
    return pytest.mark.parametrize("examples", [pytest.param(fast, id="fast"), slow])


SLOWEST = timedelta(seconds=20)
"""No message takes a hundredth of this; unbounded cost would exceed any limit."""

each_codec = pytest.mark.parametrize("protocol", CODECS)


def _holds(examples: int, check: Callable[..., None], *strategies: st.SearchStrategy[Any]) -> None:
    slow_to_draw = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    tier = settings(max_examples=examples, deadline=SLOWEST, suppress_health_check=slow_to_draw)
    tier(given(*strategies)(check))()


@_tiers(12, 10_000)
@each_codec
def test_rows_survive_the_round_trip(protocol: str, examples: int) -> None:
    codec = CODECS[protocol]

    def check(history: History, options: Any) -> None:
        _check_round_trip(codec, history, options)

    _holds(examples, check, histories(), codec.options)


@each_codec
def test_a_set_of_its_empty_member_survives_the_round_trip(protocol: str) -> None:
    """The empty member has the same text as the empty set."""
    codec = CODECS[protocol]
    members = ColumnInfo(name="s", type=MySQLType.SET, charset="utf8mb4", elements=("", "a"), nullable=False)
    number = ColumnInfo(name="id", type=MySQLType.LONG, nullable=False)
    key = IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
    table = TableInfo(schema="test", name="t", table_id=TABLE_ID, columns=(number, members), indexes=(key,))
    inserts = [insert(table, 1 << 20, (b"%d" % mask, b"%d" % mask)) for mask in range(4)]

    def check(options: Any) -> None:
        _check_round_trip(codec, History(table, inserts), options)

    _holds(20, check, codec.options)


def _check_round_trip(codec: Codec, history: History, options: Any) -> None:
    encoder, decoder = codec.encoder(options), codec.decoder(options, history.table)
    encoded = one_by_one(encode_rows(encoder, history.rows))
    _check_refusals(codec, encoded, history.rows)
    sent = [row for row in encoded if row.refusal is None]
    rows = [row for row, encoding in zip(history.rows, encoded, strict=True) if encoding.refusal is None]
    events = [event for m in framed(encoder, alone(sent)) for event in decoder.events(m.key, m.value)]
    assert len(events) == len(rows)
    for event, row in zip(events, rows, strict=True):
        assert isinstance(event, RowEvent)
        expected = expected_row(row, encoder.fidelity, too_large=event.handle_key_only)
        assert replace(event, row_id=0, claim_check="") == expected
        assert event.row_id in (0, row.row_id)
        assert not event.handle_key_only or options.large_message_handle_option != "none"


def _check_refusals(codec: Codec, encoded: list[OneRow], rows: list[GoldenRow]) -> None:
    for encoding, row in zip(encoded, rows, strict=True):
        if encoding.refusal is not None:
            assert encoding.refusal.code in codec.refuses
            assert (encoding.refusal.table, encoding.refusal.commit_ts) == (
                row.table.qualified_name,
                row.commit_ts,
            )


@_tiers(8, 1_000)
@each_codec
def test_many_rows_are_written_as_each_of_them_alone(protocol: str, examples: int) -> None:
    codec = CODECS[protocol]

    def check(history: History, options: Any) -> None:
        encoder = codec.encoder(options)
        together = one_by_one(encode_rows(encoder, history.rows))
        each = [encoding for row in history.rows for encoding in one_by_one(encode_rows(encoder, [row]))]
        assert list(map(_bytes, together)) == list(map(_bytes, each))

    def _bytes(row: OneRow) -> tuple[object, ...]:
        return row.alone.columns.to_pylist(), str(row.refusal)

    _holds(examples, check, histories(), codec.options)


@st.composite
def _ddls(draw: st.DrawFn) -> DDLEvent:
    return DDLEvent(
        commit_ts=draw(STAMPS),
        schema=draw(NAMES),
        table=draw(NAMES | st.just("")),
        query=draw(TEXTS),
        ddl_type=draw(st.integers(0, 84)),
    )


@_tiers(50, 10_000)
@each_codec
def test_ddls_and_resolved_events_survive_the_round_trip(protocol: str, examples: int) -> None:
    codec = CODECS[protocol]

    def check(ddl: DDLEvent, ts: int, options: Any) -> None:
        encoder, decoder = codec.encoder(options), codec.decoder(options, None)
        sent, rejected = _sent(codec, encoder, ddl)
        assert (sent is None) == (rejected or bool(encoder.fidelity.ddl_skip_reason(ddl.ddl_type)))
        if sent is not None:
            assert list(decoder.events(sent.key, sent.value)) == [expected_ddl(ddl, encoder.fidelity)]
        mark = encoder.resolved(ts)
        assert (mark is not None) == encoder.fidelity.resolved
        if mark is not None:
            assert list(decoder.events(mark.key, mark.value)) == [expected_resolved(ts, encoder.fidelity)]

    _holds(examples, check, _ddls(), STAMPS, codec.options)


def _sent(codec: Codec, encoder: Encoder, ddl: DDLEvent) -> tuple[Message | None, bool]:
    """The message of a DDL, and whether it was rejected."""
    try:
        return encoder.ddl(ddl), False
    except EncodeError:
        return None, "CDC:ErrMessageTooLarge" in codec.refuses


@st.composite
def _messages(draw: st.DrawFn, codec: Codec) -> tuple[Message, Decoder]:
    options, history = draw(codec.options), draw(histories())
    encoder = codec.encoder(options)
    encoded = [row for row in one_by_one(encode_rows(encoder, history.rows)) if row.refusal is None]
    ddl, _ = _sent(codec, encoder, draw(_ddls()))
    messages = [*framed(encoder, alone(encoded)), ddl, encoder.resolved(draw(STAMPS))]
    sent = [message for message in messages if message is not None]
    assume(sent)  # Avro rejects some tables, and then there is no message
    drawn = draw(st.sampled_from(sent))
    return drawn, codec.decoder(options, history.table)


_DAMAGES = 10
"""Number of damaged variants per message."""


@_tiers(8, 1_000)
@each_codec
def test_damage_is_a_decode_error_or_an_event(protocol: str, examples: int) -> None:
    codec = CODECS[protocol]

    def check(sample: tuple[Message, Decoder], data: st.DataObject) -> None:
        message, decoder = sample
        sent = [index for index, part in enumerate((message.key, message.value)) if part is not None]
        for _ in range(_DAMAGES):
            parts = [message.key, message.value]
            hit = data.draw(st.sampled_from(sent))
            parts[hit] = data.draw(damaged(parts[hit] or b""))
            _decodes_or_is_refused(decoder, *parts)

    _holds(examples, check, _messages(codec), st.data())


@_tiers(50, 10_000)
@each_codec
def test_random_bytes_are_a_decode_error_or_an_event(protocol: str, examples: int) -> None:
    codec = CODECS[protocol]
    parts = st.none() | st.binary(max_size=80)

    def check(key: bytes | None, value: bytes | None, options: Any) -> None:
        _decodes_or_is_refused(codec.decoder(options, None), key, value)

    _holds(examples, check, parts, parts, codec.options)


def _decodes_or_is_refused(decoder: Decoder, key: bytes | None, value: bytes | None) -> None:
    """Decoded events can also be printed."""
    size = len(key or b"") + len(value or b"")
    record = Record(topic="t", partition=0, offset=0, key=key, value=value)
    tracemalloc.start()
    try:
        for row in event_rows(record, decoder):
            event_text(row)
            json_line(event_line(row)).encode()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < (4 << 20) + 1000 * size
