"""Cases in, outcomes out: each is asked, and what breaks the testee costs that case alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ticdc_producer.conformance.case import Case
from ticdc_producer.conformance.catalog import AnyCase, Asked, built
from ticdc_producer.conformance.compare import FLOATS, differences
from ticdc_producer.conformance.compare_tables import table_differences
from ticdc_producer.conformance.failure_list import FailureList
from ticdc_producer.conformance.process import Broken, Testee
from ticdc_producer.conformance.wire import Answer, BadAnswer, answer_of

Status: TypeAlias = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a case.

    :param reasons: why it failed or was skipped.
    :param answer: the testee's line as it came; None where none came.
    :param listed: whether it is in the list of expected failures.
    """

    case: AnyCase
    status: Status
    reasons: tuple[str, ...] = ()
    answer: str | None = None
    listed: bool = False

    @property
    def expected(self) -> bool:
        """Whether it is as the failure list has it; a skipped case always is."""
        return self.status == "skipped" or (self.status == "failed") == self.listed

    @property
    def word(self) -> str:
        """For reports: the status, or what is not as expected."""
        if self.listed and self.status != "skipped":
            return "expected failure" if self.status == "failed" else "unexpected success"
        return self.status


def run(
    cases: Iterable[Asked],
    command: str,
    *,
    timeout: float,
    failures: FailureList,
    told: Callable[[Outcome], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Ask a testee all cases, one after the other.

    :param command: that starts the testee.
    :param timeout: seconds for one answer.
    :param told: is called with each outcome as it comes.
    :param say: is told when making a case takes long.
    :raises NoTesteeError: if the testee does not start, or not again.
    """
    made = (built(one, say) for one in cases)
    return asyncio.run(_run(made, Testee(command, timeout), failures, told))


async def _run(
    cases: Iterable[AnyCase], testee: Testee, failures: FailureList, told: Callable[[Outcome], None]
) -> list[Outcome]:
    outcomes = []
    try:
        for case in cases:
            outcome = await _outcome(case, testee, failures.expects(case.id))
            outcomes.append(outcome)
            told(outcome)
        await testee.finish()
    finally:
        await testee.close()
    return outcomes


async def _outcome(case: AnyCase, testee: Testee, listed: bool) -> Outcome:
    line: str | None = None
    try:
        given = await testee.ask(case.request)
        line = given.decode(errors="backslashreplace").rstrip("\r\n")
        status, reasons = _judged(case, answer_of(given, case.id, _wanted(case)))
    except Broken as failure:
        status, reasons = "failed", [str(failure)]
    except BadAnswer as failure:
        await testee.close()  # what it says next may belong to this case
        status, reasons = "failed", [str(failure)]
    return Outcome(case=case, status=status, reasons=tuple(reasons), answer=line, listed=listed)


def _judged(case: AnyCase, answer: Answer) -> tuple[Status, list[str]]:
    if answer.skipped is not None:
        return "skipped", [answer.skipped]
    if case.expected is None:
        wrong = [] if answer.error is not None else ["events of a damaged message, expected an error"]
    elif answer.error is not None:
        wrong = [f"an error, expected {_wanted(case)}: {answer.error}"]
    elif isinstance(case, Case):
        wrong = differences(case.expected or (), answer.events or [], _floats(case.request.protocol))
    else:
        wrong = table_differences(case.expected, answer.tables or {}, _floats(case.request.protocol))
    return ("failed" if wrong else "passed"), wrong


def _wanted(case: AnyCase) -> Literal["events", "tables"]:
    return "events" if isinstance(case, Case) else "tables"


def _floats(protocol: str) -> frozenset[str]:
    """Types that arrive as floating point numbers: of Debezium DECIMAL, too."""
    return FLOATS | {"decimal"} if protocol == "debezium" else FLOATS
