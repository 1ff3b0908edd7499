"""Reports of outcomes: text, JSON, JUnit XML, and golden folders of failed cases."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from junitparser import TestCase

from ticdc_producer.conformance.case import Case
from ticdc_producer.conformance.corpus import write_case
from ticdc_producer.conformance.runner import CaseOutcome
from ticdc_producer.errors import ReportError
from ticdc_producer.reports.junit import (
    junit_text,
    passed_case,
    set_failed,
    set_output,
    set_skipped,
)
from ticdc_producer.reports.report import write_text

_OUTCOME = "outcome.json"
_VALUE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d+""")
_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]")
_MAX_NAMED = 10
_LABELS = ("passed", "failed", "skipped", "expected failure", "unexpected success")


def counts(outcomes: Sequence[CaseOutcome]) -> dict[str, int]:
    """Number of outcomes by label."""
    found = Counter(outcome.label for outcome in outcomes)
    return {label: found[label] for label in _LABELS}


def text_lines(outcomes: Sequence[CaseOutcome]) -> Iterator[str]:
    """The unexpected outcomes by cause, the reasons of the first of each, and the counts."""
    causes: dict[tuple[str, str], list[CaseOutcome]] = {}
    for outcome in outcomes:
        if not outcome.expected:
            causes.setdefault((outcome.label, _cause(outcome)), []).append(outcome)
    for first, *others in causes.values():
        yield f"{first.label}: {first.case.id}: {first.case.description}"
        yield from (f"  {printable(line)}" for reason in first.reasons for line in reason.split("\n"))
        if others:
            names = [outcome.case.id for outcome in others[:_MAX_NAMED]]
            more = f" and {len(others) - len(names):,} more" if len(others) > len(names) else ""
            yield f"  likewise: {', '.join(names)}{more}"
    yield ", ".join(f"{label} {count}" for label, count in counts(outcomes).items() if count)


def _cause(outcome: CaseOutcome) -> str:
    """The reasons without what differs from case to case: quoted values and numbers; own if there is none."""
    return _VALUE.sub("…", "\n".join(outcome.reasons)) or outcome.case.id


def printable(text: str) -> str:
    """A text of a consumer with its control characters escaped, so that they do not reach a terminal."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def as_json(outcomes: Sequence[CaseOutcome]) -> dict[str, Any]:
    """``{"ok": bool, "counts": {label: n}, "cases": [{"case", "outcome", "reasons"}…]}``."""
    return {
        "ok": all(outcome.expected for outcome in outcomes),
        "counts": counts(outcomes),
        "cases": [
            {"case": outcome.case.id, "outcome": outcome.label, "reasons": list(outcome.reasons)}
            for outcome in outcomes
        ],
    }


def write_junit(path: Path, outcomes: Sequence[CaseOutcome]) -> None:
    """Write a JUnit report with one test case per case; classes are strength and protocol.

    :raises ReportError: if the file cannot be written.
    """
    write_text(path, junit_text("conformance", map(_junit_case, outcomes)))


def _junit_case(outcome: CaseOutcome) -> TestCase:
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


def _readable(case: Case) -> dict[str, str | None]:
    """Key and value as text, beside the Base64 of ``messages.jsonl``; other bytes than UTF-8 are escaped."""
    parts = {"key": case.request.key, "value": case.request.value}
    return {
        name: None if part is None else b64decode(part).decode("utf-8", "backslashreplace")
        for name, part in parts.items()
    }


def save(folder: Path, outcome: CaseOutcome, command: str) -> Path:
    """Write a failed case as a golden folder named by its id, with the answer and the replay command.

    :returns: the golden folder.
    :raises ReportError: if it cannot be written.
    """
    case, case_folder = outcome.case, folder / outcome.case.id
    content = {
        "replay": replay(command, case.id, case.request.level),
        "says": case.description,
        "reasons": list(outcome.reasons),
        **({"message": _readable(case)} if isinstance(case, Case) else {}),
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
