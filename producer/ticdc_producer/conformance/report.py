"""Reports of outcomes: text, JSON, JUnit XML, and golden folders of failed cases."""

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
_LABELS = ("passed", "failed", "skipped", "expected failure", "unexpected success")


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Number of outcomes by label."""
    found = Counter(outcome.label for outcome in outcomes)
    return {label: found[label] for label in _LABELS}


def text_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The unexpected outcomes with their reasons, and the counts."""
    for outcome in outcomes:
        if not outcome.expected:
            yield f"{outcome.label}: {outcome.case.id}: {outcome.case.description}"
            yield from (f"  {line}" for reason in outcome.reasons for line in reason.splitlines())
    yield ", ".join(f"{label} {count}" for label, count in counts(outcomes).items() if count)


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """``{"ok": bool, "counts": {label: n}, "cases": [{"case", "outcome", "reasons"}…]}``."""
    return {
        "ok": all(outcome.expected for outcome in outcomes),
        "counts": counts(outcomes),
        "cases": [
            {"case": outcome.case.id, "outcome": outcome.label, "reasons": list(outcome.reasons)}
            for outcome in outcomes
        ],
    }


def write_junit(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write a JUnit report with one test case per case; classes are strength and protocol.

    :raises ReportError: if the file cannot be written.
    """
    write_text(path, junit_text("conformance", map(_junit_case, outcomes)))


def _junit_case(outcome: Outcome) -> TestCase:
    strength, protocol, name = outcome.case.id.split(".", 2)
    case = passed_case(f"conformance.{strength}.{protocol}", name)
    if not outcome.expected:
        set_failed(case, outcome.case.description, outcome.reasons or (outcome.label,))
    elif outcome.status != "passed":
        set_skipped(case, "; ".join((outcome.label, *outcome.reasons)))
    else:
        set_output(case, [outcome.case.description])
    return case


def replay(command: str, case: str, level: str) -> str:
    """The command that runs one case again."""
    return shlex.join(
        ["ticdc-producer", "conformance", "--level", level, "--testee", command, "--filter", case]
    )


def save(folder: Path, outcome: Outcome, command: str) -> Path:
    """Write a failed case as a golden folder named by its id, with the answer and the replay command.

    :returns: the golden folder.
    :raises ReportError: if it cannot be written.
    """
    case, case_folder = outcome.case, folder / outcome.case.id
    content = {
        "replay": replay(command, case.id, case.request.level),
        "says": case.description,
        "reasons": list(outcome.reasons),
        "answer": outcome.answer,
    }
    try:
        if (case_folder / _OUTCOME).exists():  # written by an earlier run
            shutil.rmtree(case_folder)
        case_folder.mkdir(parents=True)
        write_case(case_folder, case)
    except OSError as error:
        what = f"the failing case cannot be written: {error.strerror}"
        raise ReportError(what, path=str(case_folder)) from None
    write_text(case_folder / _OUTCOME, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return case_folder
