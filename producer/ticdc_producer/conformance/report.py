"""Outcomes for people, for machines, for CI systems, and as files that replay what failed."""

from __future__ import annotations

import json
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from junitparser import TestCase

from ticdc_producer.conformance.case_folder import write_case
from ticdc_producer.conformance.runner import Outcome
from ticdc_producer.errors import ReportError
from ticdc_producer.reports.junit_suite import junit_text, passed_case, set_failed, set_output, set_skipped
from ticdc_producer.reports.target import write_text

_OUTCOME = "outcome.json"
_WORDS = ("passed", "failed", "skipped", "expected failure", "unexpected success")


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many outcomes there are of each word."""
    found = Counter(outcome.word for outcome in outcomes)
    return {word: found[word] for word in _WORDS}


def text_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What is not as expected, with its reasons, and the counts."""
    for outcome in outcomes:
        if not outcome.expected:
            yield f"{outcome.word}: {outcome.case.id}: {outcome.case.says}"
            yield from (f"  {line}" for reason in outcome.reasons for line in reason.splitlines())
    yield ", ".join(f"{word} {count}" for word, count in counts(outcomes).items() if count)


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """``{"ok": bool, "counts": {word: n}, "cases": [{"case", "outcome", "reasons"}…]}``."""
    return {
        "ok": all(outcome.expected for outcome in outcomes),
        "counts": counts(outcomes),
        "cases": [
            {"case": outcome.case.id, "outcome": outcome.word, "reasons": list(outcome.reasons)}
            for outcome in outcomes
        ],
    }


def write_junit(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write a JUnit report: a test case per case, by strength and protocol.

    :raises ReportError: if the file cannot be written.
    """
    write_text(path, junit_text("conformance", map(_junit_case, outcomes)))


def _junit_case(outcome: Outcome) -> TestCase:
    strength, protocol, name = outcome.case.id.split(".", 2)
    case = passed_case(f"conformance.{strength}.{protocol}", name)
    if not outcome.expected:
        set_failed(case, outcome.case.says, outcome.reasons or (outcome.word,))
    elif outcome.status != "passed":
        set_skipped(case, "; ".join((outcome.word, *outcome.reasons)))
    else:
        set_output(case, [outcome.case.says])
    return case


def replay(command: str, case: str, level: str) -> str:
    """The command that asks one case again."""
    words = ["ticdc-producer", "conformance", "--level", level, "--testee", command, "--filter", case]
    return shlex.join(words)


def save(folder: Path, outcome: Outcome, command: str) -> Path:
    """Write a failing case as a golden folder, named by its id, with the answer and what replays it.

    :raises ReportError: if it cannot be written.
    """
    case, place = outcome.case, folder / outcome.case.id
    content = {
        "replay": replay(command, case.id, case.request.level),
        "says": case.says,
        "reasons": list(outcome.reasons),
        "answer": outcome.answer,
    }
    try:
        if (place / _OUTCOME).exists():  # of an earlier run
            shutil.rmtree(place)
        place.mkdir(parents=True)
        write_case(place, case)
    except OSError as error:
        what = f"the failing case cannot be written: {error.strerror}"
        raise ReportError(what, path=str(place)) from None
    write_text(place / _OUTCOME, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return place
