"""Verifies a stream batch by batch, and reports each violation once.

What the marks of partitions and the statistics carry is small. The checks of groups also need earlier events:
those of a window of commit-ts stay, reduced to keys and fingerprints. Events are compared only if all events
that decide are in the window; once events have left it, the verdict says how many were not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pyarrow as pa

from ticdc_producer.verifier.events import NOTHING, EventKind, Events, offset_and_index
from ticdc_producer.verifier.finding import Example, Finding, Severity
from ticdc_producer.verifier.findings import enabled_invariants
from ticdc_producer.verifier.fingerprint import Flags
from ticdc_producer.verifier.follow.event_refs import EventRefs
from ticdc_producer.verifier.invariants import ddl, order, resolved, row_state
from ticdc_producer.verifier.invariants.events import KEY_UPDATE_SPLIT
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_groups import KeyGroups
from ticdc_producer.verifier.passes.key_pass import batch_groups, batch_suspected
from ticdc_producer.verifier.passes.observe import Observer, with_old_keys
from ticdc_producer.verifier.passes.partition_marks import PartitionMarks, partitions_of
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.violations import EventID, Invariant, Violations, event_ids

DEFAULT_WINDOW = 20_000
_LATER = {invariant.id for invariant in (row_state.SCHEMA, row_state.OLD_IMAGE, resolved.COMPLETE)}
"""They need the whole stream, or images again: ``verify`` checks them."""
_IN_PARTITION = {
    invariant.id
    for invariant in (
        resolved.RESOLVED, resolved.RESOLVED_DDL, resolved.RESOLVED_MONO, resolved.RESOLVED_STALL,
        ddl.DDL_ORDER, ddl.DDL_BARRIER_BEFORE, ddl.DDL_BARRIER_AFTER, order.ORDER_TABLE,
        KEY_UPDATE_SPLIT,
    )
}  # fmt: skip
"""They follow from the marks of the partition, and hold for first deliveries: an event violates them if no
copy of it has left the window. Others compare events, up to the resolved-ts that all partitions have."""
_BROADCAST = {ddl.DDL_BROADCAST.id, resolved.RESOLVED_BROADCAST.id}
_REPORTED = ("error", "warning")
_Key = tuple[str, str, EventID, int]
"""Invariant, severity, an event, and the partition that lacks it or -1: what identifies a violation."""


@dataclass
class FollowedStream:
    """A stream that grows.

    :param window: most events that stay for later comparisons.
    :ivar events: the window.
    :ivar horizon: the highest commit-ts that has left the window; -1: none has.
    :ivar dropped: by topic and partition the highest commit-ts of its events that have left.
    :ivar dropped_rows: number of rows that have left.
    :ivar uncovered_rows: number of those that left before the resolved-ts of all partitions had covered them.
    :ivar reported: the violations that were reported and whose events are in the window.
    :ivar counts: number of reported violations by invariant and severity.
    :ivar late: by invariant of a partition the number of late events that violate it unless they are
        repeated: an earlier copy may have left.
    """

    options: VerifyOptions
    window: int = DEFAULT_WINDOW
    marks: PartitionMarks = field(default_factory=PartitionMarks)
    stats: StreamStats = field(init=False)
    events: Events | None = None
    horizon: int = NOTHING
    dropped: dict[tuple[str, int], int] = field(default_factory=dict)
    dropped_rows: int = 0
    uncovered_rows: int = 0
    reported: set[_Key] = field(default_factory=set)
    counts: Counter[tuple[str, Severity]] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    examples: dict[tuple[str, Severity], list[Example]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stats = StreamStats(self.options)
        self._observer = Observer(self.options)
        self._invariants = [
            invariant for invariant in enabled_invariants(self.options) if invariant.id not in _LATER
        ]

    def add(self, decoded: pa.RecordBatch) -> list[Finding]:
        """Verify the next events, and return what they violate; each violation is returned once.

        :param decoded: shape ``DECODED``; the events of a partition in the order of their offsets.
        """
        decoded = self.stats.without_tombstones(decoded)
        if not decoded.num_rows:
            return []
        before = self.covered
        marked = self.marks.mark(self._observer.observe(decoded))
        self.stats.add(marked)
        new = with_old_keys(marked.events, marked.observation)
        events = new if self.events is None else Events.joined([self.events, new])
        batch = _Batch(self, EventRefs(events, decoded))
        for invariant in self._invariants:
            if invariant.by_event:
                batch.report(invariant, invariant.by_event(marked), by_event=True)
        comparable = events.take(events.kind != EventKind.ERROR)
        self._check_keys(batch, comparable, new, before)
        self._evict(events)
        return batch.findings()

    @property
    def covered(self) -> int:
        """The highest resolved-ts that all partitions of all topics have; 0 without one."""
        return min((self.stats.covered(topic) for topic in self.options.partitions), default=0)

    def _check_keys(self, batch: _Batch, events: Events, new: Events, before: int) -> None:
        """Check the groups of new events, and of those that the resolved-ts covers now."""
        control = (events.kind == EventKind.DDL) | (events.kind == EventKind.RESOLVED)
        concerned = KeyChecks(self._groups(events, control | np.isin(events.key, new.key)))
        covered = self.covered
        in_all = events.commit_ts <= covered
        changed = events.key[in_all & ((events.commit_ts > before) | np.isin(events.key, new.key))]
        settled = KeyChecks(self._groups(events, in_all & (control | np.isin(events.key, changed))))
        for invariant in self._invariants:
            if invariant.by_key:
                checks = concerned if invariant.id in _IN_PARTITION | _BROADCAST else settled
                batch.report(invariant, invariant.by_key(checks))
        if batch_suspected(concerned.groups).any():
            rows = batch_groups(self._groups(events, np.ones(len(events), np.bool_)))
            for invariant in self._invariants:
                if invariant.by_batch:
                    batch.report(invariant, invariant.by_batch(rows))

    def _groups(self, events: Events, chosen: Flags) -> KeyGroups:
        return KeyGroups(events.take(chosen), self.options, self.stats)

    def _evict(self, events: Events) -> None:
        """Keep the newest events; those of one commit-ts stay or leave together."""
        if len(events) > self.window:
            keep = len(events) - self.window * 3 // 4
            self.horizon = max(self.horizon, int(np.partition(events.commit_ts, keep)[keep]))
            stays = events.commit_ts > self.horizon
            self._leave(events.take(~stays))
            events = events.take(stays)
        self.events = events
        present = dict(_first_positions(events))
        self.reported = {
            key for key in self.reported if key[2][:2] in present and key[2][2:] >= present[key[2][:2]]
        }

    def _leave(self, events: Events) -> None:
        is_row = events.kind == EventKind.ROW
        self.dropped_rows += int(is_row.sum())
        self.uncovered_rows += int((is_row & (events.commit_ts > self.covered)).sum())
        for name, rows in partitions_of(events):
            self.dropped[name] = max(self.dropped.get(name, NOTHING), int(events.commit_ts[rows].max()))

    def lags(self, now_ms: int) -> dict[tuple[str, int], int | None]:
        """Return by partition the age of its resolved-ts in milliseconds; None: it has none.

        :param now_ms: the present time, in Unix milliseconds.
        """
        return {
            (topic, partition): None if newest is None else max(now_ms - (newest[0] >> 18), 0)
            for topic, number in self.options.partitions.items()
            for of_topic in [self.stats.newest(topic, EventKind.RESOLVED)]
            for partition in range(number)
            for newest in [of_topic.get(partition)]
        }

    def verdict_findings(self) -> list[Finding]:
        """Return all findings so far, and what was not checked."""
        by_id = {invariant.id: invariant for invariant in enabled_invariants(self.options)}
        violated = [
            _finding(by_id[name], severity, count, self.examples.get((name, severity), []))
            for (name, severity), count in sorted(self.counts.items())
        ]
        return [*violated, *self._not_checked()]

    def _not_checked(self) -> Iterator[Finding]:
        for invariant in enabled_invariants(self.options):
            reasons = [(unmet.rows, unmet.reason) for unmet in invariant.unmet(self.stats)]
            if invariant.id in _LATER:
                reasons = [(0, "a stream that is followed has it checked by `verify` alone")]
            elif (
                self.dropped
                and (invariant.by_key or invariant.by_batch)
                and invariant.id not in _IN_PARTITION
            ):
                what = "later events are not compared with those that have left the window"
                reasons += [(self.dropped_rows, what)]
                if self.uncovered_rows and invariant.by_key and invariant.id not in _BROADCAST:
                    what = "rows left the window before all partitions had a resolved-ts that covers them"
                    reasons += [(self.uncovered_rows, what)]
            elif self.late[invariant.id]:
                what = "late, or repeated: earlier copies may have left the window"
                reasons += [(self.late[invariant.id], what)]
            for rows, reason in reasons:
                yield _finding(invariant, "not checked", rows, [], reason)


def _first_positions(events: Events) -> Iterator[tuple[tuple[str, int], tuple[int, int]]]:
    for name, rows in partitions_of(events):
        yield name, offset_and_index(int(events.position[rows].min()))


def _finding(
    invariant: Invariant, severity: Severity, count: int, examples: list[Example], hint: str = ""
) -> Finding:
    return Finding(
        id=invariant.id,
        severity=severity,
        count=count,
        statement=invariant.statement,
        hint=hint or invariant.hint,
        examples=tuple(examples),
    )


@dataclass
class _Batch:
    """The violations of a batch.

    :param events: the window and the new events.
    """

    stream: FollowedStream
    events: EventRefs
    counts: Counter[tuple[str, Severity]] = field(default_factory=Counter)
    examples: dict[tuple[str, Severity], list[Example]] = field(default_factory=dict)

    def report(self, invariant: Invariant, violations: Violations, *, by_event: bool = False) -> None:
        """Add the violations that were not reported before.

        :param by_event: they are of single new events, which no other event is needed for.
        """
        if not len(violations) or not invariant.is_checked(self.stream.stats):
            return
        broadcast = invariant.id in _BROADCAST
        for number in range(len(violations)):
            of_all = isinstance(violations.severity, str)
            severity = cast(Severity, violations.severity if of_all else str(violations.severity[number]))
            ids = event_ids(violations, number)
            if severity not in (_REPORTED[:1] if broadcast else _REPORTED) or not ids:
                continue
            own = ids[0] if broadcast else ids[-1]
            lacking = int(violations.concerned[1].partition[number]) if broadcast else NOTHING
            key = invariant.id, severity, own, lacking
            if key in self.stream.reported:
                continue
            is_decided = by_event or self._is_decided(invariant, own, ids)
            if is_decided or invariant.id in _IN_PARTITION:
                self.stream.reported.add(key)
            if not is_decided:
                self.stream.late[invariant.id] += invariant.id in _IN_PARTITION
                continue
            self.counts[invariant.id, severity] += 1
            examples = self.examples.setdefault((invariant.id, severity), [])
            if len(examples) < self.stream.options.examples:
                examples.append(Example(tuple(map(self.events.ref, ids)), violations.detail(number)))

    def _is_decided(self, invariant: Invariant, own: EventID, ids: tuple[EventID, ...]) -> bool:
        """Return whether no event that has left the window could show that there is no violation.

        An event without a previous one may have had it before.
        """
        stream = self.stream
        if stream.horizon == NOTHING or invariant.id == KEY_UPDATE_SPLIT.id:  # copies violate it, too
            return True
        if invariant.id in _IN_PARTITION:
            return self._commit_ts(own) > stream.dropped.get(own[:2], NOTHING)
        if invariant.id in _BROADCAST:
            return self._commit_ts(own) > stream.horizon
        return len(ids) > 1 and all(self._commit_ts(event) > stream.horizon for event in ids)

    def findings(self) -> list[Finding]:
        """Return the new violations, by invariant."""
        stream = self.stream
        by_id = {invariant.id: invariant for invariant in enabled_invariants(stream.options)}
        stream.counts += self.counts
        for name, examples in self.examples.items():
            examples_so_far = stream.examples.setdefault(name, [])
            examples_so_far += examples[: stream.options.examples - len(examples_so_far)]
        return [
            _finding(by_id[name], severity, count, self.examples[name, severity])
            for (name, severity), count in sorted(self.counts.items())
        ]

    def _commit_ts(self, event: EventID) -> int:
        newest = self.events.commit_ts(event)
        return self.stream.horizon if newest is None else newest
