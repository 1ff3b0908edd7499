"""Canal against the bytes of real TiCDC: every file and option, encoded and decoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GOLDEN, GoldenDDL, GoldenEvent, GoldenRow
from tests.protocols.canal_json_messages import events_of
from tests.protocols.expected_events import expected_ddl, expected_row
from tests.protocols.golden_messages import Compared, encode_other, load_messages, row_messages
from ticdc_producer.model.event import Event, Message
from ticdc_producer.protocols.batch_options import WorkerOptions
from ticdc_producer.protocols.canal.decoder import CanalDecoder
from ticdc_producer.protocols.canal.encoder import CanalEncoder

VARIANTS = {
    "canal": WorkerOptions(batch_by="partition"),
    "canal.delete-only-handle-key": WorkerOptions(
        batch_by="partition", delete_only_output_handle_key_columns=True
    ),
}
FILES = sorted(
    (path, variant) for variant in VARIANTS for path in (GOLDEN / "visible").glob(f"*.{variant}.jsonl")
)
IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]


def test_the_number_of_golden_files() -> None:
    assert len(FILES) == 16 + 15


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_events_give_golden_bytes(path: Path, variant: str, compared: Compared) -> None:
    events, encoder = events_of(path), CanalEncoder(VARIANTS[variant])
    messages = load_messages(path)
    assert messages
    for message in messages:
        sent = encoded(encoder, [events[seq] for seq in message.events])
        assert (sent.key, sent.value, sent.events) == (message.key, message.value, len(message.events))
    compared("canal, encoded", len(messages))


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_bytes_give_golden_events(path: Path, variant: str, compared: Compared) -> None:
    events, decoder = events_of(path), CanalDecoder()
    fidelity = CanalEncoder(VARIANTS[variant]).fidelity

    def expected(event: GoldenEvent) -> Event:
        if isinstance(event, GoldenDDL):
            return expected_ddl(event, fidelity)
        assert isinstance(event, GoldenRow)
        return expected_row(event, fidelity)

    messages = load_messages(path)
    for message in messages:
        decoded = list(decoder.events(message.key, message.value))
        assert decoded == [expected(events[seq]) for seq in message.events]
    compared("canal, decoded", len(messages))


def encoded(encoder: CanalEncoder, events: list[GoldenEvent]) -> Message:
    """The message of one Build call."""
    rows = [event for event in events if isinstance(event, GoldenRow)]
    if rows:
        (message,) = row_messages(encoder, rows)
        return message
    (ddl,) = events
    assert isinstance(ddl, GoldenDDL)
    other = encode_other(encoder, ddl)
    assert other is not None
    return other
