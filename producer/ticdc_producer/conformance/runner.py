"""Sends cases to a testee, compares its answers, and reports the outcomes."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from junitparser import TestCase

from ticdc_producer.conformance.case import Case
from ticdc_producer.conformance.catalog import AnyCase, CaseSpec, FailureList, build_case
from ticdc_producer.conformance.compare import differences, float_types, table_differences
from ticdc_producer.conformance.corpus import write_case
from ticdc_producer.conformance.process import Testee, TesteeCrashed
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.restart.conversation import Restarter, RestartResult
from ticdc_producer.conformance.wire import Answer, InvalidResponse, answer_of
from ticdc_producer.errors import ReportError
from ticdc_producer.reports.junit import (
    junit_text,
    passed_case,
    set_failed,
    set_output,
    set_skipped,
)
from ticdc_producer.reports.report import write_text

if TYPE_CHECKING:
    from ticdc_producer.conformance.case import ApplyCase, RowsCase
    from ticdc_producer.conformance.storage_case import StorageCase


Status: TypeAlias = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, kw_only=True)
class CaseOutcome:
    """The outcome of a case.

    :param reasons: why it failed or was skipped.
    :param answer: the line that the testee returned; None without an answer.
    :param listed: whether the case is in the failure list.
    """

    case: AnyCase
    status: Status
    reasons: tuple[str, ...] = ()
    answer: str | None = None
    listed: bool = False

    @property
    def expected(self) -> bool:
        """Whether the outcome agrees with the failure list; a skipped case always does."""
        return self.status == "skipped" or (self.status == "failed") == self.listed

    @property
    def label(self) -> str:
        """The status for reports, with regard to the failure list."""
        if self.listed and self.status != "skipped":
            return "expected failure" if self.status == "failed" else "unexpected success"
        return self.status


def run(
    cases: Iterable[CaseSpec],
    command: str,
    *,
    timeout: float,
    failures: FailureList,
    reset: bool = False,
    kafka: str = "",
    on_outcome: Callable[[CaseOutcome], None] = lambda _: None,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[CaseOutcome]:
    """Send all cases to a testee, one after the other.

    :param command: the command that starts the testee.
    :param timeout: seconds for one answer.
    :param reset: whether the process continues at a restart, instead of being killed.
    :param kafka: address of a Kafka to which the testee commits its offsets.
    :param on_outcome: called with the outcome of each case.
    :param on_status: called before a case that takes long to build.
    :raises TesteeStartError: if the testee does not start, or does not start again after a crash.
    """
    built = (build_case(spec, on_status) for spec in cases)
    restarter = Restarter(Testee(command, timeout), reset=reset, kafka=kafka)
    return asyncio.run(_run(built, restarter, failures, on_outcome))


async def _run(
    cases: Iterable[AnyCase],
    restarter: Restarter,
    failures: FailureList,
    on_outcome: Callable[[CaseOutcome], None],
) -> list[CaseOutcome]:
    outcomes = []
    try:
        for case in cases:
            listed = failures.expects(case.id)
            if isinstance(case, RestartCase):
                outcome = _of_restarts(await restarter.run(case), listed)
            else:
                outcome = await _outcome(case, restarter.testee, listed)
            outcomes.append(outcome)
            on_outcome(outcome)
        await restarter.testee.finish()
    finally:
        await restarter.close()
    return outcomes


def _of_restarts(result: RestartResult, listed: bool) -> CaseOutcome:
    reasons = (*result.case.log, *result.reasons) if result.status == "failed" else result.reasons
    return CaseOutcome(
        case=result.case, status=result.status, reasons=reasons, answer=result.answer, listed=listed
    )


async def _outcome(case: Case | ApplyCase | StorageCase, testee: Testee, listed: bool) -> CaseOutcome:
    line: str | None = None
    try:
        raw = await testee.ask(case.request)
        line = raw.decode(errors="backslashreplace").rstrip("\r\n")
        status, reasons = verify_answer(case, answer_of(raw, case.id, expected_part(case)))
    except TesteeCrashed as failure:
        status, reasons = "failed", [str(failure)]
    except InvalidResponse as failure:
        await testee.close()  # its next line may belong to this case
        status, reasons = "failed", [str(failure)]
    return CaseOutcome(case=case, status=status, reasons=tuple(reasons), answer=line, listed=listed)


def verify_answer(case: Case | RowsCase, answer: Answer) -> tuple[Status, list[str]]:
    """Return whether an answer is the expected one, and the reasons why not, or why the case was skipped."""
    if answer.skipped is not None:
        return "skipped", [answer.skipped]
    if case.expected is None:
        wrong = [] if answer.error is not None else ["events of a damaged message, expected an error"]
    elif answer.error is not None:
        wrong = [f"an error, expected {expected_part(case)}: {answer.error}"]
    elif isinstance(case, Case):
        wrong = differences(case.expected or (), answer.events or [], float_types(case.request.protocol))
    else:
        wrong = table_differences(case.expected, answer.tables or {}, float_types(case.request.protocol))
    return ("failed" if wrong else "passed"), wrong


def expected_part(case: Case | RowsCase) -> Literal["events", "tables"]:
    """Return the part of an answer that a case requests."""
    return "events" if isinstance(case, Case) else "tables"


_OUTCOME = "outcome.json"
_VALUE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d+""")
_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]")
_MAX_NAMED = 10
_LABELS = ("passed", "failed", "skipped", "expected failure", "unexpected success")


def counts(outcomes: Sequence[CaseOutcome]) -> dict[str, int]:
    """Return the number of outcomes by label."""
    numbers = Counter(outcome.label for outcome in outcomes)
    return {label: numbers[label] for label in _LABELS}


def text_lines(outcomes: Sequence[CaseOutcome]) -> Iterator[str]:
    """Yield the unexpected outcomes by cause, the reasons of the first of each, and the counts."""
    causes: dict[tuple[str, str], list[CaseOutcome]] = {}
    for outcome in outcomes:
        if not outcome.expected:
            causes.setdefault((outcome.label, cause(outcome)), []).append(outcome)
    for first, *others in causes.values():
        yield f"{first.label}: {first.case.id}: {first.case.description}"
        yield from (f"  {printable(line)}" for reason in first.reasons for line in reason.split("\n"))
        if others:
            names = [outcome.case.id for outcome in others[:_MAX_NAMED]]
            more = f" and {len(others) - len(names):,} more" if len(others) > len(names) else ""
            yield f"  also: {', '.join(names)}{more}"
    yield ", ".join(f"{label} {count}" for label, count in counts(outcomes).items() if count)


def cause(outcome: CaseOutcome) -> str:
    """Return what the reasons of cases that fail alike have in common; the id without a reason."""
    return general("\n".join(outcome.reasons)) or outcome.case.id


def general(reason: str) -> str:
    """Return a reason without quoted values and numbers, which differ from case to case."""
    return _VALUE.sub("…", reason)


def printable(text: str) -> str:
    """Escape the control characters of a consumer's text, so that they do not reach a terminal."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def as_json(outcomes: Sequence[CaseOutcome]) -> dict[str, object]:
    """Return ``{"ok": bool, "counts": {label: n}, "cases": [{"case", "outcome", "reasons"}…]}``."""
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
    """Return the command that runs one case again."""
    return shlex.join(
        ["ticdc-producer", "conformance", "--level", level, "--testee", command, "--filter", case]
    )


def _readable(case: Case) -> dict[str, str | None]:
    """Return key and value as text. Bytes that are not UTF-8 are escaped."""
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
