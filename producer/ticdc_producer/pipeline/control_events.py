"""Stage: DDL events and resolved events, for every partition that receives them.

A DDL is sent to all partitions of its topic, with Canal-JSON to partition 0 only. A resolved event is sent
to all partitions of every topic that is active at that time, and of the default topic. Both follow the rows
with the same time stamp: rows whose commit-ts equals that of a DDL were decoded with the schema before the
DDL. Source: tiflow ``mq_ddl_sink.go``, ``ddl_manager.go``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ticdc_producer.model import tso
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import Kind
from ticdc_producer.model.shapes import EventBatch
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.pipeline.delivery import TopicPartitions, commit_ts, event_batch
from ticdc_producer.pipeline.mutations import eight_bytes

KIND_ORDER = {Kind.ROW: 0, Kind.DDL: 1, Kind.RESOLVED: 2}


@dataclass(frozen=True, kw_only=True)
class DDLRoute:
    """The topic of one DDL.

    :param index: index in the catalog's list of DDLs.
    :param seq: order among DDLs with one time stamp.
    """

    index: int
    seq: int
    commit_ts: int
    topic: str


@dataclass(frozen=True, kw_only=True)
class ActiveTopic:
    """A topic that gets resolved events from the TSO ``since`` on."""

    topic: str
    since: int


@dataclass(frozen=True, kw_only=True)
class ResolvedPlan:
    """The times at which resolved events are sent.

    :param commits: number of commits in the history.
    :param after_transaction: send one after every commit, with its commit-ts; otherwise every ``every_ms``
        of the commit clock, after each DDL and after the last commit.
    :param every_ms: 0: only the explicit ones are sent.
    :param sent: whether the protocol has resolved events.
    :param explicit: explicit resolved events: resolved-ts, and the TSO after whose commits it is delivered.
    :param uncounted: first number and end of the numbers without a regular resolved event, in order: commits
        before the changefeed starts, and numbers of which only some are commits, where a source knows which
        (``UpstreamSource.commit_times``).
    :param start_ts: TSO after which the changefeed sends; 0: from the first commit.
    """

    clock: CommitClock
    commits: int
    after_transaction: bool = True
    every_ms: int = 0
    explicit: tuple[tuple[int, int], ...] = ()
    sent: bool = True
    uncounted: tuple[tuple[int, int], ...] = ()
    start_ts: int = 0

    @cached_property
    def last(self) -> int:
        """Commit-ts of the last commit."""
        return self.clock.ts(self.commits - 1)

    @property
    def regular(self) -> int:
        """The number of resolved events at each counted commit or tick, in one partition."""
        if not self.sent or self.commits == 0:
            return 0
        if self.after_transaction:
            return self.commits - sum(stop - first for first, stop in self.uncounted)
        if not self.every_ms:
            return 0
        return max(0, self._ticks_until(self.last) - self._early_ticks)

    def _ticks_until(self, ts: int) -> int:
        """Return the number of ticks of the clock up to the millisecond of a TSO."""
        return max(0, (tso.physical(ts) - tso.physical(self.clock.start)) // self.every_ms)

    @cached_property
    def _early_ticks(self) -> int:
        """The ticks that are not after the start-ts."""
        return self._ticks_until(self.start_ts) if self.start_ts else 0

    def regular_ts(self, numbers: Numbers) -> Numbers:
        """Return the resolved-ts of regular resolved events, which are numbered from 0."""
        if self.after_transaction:
            return commit_ts(self.clock, self._commits_of(numbers))
        ticks = numbers + 1 + self._early_ticks
        return tso.physical(self.clock.start) + ticks * self.every_ms << tso.LOGICAL_BITS

    def _commits_of(self, numbers: Numbers) -> Numbers:
        """Return the numbers of the commits of regular resolved events.

        >>> plan = ResolvedPlan(clock=CommitClock(), commits=7, uncounted=((1, 3), (5, 6)))
        >>> plan._commits_of(np.arange(4)).tolist()
        [0, 3, 4, 6]
        """
        if not self.uncounted:
            return numbers
        first, stop = (np.array(column, np.int64) for column in zip(*self.uncounted, strict=True))
        left_out = np.concatenate([[0], np.cumsum(stop - first)])
        commits: Numbers = numbers + left_out[np.searchsorted(first - left_out[:-1], numbers, side="right")]
        return commits

    def is_regular(self, ts: int) -> bool:
        """Return whether a regular resolved event has this resolved-ts."""
        if not self.regular:
            return False
        if self.after_transaction:
            until = bisect_right(range(self.commits), ts, key=self.clock.ts)
            counted = not any(first < until <= stop for first, stop in self.uncounted)
            return until > 0 and counted and self.clock.ts(until - 1) == ts
        ticks, rest = divmod(tso.physical(ts) - tso.physical(self.clock.start), self.every_ms)
        on_tick = ts == tso.compose(tso.physical(ts)) and not rest
        return on_tick and 0 < ticks - self._early_ticks <= self.regular

    def single(self, ddl_ts: Iterable[int]) -> dict[int, int]:
        """Return the other resolved events: resolved-ts, and the TSO after whose commits it is delivered.

        If several have the same resolved-ts, only the first delivery is sent.

        :param ddl_ts: commit-ts of the DDLs that are sent.
        """
        if not self.sent:
            return {}
        at_commits = {*ddl_ts, self.last} if self.every_ms and self.commits else ()
        first: dict[int, int] = {}
        for ts, after in (*self.explicit, *((ts, ts) for ts in at_commits)):
            first[ts] = min(after, first.get(ts, after))
        return {ts: after for ts, after in first.items() if not self.is_regular(ts)}


def ddl_events(
    routes: Sequence[DDLRoute], topic_partitions: TopicPartitions, *, to_all: bool = True
) -> EventBatch:
    """Return the DDL events of the event stream.

    >>> route = DDLRoute(index=4, seq=0, commit_ts=9, topic="b")
    >>> events = ddl_events([route], TopicPartitions(("a", "b"), (1, 2)))
    >>> events.select(["topic", "partition", "partition_index", "ddl"]).to_pydict()
    {'topic': ['b', 'b'], 'partition': [0, 1], 'partition_index': [1, 2], 'ddl': [4, 4]}

    :param to_all: whether to send DDLs to all partitions of their topic; otherwise to partition 0.
    :return: shape ``EVENT_STREAM``, in the order of ``routes``.
    """
    sent = [
        (partition_index, route)
        for route in routes
        for partition_index in topic_partitions.of(route.topic)[: None if to_all else 1]
    ]
    order_keys = [route.seq.to_bytes(8, "big") for _, route in sent]
    times = np.array([route.commit_ts for _, route in sent], np.int64)
    columns = {
        "commit_ts": times,
        "deliver_after_ts": times,
        "ddl": np.array([route.index for _, route in sent], np.int64),
        "txn_order_key": pa.array(order_keys, pa.binary()),
    }
    return _control_events(
        columns, np.array([index for index, _ in sent], np.int64), Kind.DDL, topic_partitions
    )


def single_resolved_events(
    plan: ResolvedPlan,
    ddl_ts: Iterable[int],
    topics: Sequence[ActiveTopic],
    topic_partitions: TopicPartitions,
) -> EventBatch:
    """Return the explicit resolved events, and those at DDLs and at the end.

    :param ddl_ts: commit-ts of the DDLs that are sent.
    :return: shape ``EVENT_STREAM``, partition by partition.
    """
    single = plan.single(ddl_ts)
    times, after = (np.array([*column], np.int64) for column in (single, single.values()))
    return _resolved_events(times, after, topics, topic_partitions)


def resolved_events_after(
    times: Numbers, topics: Sequence[ActiveTopic], topic_partitions: TopicPartitions
) -> EventBatch:
    """Return a resolved event after each of some commits.

    :param times: commit-ts, each once.
    :return: shape ``EVENT_STREAM``, partition by partition, in each in the order of ``times``.
    """
    return _resolved_events(times, times, topics, topic_partitions)


def given_resolved_events(
    times: Numbers, after: Numbers, topics: Sequence[ActiveTopic], topic_partitions: TopicPartitions
) -> EventBatch:
    """Return resolved events that a source gives.

    :param times: their resolved-ts, each once.
    :param after: for each the TSO after whose commits it is delivered.
    :return: as ``resolved_events_after``.
    """
    return _resolved_events(times, after, topics, topic_partitions)


def regular_resolved_events(
    plan: ResolvedPlan,
    numbers: Numbers,
    topics: Sequence[ActiveTopic],
    topic_partitions: TopicPartitions,
    *,
    only: int | None = None,
) -> EventBatch:
    """Return the resolved events after each commit, or at each tick of the clock.

    :param numbers: numbers of the returned events; less than ``plan.regular``.
    :param only: the index of a partition whose events are returned; None: those of all partitions.
    :return: shape ``EVENT_STREAM``, partition by partition, in each in the order of ``numbers``.
    """
    times = plan.regular_ts(numbers)
    return _resolved_events(times, times, topics, topic_partitions, only)


def _resolved_events(
    times: Numbers,
    after: Numbers,
    topics: Sequence[ActiveTopic],
    topic_partitions: TopicPartitions,
    only: int | None = None,
) -> EventBatch:
    """Return resolved events in every partition of the topics that are active at their time.

    >>> topics = [ActiveTopic(topic="a", since=0), ActiveTopic(topic="b", since=7)]
    >>> times, partitions = np.array([5, 9]), TopicPartitions(("a", "b"), (1, 2))
    >>> events = _resolved_events(times, times, topics, partitions)
    >>> events.select(["topic", "partition", "commit_ts"]).to_pydict()
    {'topic': ['a', 'a', 'b', 'b'], 'partition': [0, 0, 0, 1], 'commit_ts': [5, 9, 9, 9]}
    """
    partitions = [
        (index, active.since)
        for active in topics
        for index in topic_partitions.of(active.topic)
        if only in (None, index)
    ]
    of_partitions = [np.flatnonzero(after >= since) for _, since in partitions]
    rows = np.concatenate([np.zeros(0, np.int64), *of_partitions])
    indexes = np.repeat([index for index, _ in partitions], [len(events) for events in of_partitions])
    columns = {
        "commit_ts": times[rows],
        "deliver_after_ts": after[rows],
        # Several explicit resolved events may follow the same commit; the lowest is sent first.
        "txn_order_key": eight_bytes(times[rows]),
    }
    return _control_events(columns, indexes, Kind.RESOLVED, topic_partitions)


def _control_events(
    columns: dict[str, pa.Array | Numbers], indexes: Numbers, kind: Kind, topic_partitions: TopicPartitions
) -> EventBatch:
    """Add the columns that DDL and resolved events have in common.

    :param indexes: partition index of each event.
    """
    rows = len(indexes)
    topics = pa.array(topic_partitions.topics, pa.string())
    zeros = np.zeros(rows, np.int64)
    given = {
        "partition_index": indexes,
        "topic": topics.take(pa.array(topic_partitions.topic_numbers(indexes))),
        "partition": indexes - topic_partitions.first(indexes),
        "kind": zeros + int(kind),
        "kind_order": zeros + KIND_ORDER[kind],
        "restart_epoch": zeros,
        "delivery_no": zeros,
    }
    return event_batch({**columns, **given}, rows)
