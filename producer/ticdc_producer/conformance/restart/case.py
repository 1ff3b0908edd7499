"""A case of the restart level: a topic in an order of delivery, and the rows as of each resolved-ts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.restart.plan import Plan
from ticdc_producer.conformance.restart.wire import (
    RestartDeliver,
    RestartRows,
    RestartStart,
    RestartStep,
)
from ticdc_producer.conformance.wire import KafkaRecord
from ticdc_producer.model.event import Kind
from ticdc_producer.model.tso import MAX_TS


def partition_name(record: KafkaRecord) -> str:
    """Return the partition of a message, as offsets name it."""
    return f"{record.topic}/{record.partition}"


@dataclass(frozen=True, slots=True)
class DeliveredMessage:
    """A message and what it contains.

    :param partition: its partition, as offsets name it.
    :param kinds: the kind of each event.
    :param resolved_ts: its largest resolved-ts; 0 without one.
    :param ddls: what identifies its DDLs, whatever partition they are in, and their commit-ts.
    """

    record: KafkaRecord
    partition: str
    kinds: tuple[Kind, ...]
    resolved_ts: int
    ddls: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a life.

    :param messages: the messages that it delivers.
    :param reached: the smallest resolved-ts of all partitions after it; 0 if it is not known.
    """

    request: RestartStep
    messages: Sequence[DeliveredMessage] = ()
    reached: int = 0


@dataclass(frozen=True, kw_only=True)
class RestartCase:
    """A topic, and the rows that a consumer must have however often it is stopped.

    :param description: the requirement for a consumer.
    :param request: the first line, without a directory.
    :param messages: in their order of delivery; each partition is in the order of its offsets.
    :param batch: number of messages that are delivered at once.
    :param expected: the rows at the end.
    :param expected_at: the rows as of resolved-ts of the topic.
    :param seed: determines the plans.
    :param lives: the only plan; None: all or many.
    :param max_stops: most stops of a plan.
    :param log: what happened in each life, once the case was run.
    """

    id: str
    description: str
    request: RestartStart
    messages: tuple[DeliveredMessage, ...]
    batch: int
    expected: tuple[ExpectedRows, ...]
    expected_at: Mapping[int, tuple[ExpectedRows, ...]] = field(default_factory=dict)
    seed: int = 0
    lives: Plan | None = None
    max_stops: int = 2
    log: tuple[str, ...] = ()

    @cached_property
    def partitions(self) -> list[str]:
        """The names of all partitions."""
        counts = self.request.partitions.items()
        return [f"{topic}/{number}" for topic, count in counts for number in range(count)]

    @cached_property
    def ends(self) -> Mapping[str, int]:
        """The offset after the last message of each partition."""
        ends = dict.fromkeys(self.partitions, 0)
        for message in self.messages:
            ends[message.partition] = max(ends[message.partition], message.record.offset + 1)
        return ends

    def start(self, directory: str, assigned: Sequence[str], committed: Mapping[str, int]) -> RestartStart:
        """Return the first line of a life."""
        return msgspec.structs.replace(
            self.request, directory=directory, assigned=list(assigned), committed=dict(committed)
        )

    def steps(
        self, assigned: Sequence[str], offsets: Mapping[str, int], *, reached: int, at_resolved: bool
    ) -> Iterator[PlannedStep]:
        """Yield the steps of a life after its start, to the end of the topic.

        :param offsets: the next offset of each partition.
        :param reached: the largest resolved-ts that the consumer may have reached in earlier lives; rows as
            of an earlier one are not requested.
        :param at_resolved: whether the rows as of each resolved-ts are requested.
        """
        position, resolved = dict(offsets), dict.fromkeys(self.partitions, 0)
        requested, number = 0, 0
        remaining = [
            message
            for message in self.messages
            if message.partition in assigned and message.record.offset >= offsets.get(message.partition, 0)
        ]
        for first in range(0, len(remaining), self.batch):
            messages = remaining[first : first + self.batch]
            for message in messages:
                position[message.partition] = message.record.offset + 1
                resolved[message.partition] = max(resolved[message.partition], message.resolved_ts)
            number += 1
            now = min(resolved.values())
            records = [message.record for message in messages]
            deliver = RestartDeliver(case=self.id, step=number, messages=records)
            yield PlannedStep(deliver, messages, now)
            if at_resolved and now > requested and now >= reached and self._is_complete(now, position):
                requested, number = now, number + 1
                yield PlannedStep(self._rows(number, self.expected_at[now], now))
        if set(assigned) == set(self.partitions):
            yield PlannedStep(self._rows(number + 1, self.expected, None), reached=MAX_TS)

    def _rows(self, step: int, tables: Sequence[ExpectedRows], resolved_ts: int | None) -> RestartRows:
        names = [table.name for table in tables]
        return RestartRows(case=self.id, step=step, tables=names, resolved_ts=resolved_ts)

    def _is_complete(self, resolved_ts: int, position: Mapping[str, int]) -> bool:
        """Return whether the rows as of a resolved-ts are known, and its DDLs have arrived.

        A resolved event may have the commit-ts of a DDL that follows it.
        """
        return resolved_ts in self.expected_at and all(
            any(offset < position.get(partition, 0) for partition, offset in copies)
            for (ts, _), copies in self._ddls.items()
            if ts <= resolved_ts
        )

    @cached_property
    def _ddls(self) -> Mapping[tuple[int, str], list[tuple[str, int]]]:
        """The partitions and offsets of the copies of each DDL."""
        copies: dict[tuple[int, str], list[tuple[str, int]]] = {}
        for message in self.messages:
            for ddl in message.ddls:
                copies.setdefault(ddl, []).append((message.partition, message.record.offset))
        return copies
