"""Verifies a stream batch by batch, and reports each violation once.

What the marks of partitions and the statistics carry is small. The checks of groups also need earlier events:
those of a window of commit-ts stay, reduced to keys and fingerprints. Events are compared only if all events
that decide are in the window; once events have left it, the verdict says how many were not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.verifier.events import NOTHING, EventKind, Events, offset_and_index
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.follow.observed_messages import Offsets, observed_messages
from ticdc_producer.verifier.follow.stream_violations import (
    BROADCAST,
    IN_PARTITION,
    LATER,
    EventRefs,
    NewViolations,
    StreamViolations,
)
from ticdc_producer.verifier.invariants.registry import enabled_invariants
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_groups import KeyGroups
from ticdc_producer.verifier.passes.key_pass import batch_groups, batch_suspected
from ticdc_producer.verifier.passes.partition_marks import partitions_of
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.passes.slices import States
from ticdc_producer.verifier.stream_stats import StreamStats


@dataclass
class FollowedStream:
    """A stream that grows.

    :param window: most events that stay for later comparisons.
    :ivar states: the marks of the next events.
    :ivar events: the window.
    :ivar horizon: the highest commit-ts that has left the window; -1: none has.
    :ivar dropped: by topic and partition the highest commit-ts of its events that have left.
    :ivar dropped_rows: number of rows that have left.
    :ivar uncovered_rows: number of those that left before the resolved-ts of all partitions had covered them.
    """

    options: VerifyOptions
    window: int
    states: States = field(default_factory=dict)
    stats: StreamStats = field(init=False)
    violations: StreamViolations = field(init=False)
    events: Events | None = None
    horizon: int = NOTHING
    dropped: dict[tuple[str, int], int] = field(default_factory=dict)
    dropped_rows: int = 0
    uncovered_rows: int = 0

    def __post_init__(self) -> None:
        self.stats, self.violations = StreamStats(self.options), StreamViolations(self.options)
        self._invariants = [
            invariant for invariant in enabled_invariants(self.options) if invariant.id not in LATER
        ]

    def add(self, messages: Dataset, decode: BatchFunction) -> tuple[list[Finding], Offsets]:
        """Verify the next messages.

        :param messages: shape ``MESSAGES``, on any engine; see ``observed_messages``.
        :param decode: decodes them to events (shape ``DECODED``).
        :return: what the messages violate, each violation once; and by partition the offset after them.
        """
        observed = observed_messages(messages, decode, self.options, self.states)
        before = self.covered
        self.states = observed.states
        self.stats.merge(part.stats for part in observed.slices)
        new = observed.events
        if not len(new):
            return [], observed.offsets
        events = new if self.events is None else Events.joined([self.events, new])
        batch = NewViolations(self.violations, self.stats, EventRefs(events), self.horizon, self.dropped)
        for part in observed.slices:
            batch.add_of_events(self._invariants, part.violations)
        comparable = events.take(events.kind != EventKind.ERROR)
        self._check_keys(batch, comparable, new, before)
        self._evict(events)
        return batch.findings(observed), observed.offsets

    @property
    def covered(self) -> int:
        """The highest resolved-ts that all partitions of all topics have; 0 without one."""
        return min((self.stats.covered(topic) for topic in self.options.partitions), default=0)

    def _check_keys(self, batch: NewViolations, events: Events, new: Events, before: int) -> None:
        """Check the groups of new events, and of those that the resolved-ts covers now."""
        control = (events.kind == EventKind.DDL) | (events.kind == EventKind.RESOLVED)
        concerned = KeyChecks(self._groups(events, control | np.isin(events.key, new.key)))
        covered = self.covered
        in_all = events.commit_ts <= covered
        changed = events.key[in_all & ((events.commit_ts > before) | np.isin(events.key, new.key))]
        settled = KeyChecks(self._groups(events, in_all & (control | np.isin(events.key, changed))))
        for invariant in self._invariants:
            if invariant.by_key:
                checks = concerned if invariant.id in IN_PARTITION | BROADCAST else settled
                batch.add(invariant, invariant.by_key(checks))
        if batch_suspected(concerned.groups).any():
            rows = batch_groups(self._groups(events, np.ones(len(events), np.bool_)))
            for invariant in self._invariants:
                if invariant.by_batch:
                    batch.add(invariant, invariant.by_batch(rows))

    def _groups(self, events: Events, members: Flags) -> KeyGroups:
        return KeyGroups(events.take(members), self.options, self.stats)

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
        self.violations.reported = {
            key
            for key in self.violations.reported
            if key[2][:2] in present and key[2][2:] >= present[key[2][:2]]
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
            by_id[name].finding(severity, count, self.violations.examples.get((name, severity), []))
            for (name, severity), count in sorted(self.violations.counts.items())
        ]
        return [*violated, *self._not_checked()]

    def _not_checked(self) -> Iterator[Finding]:
        for invariant in enabled_invariants(self.options):
            reasons = [(unmet.rows, unmet.reason) for unmet in invariant.unmet(self.stats)]
            if invariant.id in LATER:
                reasons = [(0, "`verify` checks it, and a followed stream does not")]
            elif (
                self.dropped and (invariant.by_key or invariant.by_batch) and invariant.id not in IN_PARTITION
            ):
                what = "later events are not compared with those that have left the window"
                reasons += [(self.dropped_rows, what)]
                if self.uncovered_rows and invariant.by_key and invariant.id not in BROADCAST:
                    what = "rows left the window before all partitions had a resolved-ts that covers them"
                    reasons += [(self.uncovered_rows, what)]
            elif self.violations.late[invariant.id]:
                what = "late, or repeated: earlier copies may have left the window"
                reasons += [(self.violations.late[invariant.id], what)]
            for rows, reason in reasons:
                yield invariant.finding("not checked", rows, hint=reason)


def _first_positions(events: Events) -> Iterator[tuple[tuple[str, int], tuple[int, int]]]:
    for name, rows in partitions_of(events):
        yield name, offset_and_index(int(events.position[rows].min()))
