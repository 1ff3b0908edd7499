"""An invariant, its violations in a batch of events, and their sum over all batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.verifier.events import EventColumns, EventID, offset_and_index
from ticdc_producer.verifier.finding import Example, Finding, Severity
from ticdc_producer.verifier.invariants.preconditions import Preconditions, Unmet
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.batch_groups import BatchGroups
from ticdc_producer.verifier.passes.partition_marks import MarkedEvents
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.stream_stats import StreamStats

DescribedEvents: TypeAlias = tuple[tuple[EventID, ...], str]
"""The events of a violation, and its description."""
PositionOfEvent: TypeAlias = tuple[int, int]
"""Partition and position of an event; position -1 for none."""


@dataclass(frozen=True)
class EventPositions:
    """One event for each violation: its partition and position; position -1 for none."""

    partition: Numbers
    position: Numbers


@dataclass(frozen=True)
class Violations:
    """Violations of one invariant, one element of each column per violation.

    :param severity: of all, or of each.
    :param topic: number of the topic, as in ``topics``.
    :param concerned: the events concerned, in stream order.
    :param detail: describes the violation of a number; called for the examples only.
    """

    severity: str | npt.NDArray[np.str_]
    topic: Numbers
    topics: list[str]
    concerned: tuple[EventPositions, ...]
    detail: Callable[[int], str]

    @classmethod
    def none(cls) -> Violations:
        """Return no violations."""
        return cls("", np.zeros(0, np.int64), [], (), str)

    @classmethod
    def of_events(
        cls,
        events: EventColumns,
        wrong: Flags,
        severity: str | npt.NDArray[np.str_],
        detail: Callable[[int], str],
        *,
        after: Numbers | None = None,
    ) -> Violations:
        """Return the violations of single events.

        :param wrong: which events violate the invariant.
        :param severity: of all, or of each event.
        :param detail: gets the number of an event.
        :param after: position of an earlier event of the partition that each event contradicts.
        """
        rows = np.flatnonzero(wrong)
        own = EventPositions(events.partition[rows], events.position[rows])
        earlier = () if after is None else (EventPositions(events.partition[rows], after[rows]),)
        return cls(
            severity if isinstance(severity, str) else severity[rows],
            events.topics[0][rows],
            events.topics[1],
            (*earlier, own),
            lambda number: detail(int(rows[number])),
        )

    @classmethod
    def of_positions(
        cls,
        severity: str | Sequence[str],
        topics: Sequence[str],
        concerned: Sequence[Sequence[PositionOfEvent]],
        detail: Callable[[int], str],
    ) -> Violations:
        """Return violations whose events are given one by one.

        >>> concerned = [[(0, 5), (1, -1)], [(2, 7), (2, 8)]]
        >>> violations = Violations.of_positions("error", ["u", "t"], concerned, str)
        >>> violations.topic.tolist(), violations.topics
        ([1, 0], ['t', 'u'])
        >>> [(events.partition.tolist(), events.position.tolist()) for events in violations.concerned]
        [([0, 2], [5, 7]), ([1, 2], [-1, 8])]

        :param topics: the topic of each violation.
        :param concerned: of each violation its events; all have as many.
        """
        if not topics:
            return cls.none()
        names, positions = sorted(set(topics)), np.array(concerned, np.int64)
        return cls(
            severity if isinstance(severity, str) else np.array(severity, str),
            np.array([names.index(topic) for topic in topics], np.int64),
            names,
            tuple(EventPositions(*columns.T) for columns in positions.swapaxes(0, 1)),
            detail,
        )

    def __len__(self) -> int:
        return len(self.topic)


@dataclass
class ViolationCounts:
    """Violations of all invariants so far: their number, and the first ones as examples.

    :param limit: maximum number of examples per invariant and severity.
    """

    limit: int
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], list[DescribedEvents]] = field(default_factory=dict)

    def add(self, invariant: str, violations: Violations) -> None:
        """Add the violations of an invariant."""
        if not len(violations):
            return
        if isinstance(violations.severity, str):
            self._add(invariant, violations.severity, violations, np.arange(len(violations)))
            return
        for severity in np.unique(violations.severity).tolist():
            self._add(invariant, severity, violations, np.flatnonzero(violations.severity == severity))

    def _add(self, invariant: str, severity: str, violations: Violations, rows: Numbers) -> None:
        keys = [
            column[rows]
            for events in reversed(violations.concerned)
            for column in (events.position, events.partition)
        ]
        first = rows[np.lexsort([*keys, violations.topic[rows]])][: self.limit]
        described = [(event_ids(violations, number), violations.detail(number)) for number in first.tolist()]
        self.counts[invariant, severity] += len(rows)
        self._keep_first(invariant, severity, described)

    def merge(self, others: Iterable[ViolationCounts]) -> None:
        """Add the violations of other batches."""
        for other in others:
            self.counts.update(other.counts)
            for (invariant, severity), described in other.examples.items():
                self._keep_first(invariant, severity, described)

    def _keep_first(self, invariant: str, severity: str, described: list[DescribedEvents]) -> None:
        held = self.examples.get((invariant, severity), [])
        self.examples[invariant, severity] = sorted([*held, *described])[: self.limit]


def event_ids(violations: Violations, number: int) -> tuple[EventID, ...]:
    """Return the events of a violation, in stream order."""
    topic = violations.topics[int(violations.topic[number])]
    return tuple(
        (topic, int(events.partition[number]), *offset_and_index(int(events.position[number])))
        for events in violations.concerned
        if events.position[number] >= 0  # else there is none, or it is of the snapshot
    )


EventCheck: TypeAlias = Callable[[MarkedEvents], Violations]
KeyCheck: TypeAlias = Callable[[KeyChecks], Violations]
BatchCheck: TypeAlias = Callable[[BatchGroups], Violations]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """One rule that every legal stream satisfies.

    :param severity: the usual severity; a check may report a milder one.
    :param statement: what must hold, as a sentence.
    :param hint: usual cause of a violation.
    :param preconditions: yields the unmet ones, given the statistics of one pass over the stream.
    :param by_event: check of single events, in the order of their partition.
    :param by_key: check of the events of a row key or time.
    :param by_batch: check of the rows that TiCDC's batcher orders.
    :param enabled: whether the options enable it; a disabled invariant is not reported at all.
    :param without_row_commit_ts: it can be checked although rows carry no commit-ts.
    """

    id: str
    severity: Severity
    statement: str
    hint: str
    preconditions: Preconditions
    by_event: EventCheck | None = None
    by_key: KeyCheck | None = None
    by_batch: BatchCheck | None = None
    enabled: Callable[[VerifyOptions], bool] = lambda _options: True
    without_row_commit_ts: bool = False

    def unmet(self, stats: StreamStats) -> Iterator[Unmet]:
        """Yield the preconditions that this stream does not meet."""
        if not (self.without_row_commit_ts or stats.options.rows_have_commit_ts):
            yield Unmet("the rows carry no commit-ts")
        else:
            yield from self.preconditions(stats)

    def finding(
        self, severity: Severity, count: int, examples: Iterable[Example] = (), hint: str = ""
    ) -> Finding:
        """Return the violations of one severity as they are reported.

        :param hint: instead of the usual one.
        """
        return Finding(
            id=self.id,
            severity=severity,
            count=count,
            statement=self.statement,
            hint=hint or self.hint,
            examples=tuple(examples),
        )

    def is_checked(self, stats: StreamStats) -> bool:
        """Return whether it is enabled and can be checked, at least for some rows."""
        return self.enabled(stats.options) and all(unmet.rows for unmet in self.unmet(stats))
