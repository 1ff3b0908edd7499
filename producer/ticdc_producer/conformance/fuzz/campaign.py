"""Sends random examples to a testee until one fails, and shrinks it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter

from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.shrink import Failure, shrunk
from ticdc_producer.conformance.fuzz.steering import Steering
from ticdc_producer.conformance.fuzz.stream import BuiltExample, ExampleStream, Settings
from ticdc_producer.conformance.fuzz.testee import ExampleResult, FuzzTestee
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.errors import ProducerError

_SKIPS_PROTOCOL = 3
"""A protocol is left out once all cases of its first examples, this number of them, were skipped."""
_FEW = 200
"""Examples that are built in the time in which a process starts."""


@dataclass(frozen=True, kw_only=True)
class CampaignLimits:
    """The limits at which a campaign ends without a failure.

    :param examples: number of examples; None: no limit.
    :param seconds: time; None: no limit.
    """

    examples: int | None = None
    seconds: float | None = None


@dataclass(kw_only=True)
class Report:
    """The result of a campaign.

    :param regressions: number of examples of earlier failures.
    :param cases: number of cases that the testee did not skip.
    :param restarts: number of starts of the testee after a stop, at the restart level.
    :param rejected: number of drawn examples without a valid topic.
    :param seconds: time in all.
    :param idle: the part of ``exchange`` in which the testee had no request to answer.
    :param exchange: time from the first request of a random example to the last answer.
    :param skipped: protocols that the testee does not have.
    """

    steering: Steering
    regressions: int = 0
    examples: int = 0
    cases: int = 0
    restarts: int = 0
    rejected: int = 0
    seconds: float = 0.0
    idle: float = 0.0
    exchange: float = 0.0
    skipped: list[ProtocolName] = field(default_factory=list)
    failure: Failure | None = None


def run_campaign(
    testee: FuzzTestee,
    settings: Settings,
    limits: CampaignLimits,
    *,
    processes: int = 0,
    regressions: Iterable[FuzzExample] = (),
    on_status: Callable[[str], None] = lambda _: None,
) -> Report:
    """Send the examples of earlier failures, then random ones, and shrink the first one that fails.

    :param processes: number of processes that build examples while the testee answers; 0: this process
        builds them. The examples are the same. A campaign of few examples ends before such processes start.
    :param on_status: called with a line of text before something that takes long.
    :raises TesteeStartError: if the testee does not start.
    """
    few = limits.examples is not None and limits.examples <= _FEW
    stream = ExampleStream(settings, processes=0 if few else processes, examples=limits.examples)
    try:
        return asyncio.run(_Campaign(testee, settings, limits, stream, on_status).run(regressions))
    finally:
        stream.close()


class _Campaign:
    def __init__(
        self,
        testee: FuzzTestee,
        settings: Settings,
        limits: CampaignLimits,
        stream: ExampleStream,
        on_status: Callable[[str], None],
    ) -> None:
        self._testee, self._limits, self._on_status = testee, limits, on_status
        self._report = Report(steering=Steering(settings.protocols))
        self._stream = stream
        self._skipped = dict.fromkeys(settings.protocols, 0)
        self._started = perf_counter()

    async def run(self, regressions: Iterable[FuzzExample]) -> Report:
        report = self._report
        try:
            await self._regressions(regressions)
            if report.failure is None:
                await self._random_examples()
        finally:
            await self._testee.close()
        report.rejected = self._stream.rejected
        report.seconds = perf_counter() - self._started
        return report

    async def _regressions(self, examples: Iterable[FuzzExample]) -> None:
        for example in examples:
            try:
                topic = build_topic(example)
            except ProducerError:  # an earlier version of this tool wrote it
                continue
            self._report.regressions += 1
            verdict = await self._testee.answer([*topic.cases("regression")])
            if verdict.wrong is not None:
                await self._fail(0, example, verdict)
                return

    async def _random_examples(self) -> None:
        """Send random examples. While the testee answers one, the next one is built."""
        built = await self._stream.next() if self._continues else None
        started, idle = perf_counter(), self._testee.idle
        while built is not None:
            self._report.examples += 1
            answering = asyncio.create_task(self._testee.answer(built.cases))
            await asyncio.sleep(0)
            following = await self._stream.next() if self._continues else None
            verdict = await answering
            self._report.exchange = perf_counter() - started
            self._report.idle = self._testee.idle - idle
            if verdict.wrong is not None:
                await self._fail(built.number, built.example, verdict)
                return
            self._record(built, verdict)
            built = following if self._stream.protocols else None

    @property
    def _continues(self) -> bool:
        examples, seconds = self._limits.examples, self._limits.seconds
        in_time = seconds is None or perf_counter() - self._started < seconds
        return in_time and (examples is None or self._report.examples < examples)

    def _record(self, built: BuiltExample, verdict: ExampleResult) -> None:
        protocol = built.example.protocol
        self._report.cases += verdict.answered
        self._report.restarts += verdict.restarts
        if verdict.answered:
            self._report.steering.record(built.example, built.traps)
            self._stream.survived(built)
            self._skipped[protocol] = -1
        elif built.cases and self._skipped[protocol] >= 0:
            self._skipped[protocol] += 1
            if self._skipped[protocol] == _SKIPS_PROTOCOL:
                self._stream.leave_out(protocol)
                self._report.skipped.append(protocol)

    async def _fail(self, number: int, example: FuzzExample, verdict: ExampleResult) -> None:
        if verdict.wrong is None:
            return
        if not number:  # an earlier run has shrunk it
            self._report.failure = Failure(
                number=0, original=example, smallest=example, wrong=verdict.wrong, tries=0
            )
            return
        self._on_status(f"example {number} fails, with {example.statements} statements: shrinking it")
        self._report.failure = await shrunk(self._testee, example, verdict.wrong, number=number)
