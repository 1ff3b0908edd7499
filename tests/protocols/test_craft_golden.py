"""Craft against the bytes of real TiCDC: every file and option, encoded and decoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GOLDEN, GoldenEvent, GoldenRow
from tests.protocols.craft_golden import damaged_offsets, encoded, expected, has_float, units, without
from tests.protocols.golden_messages import Compared, GoldenMessage, events_of, load_messages
from ticdc_producer.protocols.batch_options import CraftOptions
from ticdc_producer.protocols.craft.decoder import CraftDecoder
from ticdc_producer.protocols.craft.encoder import CraftEncoder

VARIANTS = {
    "craft.floatfix": CraftOptions(batch_by="partition"),
    "craft.merge.floatfix": CraftOptions(batch_by="partition"),
    "craft.max-batch-size-1": CraftOptions(batch_by="partition", max_batch_size=1),
    "craft.delete-only-handle-key": CraftOptions(
        batch_by="partition", delete_only_output_handle_key_columns=True
    ),
    "craft.merge.max-message-bytes-2048": CraftOptions(batch_by="partition", max_message_bytes=2048),
}
CASES = "craft_cases"
"""The files that come from no SQL."""
FILES = sorted(
    (path, variant)
    for part in ("visible", "fuzz", CASES)
    for variant in VARIANTS
    for path in (GOLDEN / part).glob(f"*.{variant}.jsonl")
)
IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]
KEY_ONLY = "craft.delete-only-handle-key"


def _floats_are_correct(path: Path, variant: str) -> bool:
    """Whether an encoder without the FLOAT bug wrote a file."""
    return variant.endswith("floatfix") or path.parent.name == "fuzz"


def test_all_files_exist() -> None:
    assert len(FILES) == 16 * 4 + 15 + 20 * 2 + 5


@pytest.mark.parametrize(
    ("path", "variant"),
    [
        pytest.param(*file, marks=() if number % 3 == 0 or file[0].parent.name == CASES else pytest.mark.slow)
        for number, file in enumerate(FILES)
    ],
    ids=IDS,
)
def test_golden_events_give_golden_bytes(path: Path, variant: str, compared: Compared) -> None:
    """The slow half has other files; ``test_golden_streams`` compares the messages of all but ``CASES``."""
    events, messages = events_of(path), load_messages(path)
    assert messages
    encoder = CraftEncoder(VARIANTS[variant])
    for unit in units(messages, events):
        sent = encoded(encoder, unit, events)
        offsets: list[list[int]] = [[]] * len(unit)
        if not _floats_are_correct(path, variant):
            offsets = damaged_offsets(encoder, unit, events)
            # Only a few bytes, of floats, are not compared.
            assert [bool(ignored) for ignored in offsets] == [_holds_float(m, events, variant) for m in unit]
        assert [m.key for m in sent] == [m.key for m in unit]
        assert [m.events for m in sent] == [len(m.events) for m in unit]
        assert [without(m.value, p) for m, p in zip(sent, offsets, strict=True)] == [
            without(m.value, p) for m, p in zip(unit, offsets, strict=True)
        ]
    compared("craft, encoded", len(messages))


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_bytes_give_golden_events(path: Path, variant: str, compared: Compared) -> None:
    events, decoder = events_of(path), CraftDecoder()
    fidelity = CraftEncoder(VARIANTS[variant]).fidelity
    read = 0
    for message in load_messages(path):
        if _holds_float(message, events, variant) and not _floats_are_correct(path, variant):
            continue
        assert list(decoder.events(message.key, message.value)) == [
            expected(events[seq], fidelity) for seq in message.events
        ]
        read += 1
    assert read
    compared("craft, decoded", read)


def _holds_float(message: GoldenMessage, events: dict[int, GoldenEvent], variant: str) -> bool:
    rows = [events[seq] for seq in message.events]
    return any(
        isinstance(row, GoldenRow)
        and not (variant == KEY_ONLY and row.op.label == "delete")  # no FLOAT is part of a golden key
        and has_float(row)
        for row in rows
    )
