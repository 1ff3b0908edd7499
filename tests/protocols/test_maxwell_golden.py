"""Maxwell against the bytes of real TiCDC: every file, encoded and decoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GOLDEN, GoldenEvent, GoldenRow
from tests.protocols.debezium_events import DebeziumDDL, events_of
from tests.protocols.expected_events import expected_ddl, expected_row
from tests.protocols.golden_messages import Compared, encode_rows, load_messages, row_messages
from ticdc_producer.model.event import Event, Message
from ticdc_producer.protocols.batch_options import WorkerOptions
from ticdc_producer.protocols.maxwell.decoder import MaxwellDecoder
from ticdc_producer.protocols.maxwell.encoder import MaxwellEncoder

VARIANTS = {"maxwell": WorkerOptions(batch_by="partition")}
FILES = sorted((GOLDEN / "visible").glob("*.maxwell.jsonl"))
IDS = [path.name.split(".")[0] for path in FILES]


def test_the_number_of_golden_files() -> None:
    assert len(FILES) == 16


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_golden_events_give_golden_bytes(path: Path, compared: Compared) -> None:
    events, encoder = events_of(path), MaxwellEncoder(VARIANTS["maxwell"])
    expected = [message for message in load_messages(path) if not message.error]
    assert expected
    for message in expected:
        (sent,) = encoded(encoder, [events[seq] for seq in message.events])
        assert (sent.key, sent.value, sent.events) == (message.key, message.value, len(message.events))
    compared("maxwell, encoded", len(expected))


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_golden_bytes_give_golden_events(path: Path, compared: Compared) -> None:
    events, decoder = events_of(path), MaxwellDecoder()
    sent = [message for message in load_messages(path) if not message.error]
    for message in sent:
        decoded = list(decoder.events(message.key, message.value))
        assert decoded == [expected_event(events[seq]) for seq in message.events]
    compared("maxwell, decoded", len(sent))


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_what_ticdc_panics_on_is_not_sent(path: Path) -> None:
    """Its encoder panics on the rows that are refused, and on the DDLs that are left out."""
    events, encoder = events_of(path), MaxwellEncoder(VARIANTS["maxwell"])
    panics = [message for message in load_messages(path) if message.error]
    rows = [event for event in events.values() if isinstance(event, GoldenRow)]
    refused = [
        (rows_of_part[0].seq, refusal.what.partition(", in column ")[0])
        for rows_of_part in ([row] for row in rows)
        for part in encode_rows(encoder, rows_of_part)
        for _, refusal in part.rejected()
    ]
    skipped = [
        event.seq
        for event in events.values()
        if isinstance(event, DebeziumDDL) and not encoded(encoder, [event])
    ]
    of_rows = [message for message in panics if isinstance(events[message.events[0]], GoldenRow)]
    assert sorted(refused) == sorted(
        (message.events[0], message.error.replace("PANIC", "panic")) for message in of_rows
    )
    assert skipped == sorted(message.events[0] for message in panics if message not in of_rows)


def encoded(encoder: MaxwellEncoder, events: list[GoldenEvent | DebeziumDDL]) -> list[Message]:
    rows = [event for event in events if isinstance(event, GoldenRow)]
    if rows:
        return row_messages(encoder, rows)
    (ddl,) = events
    assert isinstance(ddl, DebeziumDDL)
    message = encoder.ddl(ddl.event, ddl.table, ddl.before)
    return [] if message is None else [message]


def expected_event(event: GoldenEvent | DebeziumDDL) -> Event:
    fidelity = MaxwellEncoder().fidelity
    if isinstance(event, DebeziumDDL):
        return expected_ddl(event.event, fidelity)
    assert isinstance(event, GoldenRow)
    return expected_row(event, fidelity)
