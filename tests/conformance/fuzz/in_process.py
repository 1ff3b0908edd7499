"""A function of this process as a testee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ticdc_producer.conformance.fuzz.testee import ExampleResult, FuzzCase, FuzzTestee, Wrong
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.runner import verify_answer
from ticdc_producer.conformance.wire import Answer, ApplyRequest, Request

Respond: TypeAlias = Callable[[Request | ApplyRequest], Answer]


class InProcess(FuzzTestee):
    """A function of this process.

    :param respond: returns the answer to a request; an exception counts as a crash.
    """

    def __init__(self, respond: Respond) -> None:
        self._respond = respond

    async def answer(self, cases: Sequence[FuzzCase]) -> ExampleResult:
        answered = 0
        for case in cases:
            if isinstance(case, RestartCase):  # a function has no process that could be stopped
                continue
            try:
                answer = self._respond(case.request)
            except Exception as error:  # a testee is foreign code, and may do anything
                return ExampleResult(Wrong(case, (f"{type(error).__name__}: {error}",)), answered + 1)
            status, reasons = verify_answer(case, answer)
            answered += status != "skipped"
            if status == "failed":
                return ExampleResult(Wrong(case, tuple(reasons)), answered)
        return ExampleResult(None, answered)
