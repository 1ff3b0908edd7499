"""Simple against the bytes of real TiCDC: every file, encoded and decoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GoldenEvent, GoldenResolved, GoldenRow
from tests.protocols.debezium_events import DebeziumDDL, events_of
from tests.protocols.expected_events import expected_ddl, expected_resolved, expected_row
from tests.protocols.golden_messages import Compared, load_messages
from tests.protocols.simple_golden import FILES, IDS, VARIANTS, comparable, encoded
from ticdc_producer.model.event import Event
from ticdc_producer.protocols.simple.decoder import SimpleDecoder
from ticdc_producer.protocols.simple.encoder import SimpleEncoder

# In TiCDC new architecture, a row of an exchanged table has the version of the partitioned table. No DDL
# message carries the schema of that version, so readers wait for the next BOOTSTRAP message.
WITHOUT_SCHEMA = ("partition.new-simple.json.jsonl", 39)


def test_the_number_of_golden_files() -> None:
    assert len(FILES) == 16 + 20 + 16 + 16
    assert sum(len(load_messages(path)) for path, _ in FILES) == 3194 + 966


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_events_give_golden_bytes(path: Path, variant: str, compared: Compared) -> None:
    events, encoder = events_of(path), SimpleEncoder(VARIANTS[variant])
    messages = load_messages(path)
    ours = [encoded(encoder, events[seq]) for message in messages for seq in message.events]
    assert [(message.key, message.value) for message in ours] == [
        (message.key, comparable(message.value)) for message in messages
    ]
    compared("simple, encoded", len(messages))


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_bytes_give_golden_events(path: Path, variant: str, compared: Compared) -> None:
    events, decoder = events_of(path), SimpleDecoder()
    messages = load_messages(path)
    for message in messages:
        decoded = list(decoder.events(message.key, message.value))
        (seq,) = message.events
        if decoded:
            assert decoded == [_expected(events[seq], SimpleEncoder(VARIANTS[variant]))]
        else:
            assert (path.name, seq) == WITHOUT_SCHEMA
    assert decoder.waiting == (path.name == WITHOUT_SCHEMA[0])
    compared("simple, decoded", len(messages))


def _expected(event: GoldenEvent | DebeziumDDL, encoder: SimpleEncoder) -> Event:
    if isinstance(event, GoldenResolved):
        return expected_resolved(event.commit_ts, encoder.fidelity)
    if isinstance(event, DebeziumDDL):
        return expected_ddl(event.event, encoder.fidelity, event.table, event.before)
    assert isinstance(event, GoldenRow)
    return expected_row(event, encoder.fidelity)
