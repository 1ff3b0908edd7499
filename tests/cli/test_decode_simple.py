"""``decode`` of Simple: rows come with the description of their table, and none is skipped silently."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.golden_events import GOLDEN
from tests.protocols.golden_messages import GoldenMessage, load_messages
from ticdc_producer.cli.app import main

MESSAGES = load_messages(GOLDEN / "visible" / "seed_t1.simple.json.jsonl")
CREATE, ROWS = MESSAGES[0], MESSAGES[2:5]


def _decoded(
    folder: Path, messages: Sequence[GoldenMessage], capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[str]]:
    lines = [
        {"topic": "t", "partition": 0, "offset": offset, "key": None, "headers": [], "timestamp": 0,
         "type": "row", "value": base64.b64encode(message.value or b"").decode()}
        for offset, message in enumerate(messages)
    ]  # fmt: skip
    file = folder / "messages.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code = main(["decode", str(file)])
    return code, capsys.readouterr().out.splitlines()


def test_rows_that_came_first_are_printed_with_the_description(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = _decoded(tmp_path, [*ROWS, CREATE], capsys)
    assert code == 0
    assert len(lines) == 4
    assert all("t/0@3" in line for line in lines)


def test_rows_that_nothing_describes_are_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = _decoded(tmp_path, ROWS, capsys)
    assert code == 1
    assert [f"t/0@{offset}" in line for offset, line in enumerate(lines)] == [True] * 3
    assert all("SIMPLE-UNDESCRIBED" in line for line in lines)
