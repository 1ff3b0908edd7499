"""Avro against the bytes and the schemas of real TiCDC: every file, encoded and decoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GoldenEvent, GoldenResolved, GoldenRow
from tests.protocols.avro_golden import FILES, IDS, VARIANTS, Registry
from tests.protocols.debezium_events import DebeziumDDL, events_of
from tests.protocols.expected_events import expected_ddl, expected_resolved, expected_row
from tests.protocols.golden_messages import Compared, load_messages, row_messages
from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import Event, Message


def test_the_number_of_golden_files() -> None:
    assert len(FILES) == 15 * 3
    assert sum(len(load_messages(path)) for path, _ in FILES) == 441 + 441 + 913


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_events_give_golden_bytes_and_schemas(path: Path, variant: str, compared: Compared) -> None:
    events, registry = events_of(path), Registry()
    encoder = registry.encoder(VARIANTS[variant])
    messages = load_messages(path)
    for message in messages:
        (seq,) = message.events
        if message.error:
            with pytest.raises(EncodeError) as refusal:
                _encoded(encoder, events[seq])
            error = message.error.replace("]", ": ", 1).removeprefix("[")
            assert refusal.value.what.partition(", in column ")[0] == error
            continue
        encoded = _encoded(encoder, events[seq])
        assert encoded is not None
        assert (encoded.key, encoded.value) == (message.key, message.value)
    assert registry.ids == Registry.golden(path).ids
    compared("avro, encoded", len(messages))


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_bytes_give_golden_events(path: Path, variant: str, compared: Compared) -> None:
    events, registry = events_of(path), Registry.golden(path)
    decoder, fidelity = registry.decoder(), registry.encoder(VARIANTS[variant]).fidelity
    messages = [message for message in load_messages(path) if not message.error]
    for message in messages:
        (seq,) = message.events
        assert list(decoder.events(message.key, message.value)) == [_expected(events[seq], fidelity)]
    compared("avro, decoded", len(messages))


def _encoded(encoder, event: GoldenEvent | DebeziumDDL) -> Message | None:
    if isinstance(event, GoldenRow):
        (message,) = row_messages(encoder, [event])
        return message
    if isinstance(event, DebeziumDDL):
        return encoder.ddl(event.event, event.table, event.before)
    assert isinstance(event, GoldenResolved)
    return encoder.resolved(event.commit_ts)


def _expected(event: GoldenEvent | DebeziumDDL, fidelity) -> Event:
    if isinstance(event, GoldenResolved):
        return expected_resolved(event.commit_ts, fidelity)
    if isinstance(event, DebeziumDDL):
        return expected_ddl(event.event, fidelity, event.table, event.before)
    assert isinstance(event, GoldenRow)
    return expected_row(event, fidelity)
