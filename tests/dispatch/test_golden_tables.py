"""Tables built from the golden events give the flags and handle keys that TiCDC computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GoldenRow, event_files, load_events

FILES = event_files()


def test_the_golden_data_has_36_files() -> None:
    assert len(FILES) == 36


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_flags_handle_key_and_image_width(path: Path) -> None:
    events = list(load_events(path))
    assert events
    for row in events:
        if not isinstance(row, GoldenRow):
            continue
        assert row.table.flags == row.flags, row.table.qualified_name
        handle = row.table.handle_index
        names = [row.table.columns[offset].name for offset in handle.offsets] if handle else []
        assert sorted(names) == sorted(row.handle_key_columns)
        for image in (row.before, row.after):
            assert image is None or len(image) == len(row.table.sent)
