"""The violations of a followed stream that were reported, and those of a batch that were not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np

from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.event import Op
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.verifier.events import NOTHING, EventID, EventKind, Events, positions
from ticdc_producer.verifier.finding import EventRef, Example, Finding, Severity
from ticdc_producer.verifier.findings import event_ref
from ticdc_producer.verifier.follow.observed_messages import ObservedMessages
from ticdc_producer.verifier.invariants import ddl, order, resolved, row_state
from ticdc_producer.verifier.invariants.events import KEY_UPDATE_SPLIT
from ticdc_producer.verifier.invariants.registry import enabled_invariants
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.violations import (
    DescribedEvents,
    Invariant,
    ViolationCounts,
    Violations,
    event_ids,
)

LATER = {invariant.id for invariant in (row_state.SCHEMA, row_state.OLD_IMAGE, resolved.COMPLETE)}
"""They need the whole stream, or images again: ``verify`` checks them."""
IN_PARTITION = {
    invariant.id
    for invariant in (
        resolved.RESOLVED, resolved.RESOLVED_DDL, resolved.RESOLVED_MONO, resolved.RESOLVED_STALL,
        ddl.DDL_ORDER, ddl.DDL_BARRIER_BEFORE, ddl.DDL_BARRIER_AFTER, order.ORDER_TABLE,
        KEY_UPDATE_SPLIT,
    )
}  # fmt: skip
"""They follow from the marks of the partition, and hold for first deliveries: an event violates them if no
copy of it has left the window. Others compare events, up to the resolved-ts that all partitions have."""
BROADCAST = {ddl.DDL_BROADCAST.id, resolved.RESOLVED_BROADCAST.id}
_REPORTED: tuple[Severity, ...] = ("error", "warning")
Key: TypeAlias = tuple[str, str, EventID, int]
"""Invariant, severity, an event, and the partition that lacks it or -1: what identifies a violation."""


@dataclass
class StreamViolations:
    """The violations of a stream that were reported.

    :ivar reported: the violations whose events are in the window.
    :ivar counts: number of reported violations by invariant and severity.
    :ivar late: by invariant of a partition the number of late events that violate it unless they are
        repeated: an earlier copy may have left.
    :ivar examples: the first ones.
    """

    options: VerifyOptions
    reported: set[Key] = field(default_factory=set)
    counts: Counter[tuple[str, Severity]] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    examples: dict[tuple[str, Severity], list[Example]] = field(default_factory=dict)


@dataclass(frozen=True)
class EventRefs:
    """The events of the window and of a batch, by their positions.

    :param events: both.
    """

    events: Events

    def commit_ts(self, event: EventID) -> int | None:
        """Return the commit-ts of an event; None: it has left the window."""
        row = self._row(event)
        return int(self.events.commit_ts[row]) if row >= 0 else None

    def ref(self, event: EventID, decoded: Mapping[EventID, DecodedRow]) -> EventRef:
        """Return an event as it is reported. One of an earlier batch has no keys: their hashes are left.

        :param decoded: events of the batch.
        """
        if event in decoded:
            return event_ref(event, decoded[event])
        topic, partition, offset, index = event
        row, events = self._row(event), self.events
        op = int(events.op[row]) if row >= 0 else 0
        return EventRef(
            topic=topic,
            partition=partition,
            offset=offset,
            index=index,
            kind=(EventKind(int(events.kind[row])) if row >= 0 else EventKind.RESOLVED).name.lower(),
            commit_ts=int(events.commit_ts[row]) if row >= 0 else None,
            schema=str(events.schema[row].as_py()) if row >= 0 else "",
            table=str(events.table[row].as_py()) if row >= 0 else "",
            op=Op(op).label if op else "",
            text="",
        )

    def _row(self, event: EventID) -> int:
        topic, partition, offset, index = event
        codes, topics = self.events.topics
        (position,) = positions(np.array([offset]), np.array([index]))
        if topic not in topics:
            return NOTHING
        own = (codes == topics.index(topic)) & (self.events.partition == partition)
        return _first(own & (self.events.position == position))


def _first(flags: Flags) -> int:
    at = np.flatnonzero(flags)
    return int(at[0]) if len(at) else NOTHING


@dataclass
class NewViolations:
    """The violations of a batch.

    :param known: those before.
    :param events: the window and the new events.
    :param horizon: the highest commit-ts that has left the window.
    :param dropped: the same by topic and partition.
    """

    known: StreamViolations
    stats: StreamStats
    events: EventRefs
    horizon: int
    dropped: Mapping[tuple[str, int], int]
    counts: Counter[tuple[str, Severity]] = field(default_factory=Counter)
    examples: dict[tuple[str, Severity], list[DescribedEvents]] = field(default_factory=dict)

    def add_of_events(self, invariants: Iterable[Invariant], violations: ViolationCounts) -> None:
        """Add the violations by single new events, which no other event is needed for."""
        for invariant in invariants:
            for severity in _REPORTED if invariant.is_checked(self.stats) else ():
                name = invariant.id, severity
                if count := violations.counts[name]:
                    self.counts[name] += count
                    self._add_examples(name, violations.examples[name])

    def add(self, invariant: Invariant, violations: Violations) -> None:
        """Add the violations that were not reported before."""
        if not len(violations) or not invariant.is_checked(self.stats):
            return
        broadcast = invariant.id in BROADCAST
        for number in range(len(violations)):
            of_all = isinstance(violations.severity, str)
            severity = cast(Severity, violations.severity if of_all else str(violations.severity[number]))
            ids = event_ids(violations, number)
            if severity not in (_REPORTED[:1] if broadcast else _REPORTED) or not ids:
                continue
            own = ids[0] if broadcast else ids[-1]
            lacking = int(violations.concerned[1].partition[number]) if broadcast else NOTHING
            key = invariant.id, severity, own, lacking
            if key in self.known.reported:
                continue
            is_decided = self._is_decided(invariant, own, ids)
            if is_decided or invariant.id in IN_PARTITION:
                self.known.reported.add(key)
            if not is_decided:
                self.known.late[invariant.id] += invariant.id in IN_PARTITION
                continue
            self.counts[invariant.id, severity] += 1
            if len(self.examples.get((invariant.id, severity), ())) < self.known.options.examples:
                self._add_examples((invariant.id, severity), [(ids, violations.detail(number))])

    def _add_examples(self, name: tuple[str, Severity], examples: list[DescribedEvents]) -> None:
        held = self.examples.setdefault(name, [])
        held += examples[: self.known.options.examples - len(held)]

    def _is_decided(self, invariant: Invariant, own: EventID, ids: tuple[EventID, ...]) -> bool:
        """Return whether no event that has left the window could show that there is no violation.

        An event without a previous one may have had it before.
        """
        if self.horizon == NOTHING or invariant.id == KEY_UPDATE_SPLIT.id:  # copies violate it, too
            return True
        if invariant.id in IN_PARTITION:
            return self._commit_ts(own) > self.dropped.get(own[:2], NOTHING)
        if invariant.id in BROADCAST:
            return self._commit_ts(own) > self.horizon
        return len(ids) > 1 and all(self._commit_ts(event) > self.horizon for event in ids)

    def findings(self, observed: ObservedMessages) -> list[Finding]:
        """Return the new violations, by invariant.

        :param observed: the messages of the batch, of which those of examples are decoded again.
        """
        known = self.known
        decoded = observed.decoded_at(
            event for examples in self.examples.values() for events, _ in examples for event in events
        )
        examples = {
            name: [
                Example(tuple(self.events.ref(event, decoded) for event in events), detail)
                for events, detail in described
            ]
            for name, described in self.examples.items()
        }
        by_id = {invariant.id: invariant for invariant in enabled_invariants(known.options)}
        known.counts += self.counts
        for name, of_batch in examples.items():
            so_far = known.examples.setdefault(name, [])
            so_far += of_batch[: known.options.examples - len(so_far)]
        return [
            by_id[name].finding(severity, count, examples[name, severity])
            for (name, severity), count in sorted(self.counts.items())
        ]

    def _commit_ts(self, event: EventID) -> int:
        newest = self.events.commit_ts(event)
        return self.horizon if newest is None else newest
