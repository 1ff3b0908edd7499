"""Testees of random histories."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.conformance.case import Case, TopicCase
from ticdc_producer.conformance.process import Testee
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.restart.conversation import Restarter
from ticdc_producer.conformance.runner import expected_part, verify_answer
from ticdc_producer.conformance.wire import InvalidResponse, answer_of

FuzzCase: TypeAlias = Case | TopicCase | RestartCase


@dataclass(frozen=True, slots=True)
class Wrong:
    """A case that a testee answers wrongly.

    :param reasons: the differences.
    :param answer: the line of the answer; None without one.
    """

    case: FuzzCase
    reasons: tuple[str, ...]
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """The result of an example.

    :param wrong: the first case that the testee answers wrongly; None if there is none.
    :param answered: number of cases that it did not skip.
    :param restarts: number of its starts after a stop.
    """

    wrong: Wrong | None
    answered: int
    restarts: int = 0


class FuzzTestee(ABC):
    """A testee that answers the cases of examples, one after the other."""

    @abstractmethod
    async def answer(self, cases: Sequence[FuzzCase]) -> ExampleResult:
        """Send cases until one is answered wrongly.

        :raises TesteeStartError: if the program does not start.
        """

    @property
    def idle(self) -> float:
        """Seconds in which it had answered all requests and got no further one; 0 if that is not known."""
        return 0.0

    async def close(self) -> None:  # noqa: B027  # not every testee has started something
        """End what the testee has started."""


class Process(FuzzTestee):
    """A program that answers lines.

    The requests of an example are written at once, and its answers are read in their order.

    :param command: the command that starts it.
    :param timeout: seconds for one answer.
    :param reset: whether the process continues at a restart, instead of being killed.
    :param kafka: address of a Kafka to which it commits its offsets.
    """

    def __init__(self, command: str, timeout: float, *, reset: bool = False, kafka: str = "") -> None:
        self._testee = Testee(command, timeout)
        self._restarter = Restarter(self._testee, reset=reset, kafka=kafka)

    async def answer(self, cases: Sequence[FuzzCase]) -> ExampleResult:
        result = await self._answer([case for case in cases if not isinstance(case, RestartCase)])
        for case in cases:
            if isinstance(case, RestartCase) and result.wrong is None:
                outcome = await self._restarter.run(case)
                wrong = Wrong(outcome.case, outcome.reasons, outcome.answer)
                result = ExampleResult(
                    wrong if outcome.status == "failed" else None,
                    result.answered + (outcome.status != "skipped"),
                    result.restarts + outcome.restarts,
                )
        return result

    async def _answer(self, cases: Sequence[Case | TopicCase]) -> ExampleResult:
        if not cases:
            return ExampleResult(None, 0)
        lines, failure = await self._testee.ask_all([case.request for case in cases])
        answered = 0
        for case, raw in zip(cases, lines, strict=False):
            text = raw.decode(errors="backslashreplace").rstrip("\r\n")
            try:
                status, reasons = verify_answer(case, answer_of(raw, case.id, expected_part(case)))
            except InvalidResponse as invalid:
                await self._testee.close()  # its further lines may belong to any case
                status, reasons = "failed", [str(invalid)]
            answered += status != "skipped"
            if status == "failed":
                return ExampleResult(Wrong(case, tuple(reasons), text), answered)
        if failure:
            return ExampleResult(Wrong(cases[len(lines)], (failure,)), answered + 1)
        return ExampleResult(None, answered)

    @property
    def idle(self) -> float:
        return self._testee.idle

    async def close(self) -> None:
        await self._testee.finish()
        await self._restarter.close()
