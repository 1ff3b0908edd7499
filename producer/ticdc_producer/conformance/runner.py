"""Sends cases to a testee and compares its answers. If the testee crashes, only that case fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from ticdc_producer.conformance.case import Case
from ticdc_producer.conformance.catalog import AnyCase, CaseSpec, FailureList, build_case
from ticdc_producer.conformance.compare import FLOATS, differences, table_differences
from ticdc_producer.conformance.process import Testee, TesteeCrashed
from ticdc_producer.conformance.wire import Answer, InvalidResponse, answer_of
from ticdc_producer.protocols.registry import fidelity

if TYPE_CHECKING:
    from ticdc_producer.conformance.case import TopicCase

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
    on_outcome: Callable[[CaseOutcome], None] = lambda _: None,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[CaseOutcome]:
    """Send all cases to a testee, one after the other.

    :param command: the command that starts the testee.
    :param timeout: seconds for one answer.
    :param on_outcome: called with the outcome of each case.
    :param on_status: called before a case that takes long to build.
    :raises TesteeStartError: if the testee does not start, or does not start again after a crash.
    """
    built = (build_case(one, on_status) for one in cases)
    return asyncio.run(_run(built, Testee(command, timeout), failures, on_outcome))


async def _run(
    cases: Iterable[AnyCase], testee: Testee, failures: FailureList, on_outcome: Callable[[CaseOutcome], None]
) -> list[CaseOutcome]:
    outcomes = []
    try:
        for case in cases:
            outcome = await _outcome(case, testee, failures.expects(case.id))
            outcomes.append(outcome)
            on_outcome(outcome)
        await testee.finish()
    finally:
        await testee.close()
    return outcomes


async def _outcome(case: AnyCase, testee: Testee, listed: bool) -> CaseOutcome:
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


def verify_answer(case: Case | TopicCase, answer: Answer) -> tuple[Status, list[str]]:
    """Whether an answer is the expected one, and the reasons why not, or why the case was skipped."""
    if answer.skipped is not None:
        return "skipped", [answer.skipped]
    if case.expected is None:
        wrong = [] if answer.error is not None else ["events of a damaged message, expected an error"]
    elif answer.error is not None:
        wrong = [f"an error, expected {expected_part(case)}: {answer.error}"]
    elif isinstance(case, Case):
        wrong = differences(case.expected or (), answer.events or [], _floats(case.request.protocol))
    else:
        wrong = table_differences(case.expected, answer.tables or {}, _floats(case.request.protocol))
    return ("failed" if wrong else "passed"), wrong


def expected_part(case: Case | TopicCase) -> Literal["events", "tables"]:
    """The part of an answer that a case requests."""
    return "events" if isinstance(case, Case) else "tables"


@cache
def _floats(protocol: str) -> frozenset[str]:
    """SQL types that arrive as floating point numbers; with Debezium also DECIMAL."""
    return FLOATS | {"decimal"} if fidelity(protocol, {}).float_decimals else FLOATS
