"""Canal-JSON against the bytes of real TiCDC: every file and option, encoded and decoded."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.golden_events import GoldenDDL, GoldenEvent, GoldenResolved, GoldenRow
from tests.protocols.canal_json_messages import FILES, VARIANTS, events_of, in_column_order
from tests.protocols.expected_events import expected_ddl, expected_resolved, expected_row
from tests.protocols.golden_messages import Compared, encode_other, load_messages, row_messages
from tests.tiers import one_in
from ticdc_producer.model.event import Event, RowEvent
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder, CanalJSONFidelity

IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]


def test_all_files_exist() -> None:
    assert len(FILES) == 16 * 4 + 15 * 3 + 20 * 3 + 16 * 6
    assert sum(len(load_messages(path)) for path, _ in FILES) == 7901 + 5046


@pytest.mark.parametrize(("path", "variant"), one_in(5, FILES), ids=IDS)
def test_golden_events_give_golden_bytes(path: Path, variant: str, compared: Compared) -> None:
    """The slow half has the other files; ``test_golden_streams`` compares the messages of all, from SQL."""
    events, messages = events_of(path), load_messages(path)
    encoder = CanalJSONEncoder(VARIANTS[variant])
    rows = [event for event in events.values() if isinstance(event, GoldenRow)]
    encoded = row_messages(encoder, rows)
    by_seq = dict(zip((row.seq for row in rows), encoded, strict=True))
    for event in events.values():
        if not isinstance(event, GoldenRow):
            by_seq[event.seq] = encode_other(encoder, event)
    sent = [message for _, message in sorted(by_seq.items()) if message is not None]
    assert [(message.key, message.value) for message in sent] == [
        (message.key, in_column_order(message.value or b"")) for message in messages
    ]
    compared("canal-json, encoded", len(messages))


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_bytes_give_golden_events(path: Path, variant: str, compared: Compared) -> None:
    events, decoder = events_of(path), CanalJSONDecoder()
    fidelity = CanalJSONEncoder(VARIANTS[variant]).fidelity
    messages = load_messages(path)
    for message in messages:
        (decoded,) = decoder.events(message.key, message.value)
        (seq,) = message.events
        expected = _expected(events[seq], fidelity, TOO_LARGE in (message.value or b""))
        assert decoded == expected
        assert _order(decoded) == _order(expected)
    compared("canal-json, decoded", len(messages))


TOO_LARGE = b'"onlyHandleKey":true'


def test_some_rows_were_too_large() -> None:
    values = [message.value or b"" for path, _ in FILES for message in load_messages(path)]
    assert sum(TOO_LARGE in value for value in values) == 14 + 136


def _order(event: Event) -> tuple[list[str], list[str]]:
    """Names in both images; equality of mappings ignores their order."""
    return (list(event.before or ()), list(event.after or ())) if isinstance(event, RowEvent) else ([], [])


def _expected(event: GoldenEvent, fidelity: CanalJSONFidelity, too_large: bool) -> Event:
    if isinstance(event, GoldenResolved):
        return expected_resolved(event.commit_ts, fidelity)
    if isinstance(event, GoldenDDL):
        return expected_ddl(event, fidelity)
    assert isinstance(event, GoldenRow)
    row = expected_row(event, fidelity, too_large=too_large)
    return replace(row, table_id=event.table_id, row_id=event.row_id) if fidelity.table_ids == "all" else row
