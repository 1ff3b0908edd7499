"""Leads the conversations of a case of the restart level: the lives of the consumer, and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from ticdc_producer.conformance.compare import float_types, table_differences
from ticdc_producer.conformance.delivery import delivery_text
from ticdc_producer.conformance.process import Testee
from ticdc_producer.conformance.restart.case import PlannedStep, RestartCase
from ticdc_producer.conformance.restart.plan import Life, Plan, Stop, TracedStep, plans
from ticdc_producer.conformance.restart.wire import (
    KafkaGroup,
    RestartAnswer,
    RestartDeliver,
    RestartRows,
    RestartStart,
    RestartStep,
    restart_answer,
)
from ticdc_producer.conformance.wire import InvalidResponse

if TYPE_CHECKING:
    from ticdc_producer.targets.kafka.consumer_group import ConsumerGroups

Status: TypeAlias = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, kw_only=True)
class RestartResult:
    """The result of a case.

    :param case: with the plan and the log of the failure, if it failed.
    :param reasons: why it failed or was skipped.
    :param answer: the line of the wrong answer; None without one.
    :param restarts: number of starts after a stop.
    """

    case: RestartCase
    status: Status
    reasons: tuple[str, ...] = ()
    answer: str | None = None
    restarts: int = 0


class Restarter:
    """A testee that is stopped and started again.

    :param testee: the process.
    :param reset: whether the process continues at a stop. It gets the start of the next life, and has to
        forget everything that is not in its directory. Otherwise it is killed.
    :param kafka: address of a Kafka to which the testee commits its offsets; empty: it reports them in its
        answers.
    """

    def __init__(self, testee: Testee, *, reset: bool, kafka: str = "") -> None:
        self.testee, self._reset = testee, reset
        self._groups = _groups(kafka) if kafka else None
        self._directories = TemporaryDirectory(prefix="ticdc-producer-restart-")
        self._number = 0

    async def run(self, case: RestartCase) -> RestartResult:
        """Run a case with each of its plans until one fails.

        :raises TesteeStartError: if the program does not start.
        """
        conversation = await self._run_plan(case, case.lives or ())
        restarts = conversation.restarts
        if case.lives is None and conversation.status == "passed":
            for plan in plans(conversation.trace, case.partitions, Random(case.seed)):
                if len(plan) > case.max_stops:
                    break
                conversation = await self._run_plan(case, plan)
                restarts += conversation.restarts
                if conversation.status != "passed":
                    break
        return RestartResult(
            case=replace(case, lives=conversation.plan, log=tuple(conversation.log)),
            status=conversation.status,
            reasons=tuple(conversation.reasons),
            answer=conversation.line,
            restarts=restarts,
        )

    async def _run_plan(self, case: RestartCase, plan: Plan) -> _Conversation:
        with TemporaryDirectory(dir=self._directories.name) as directory:
            conversation = _Conversation(case, plan, Path(directory), self.testee, self._groups)
            for life in (*plan, Life()):
                stopped = await conversation.live(life)
                if not self._reset or conversation.status == "failed":
                    await self.testee.close()
                if not stopped or conversation.status != "passed":
                    break
            return conversation

    async def close(self) -> None:
        """Kill the process and remove the directories."""
        await self.testee.close()
        self._directories.cleanup()


@dataclass
class _Conversation:
    """The lives of one plan in one directory.

    :ivar trace: the steps of the latest life, if the plan has no stop.
    :ivar line: the latest line of the testee.
    """

    case: RestartCase
    plan: Plan
    directory: Path
    testee: Testee
    groups: ConsumerGroups | None = None
    status: Status = "passed"
    reasons: list[str] = field(default_factory=list)
    line: str | None = None
    log: list[str] = field(default_factory=list)
    restarts: int = -1
    trace: list[TracedStep] = field(default_factory=list)
    _committed: dict[str, int] = field(default_factory=dict)
    _reached: int = 0
    _at_resolved: bool = True
    _group: str = ""

    async def live(self, life: Life) -> bool:
        """Run a life; return whether another one follows: the testee was stopped, or lacks partitions."""
        self.restarts += 1
        assigned = list(life.assigned) or self.case.partitions
        start = self.case.start(str(self.directory), assigned, self._committed)
        if self.groups is not None:
            try:
                start = self._start_of_group(start, self.groups)
            except InvalidResponse as invalid:
                self._fail(str(invalid))
                return False
        answer = await self._exchange([start])
        if answer is None:
            return False
        offsets = {name: (answer.offsets or {}).get(name, self._committed.get(name, 0)) for name in assigned}
        self.trace = [TracedStep(step=0, points=())]
        positions = {**self._committed, **offsets}
        steps = self.case.steps(assigned, positions, reached=self._reached, at_resolved=self._at_resolved)
        sent, stop = _until(steps, life.stop)
        self._reached = max([self._reached, *(step.reached for step in sent)])
        last = await self._exchange([step.request for step in sent], sent)
        self._record(assigned, sent, stop, last)
        lacks = set(assigned) != set(self.case.partitions)
        return self.status == "passed" and (stop is not None or lacks)

    def _start_of_group(self, start: RestartStart, groups: ConsumerGroups) -> RestartStart:
        """Return the start with what Kafka has of the earlier lives."""
        self._group = self._group or groups.new_group(self.case.request.partitions)
        names = [
            (topic, int(number))
            for topic, _, number in (name.rpartition("/") for name in self.case.partitions)
        ]
        stored = groups.committed(self._group, names)
        self._committed = {f"{topic}/{number}": offset for (topic, number), offset in stored.items()}
        self._check_offsets(self._committed)
        group = KafkaGroup(bootstrap=groups.bootstrap, group=self._group)
        return msgspec.structs.replace(start, committed=dict(self._committed), kafka=group)

    async def _exchange(
        self, requests: Sequence[RestartStart | RestartStep], steps: Sequence[PlannedStep] = ()
    ) -> RestartAnswer | None:
        """Send lines and verify the answers; return the last one, None after a failure or without lines."""
        lines, failure = await self.testee.ask_all(requests)
        answer = None
        for number, line in enumerate(lines):
            self.line = line.decode(errors="backslashreplace").rstrip("\r\n")
            try:
                answer = restart_answer(line, requests[number])
                self._verify(answer, requests[number])
            except InvalidResponse as invalid:
                self._fail(str(invalid))
                return None
            if self.status != "passed":
                return None
            if steps and not self.plan:  # plans follow from the only life without a stop
                self.trace.append(_traced(steps[number], answer))
        if failure:
            self.line = None
            self._fail(failure)
            return None
        return answer

    def _verify(self, answer: RestartAnswer, request: RestartStart | RestartStep) -> None:
        if answer.error is not None:
            self._fail(f"an error: {answer.error}")
        elif answer.skipped is not None:
            self._skip(answer.skipped, request)
        elif isinstance(request, RestartRows) and answer.tables is not None:
            self._compare(answer, request)
        for offsets in (answer.offsets, answer.committed):
            self._check_offsets(offsets or {})
        if self.groups is None:
            self._committed |= answer.committed or {}

    def _skip(self, reason: str, request: RestartStart | RestartStep) -> None:
        if isinstance(request, RestartRows) and request.resolved_ts is not None:
            self._at_resolved = False
        elif isinstance(request, RestartDeliver):
            self._fail(f"messages cannot be skipped: {reason}")
        else:
            self.status, self.reasons = "skipped", [reason]

    def _compare(self, answer: RestartAnswer, request: RestartRows) -> None:
        ts = request.resolved_ts
        expected = self.case.expected if ts is None else self.case.expected_at[ts]
        wrong = table_differences(expected, answer.tables or {}, float_types(self.case.request.protocol))
        if wrong:
            self._fail(*([] if ts is None else [f"as of resolved-ts {ts}:"]), *wrong)

    def _check_offsets(self, offsets: dict[str, int]) -> None:
        for name, offset in offsets.items():
            if not 0 <= offset <= self.case.ends.get(name, -1):
                raise InvalidResponse(f"{name} has no offset {offset}")

    def _fail(self, *reasons: str) -> None:
        if self.status == "passed":
            self.status, self.reasons = "failed", list(reasons)

    def _record(
        self,
        assigned: Sequence[str],
        sent: Sequence[PlannedStep],
        stop: Stop | None,
        last: RestartAnswer | None,
    ) -> None:
        """Add a line about a life to the log."""
        records = [message.record for step in sent for message in step.messages]
        parts = [f"life {self.restarts + 1} reads {delivery_text(records) or 'nothing'}"]
        if set(assigned) != set(self.case.partitions):
            parts.append(f"is assigned {', '.join(assigned)} only")
        if stop is not None:
            parts.append(f"is stopped {_stop_text(sent, last)}")
        self.log.append(", ".join(parts))


def _groups(kafka: str) -> ConsumerGroups:
    from ticdc_producer.targets.kafka.consumer_group import ConsumerGroups

    return ConsumerGroups(kafka)


def _until(steps: Iterator[PlannedStep], stop: Stop | None) -> tuple[list[PlannedStep], Stop | None]:
    """Return the steps up to a stop, and the stop; None if the life has fewer steps."""
    sent = [*islice(steps, stop.step if stop else None)]
    if stop is None or stop.step > len(sent):
        return sent, None
    if stop.step and stop.point:
        last = sent.pop()
        sent.append(replace(last, request=msgspec.structs.replace(last.request, stop=stop.point)))
    return sent, stop


def _traced(step: PlannedStep, answer: RestartAnswer) -> TracedStep:
    return TracedStep(
        step=step.request.step,
        points=answer.points,
        kinds=frozenset(kind for message in step.messages for kind in message.kinds),
        several=any(len(message.kinds) > 1 for message in step.messages),
    )


def _stop_text(sent: Sequence[PlannedStep], last: RestartAnswer | None) -> str:
    if not sent:
        return "after its start"
    messages = sent[-1].messages
    where = delivery_text([message.record for message in messages]) if messages else "the request of rows"
    if last is None or not last.stopped:
        return f"after {where}"
    label = last.points[-1] if last.points else "point"
    count = last.points.count(label) or 1
    return f"in {where} after {label} {count}"
