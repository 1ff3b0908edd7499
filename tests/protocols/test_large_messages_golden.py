"""Large and compressed messages against the bytes of real TiCDC, encoded and decoded.

Where values are compressed the encoders get TiCDC's compressor, as the golden files show it, so that sizes
and thereby the choice of large rows are TiCDC's too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.golden_events import GoldenDDL, GoldenEvent, GoldenResolved, GoldenRow
from tests.protocols import canal_json_messages, debezium_events
from tests.protocols.golden_messages import encode_other, events_of, load_messages, row_messages
from tests.protocols.large_messages import LargeFile, files, text_of
from tests.protocols.test_debezium_golden import encoded as debezium_encoded
from tests.protocols.test_open_golden import _units
from tests.tiers import one_in
from ticdc_producer.model.event import Event, Message, RowEvent
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.batch_options import OpenOptions
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.compression import claimed_message
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
from ticdc_producer.protocols.row_options import CanalJSONOptions, DebeziumOptions

OPEN, CANAL, DEBEZIUM = files("open"), files("canal-json"), files("debezium")


# Rows whose compressed size depends on the random order of mysqlType. TiCDC's message with one order was over
# the limit and is in no file; the other files contain another order.
_NEAR = "canal-json.tidb-extension.max-message-bytes-512.handle-key-only.compression-snappy"
NEAR_THE_LIMIT = {f"ddl_many.{_NEAR}": {18}, f"generated_defaults.{_NEAR}": {2}}


def _id(file: LargeFile) -> str:
    return file.id


def test_all_files_exist() -> None:
    assert (len(OPEN), len(CANAL), len(DEBEZIUM)) == (6 * 15 + 16 * 6, 6 * 21 + 16 * 8, 6 * 2)
    assert sum(len(load_messages(file.path)) for file in (*OPEN, *CANAL, *DEBEZIUM)) == 26585
    assert sum(len(file.claims()) for file in (*OPEN, *CANAL)) == 755


@pytest.mark.usefixtures("compressor")
@pytest.mark.parametrize("file", one_in(7, ([file] for file in OPEN)), ids=map(_id, OPEN))
def test_open_protocol_gives_golden_bytes(file: LargeFile) -> None:
    """The slow half has the other files; tests of ``pipeline`` compare the messages of all, from SQL."""
    events, claims = events_of(file.events), file.claims()
    encoder = OpenEncoder(OpenOptions(batch_by="partition", **file.options), name_claim=_names(file))
    messages: list[Message] = []
    expected = load_messages(file.path)
    for unit in _units(expected, events):
        tested_events = [events[seq] for message in unit for seq in message.events]
        messages += row_messages(encoder, [event for event in tested_events if isinstance(event, GoldenRow)])
        others = [encode_other(encoder, event) for event in tested_events if not isinstance(event, GoldenRow)]
        messages += filter(None, others)
    assert _bytes(messages) == [(message.key, message.value) for message in expected]
    assert _claims(messages) == [(claim.name, claim.content) for claim in claims]


@pytest.mark.usefixtures("compressor")
@pytest.mark.parametrize("file", one_in(5, ([file] for file in CANAL)), ids=map(_id, CANAL))
def test_canal_json_gives_golden_bytes(file: LargeFile) -> None:
    """The slow half has the other files; tests of ``pipeline`` compare the messages of all, from SQL."""
    events = canal_json_messages.events_of(file.events)
    options = CanalJSONOptions(
        enable_tidb_extension="tidb-extension" in file.variant,
        build_ts_ms=canal_json_messages.BUILD_TS_MS,
        claim_check_raw_value="raw-value" in file.variant,
        **file.options,
    )
    encoder = CanalJSONEncoder(options, name_claim=_names(file))
    messages = _one_by_one(encoder, list(events.values()))
    expected = load_messages(file.path)
    differ = {
        message.events[0]
        for message, sent in zip(expected, messages, strict=True)
        if (message.key, text_of(message.value or b"")) != (sent.key, text_of(sent.value or b""))
    }
    assert differ == NEAR_THE_LIMIT.get(file.id, set())
    assert [(name, content_of(content)) for name, content in _claims(messages)] == [
        (claim.name, content_of(claim.content)) for claim in file.claims()
    ]


@pytest.mark.usefixtures("compressor")
@pytest.mark.parametrize("file", DEBEZIUM, ids=_id)
def test_debezium_gives_golden_bytes(file: LargeFile) -> None:
    events = debezium_events.events_of(file.events)
    options = DebeziumOptions(
        output_ddl=True, build_ts_ms=946684800000, large_message_handle_compression=file.compression
    )
    encoder = DebeziumEncoder(options)
    for message in load_messages(file.path):
        if not message.error:
            (seq,) = message.events
            sent = debezium_encoded(encoder, events[seq])
            assert sent is not None
            assert (sent.key, sent.value) == (message.key, message.value)


PLAIN = {"open": OpenDecoder, "canal-json": CanalJSONDecoder, "debezium": DebeziumDecoder}


@pytest.mark.parametrize("file", [*OPEN, *CANAL, *DEBEZIUM], ids=_id)
def test_golden_bytes_give_the_events_of_the_plain_file(file: LargeFile) -> None:
    """Each row is complete or reduced to its handle key; its claim-check object makes it complete."""
    decoder = PLAIN[file.protocol]()
    whole = _plain_events(file.protocol, file.plain)
    claims = {claim.name: claim.content for claim in file.claims()}
    seen = []
    for message in load_messages(file.path):
        if message.error:
            continue
        for seq, event in zip(message.events, decoder.events(message.key, message.value), strict=True):
            if isinstance(event, RowEvent) and event.claim_check:
                content = claims[event.claim_check.rpartition("/")[2]]
                assert event.handle_key_only
                (stored,) = decoder.events(*claimed_message(content))
                assert stored == whole[seq]
                seen.append(seq)
            elif isinstance(event, RowEvent) and event.handle_key_only:
                _check_handle_key(event, whole[seq])
                seen.append(seq)
            else:
                assert event == whole[seq]
    assert not seen or file.handle != "none"
    assert len(claims) == (len(seen) if file.handle == "claim-check" else 0)


def _check_handle_key(event: RowEvent, whole: Event) -> None:
    assert isinstance(whole, RowEvent)
    assert (event.commit_ts, event.table, event.op) == (whole.commit_ts, whole.table, whole.op)
    for sent, full in ((event.before, whole.before), (event.after, whole.after)):
        assert (sent is None) == (full is None)
        assert dict(sent or {}).items() <= dict(full or {}).items()
    assert 0 < len(event.columns) < len(whole.columns)


@cache
def _plain_events(protocol: str, path: Path) -> Mapping[int, Event]:
    """The events of a file without compression and size limit."""
    decoder = PLAIN[protocol]()
    return {
        seq: event
        for message in load_messages(path)
        if not message.error
        for seq, event in zip(message.events, decoder.events(message.key, message.value), strict=True)
    }


def _names(file: LargeFile) -> Callable[[bytes], str]:
    """Gives objects the golden names, in order."""
    names = iter([claim.name for claim in file.claims()])
    return lambda _: next(names)


def _one_by_one(encoder: Encoder, events: list[GoldenEvent]) -> list[Message]:
    rows = [event for event in events if isinstance(event, GoldenRow)]
    by_seq: dict[int, Message | None] = {
        row.seq: message for row, message in zip(rows, row_messages(encoder, rows), strict=True)
    }
    for event in events:
        if isinstance(event, GoldenDDL | GoldenResolved):
            by_seq[event.seq] = encode_other(encoder, event)
    return [message for _, message in sorted(by_seq.items()) if message is not None]


def _bytes(messages: list[Message]) -> list[tuple[bytes | None, bytes | None]]:
    return [(message.key, message.value) for message in messages]


def _claims(messages: list[Message]) -> list[tuple[str, bytes]]:
    return [(claim.name, claim.content) for message in messages for claim in message.claims]


def content_of(content: bytes) -> tuple[tuple[str, ...], bytes]:
    """A Canal-JSON object in comparable form: its keys, and the text of its value."""
    if not content.startswith(b'{"key":'):
        return (), text_of(content)
    wrapped = json.loads(content)
    assert wrapped["key"] is None
    return tuple(wrapped), text_of(base64.b64decode(wrapped["value"]))
