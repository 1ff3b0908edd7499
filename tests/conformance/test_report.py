"""Reports of outcomes: failures by cause, and what a consumer prints on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

from ticdc_producer.conformance.case import build_decode_case
from ticdc_producer.conformance.case_spec import decode_cases
from ticdc_producer.conformance.runner import CaseOutcome, printable, save, text_lines

CASES = [build_decode_case(spec) for spec in decode_cases()[:14]]


def _failed(number: int, reason: str) -> CaseOutcome:
    return CaseOutcome(case=CASES[number], status="failed", reasons=(reason,), answer="{}", listed=False)


def test_failures_of_one_cause_are_printed_once() -> None:
    same = [_failed(number, f"event 0: v is '{number}', expected '1'") for number in range(12)]
    lines = [*text_lines([*same, _failed(12, "event 0: it has no 'table'"), _failed(13, "event 0: v is 3")])]
    assert lines[0] == f"failed: {CASES[0].id}: {CASES[0].description}"
    assert lines[1] == "  event 0: v is '0', expected '1'"
    assert lines[2] == f"  also: {', '.join(case.id for case in CASES[1:11])} and 1 more"
    assert lines[3].startswith(f"failed: {CASES[12].id}: ")
    assert lines[5].startswith(f"failed: {CASES[13].id}: ")
    assert lines[-1] == "failed 14"


def test_control_bytes_of_a_consumer_do_not_reach_the_terminal() -> None:
    (first, second, _) = text_lines([_failed(0, "it printed \x1b[2J\x07\x9b31m\r, and é\tü")])
    assert first.isprintable()
    assert second == "  it printed \\x1b[2J\\x07\\x9b31m\\r, and é\tü"
    assert printable("plain") == "plain"


def test_a_saved_failure_has_its_message_as_text(tmp_path: Path) -> None:
    folder = save(tmp_path, _failed(0, "wrong"), "./consumer")
    message = json.loads((folder / "outcome.json").read_text("utf-8"))["message"]
    line = json.loads((folder / "messages.jsonl").read_text("utf-8").splitlines()[-1])
    assert set(message) == {"key", "value"}
    assert line["value"] not in message["value"]
    assert message["value"].strip()
