"""When resolved events are sent, and which partitions get DDL and resolved events."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model import tso
from ticdc_producer.model.event import Kind
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.pipeline.control_events import (
    ActiveTopic,
    DDLRoute,
    ResolvedPlan,
    ddl_events,
    regular_resolved_events,
    single_resolved_events,
)
from ticdc_producer.pipeline.delivery import TopicPartitions

START = tso.compose(1_000_000)
CLOCK = CommitClock(start=START, every_us=300_000)
PINNED = CommitClock(start=START, every_us=300_000, pinned={2: tso.compose(1_005_000, 7)})


def at(milliseconds: int, logical: int = 0) -> int:
    """A TSO, by the time since the first commit."""
    return tso.compose(1_000_000 + milliseconds, logical)


def regular(plan: ResolvedPlan) -> list[int]:
    stamps: list[int] = plan.regular_ts(np.arange(plan.regular)).tolist()
    return stamps


def test_one_resolved_event_after_each_transaction() -> None:
    plan = ResolvedPlan(clock=PINNED, commits=4)
    assert regular(plan) == [at(0), at(300), at(5000, 7), at(5300, 7)]
    assert plan.single([at(300)]) == {}


def test_resolved_events_at_ticks_after_ddls_and_at_the_end() -> None:
    plan = ResolvedPlan(clock=CLOCK, commits=8, after_transaction=False, every_ms=500)
    assert plan.last == at(2100)
    assert regular(plan) == [at(500), at(1000), at(1500), at(2000)]
    assert plan.is_regular(at(2000))
    assert not any(map(plan.is_regular, (at(-500), at(0), at(499), at(500, 1), at(2500))))
    assert plan.single([at(300), at(1500)]) == {at(300): at(300), at(2100): at(2100)}


def test_a_tick_at_the_last_commit_is_sent_once() -> None:
    plan = ResolvedPlan(clock=CLOCK, commits=6, after_transaction=False, every_ms=500)
    assert regular(plan)[-1] == plan.last == at(1500)
    assert plan.single([]) == {}


@pytest.mark.parametrize("after_transaction", [True, False])
def test_an_explicit_resolved_event_with_the_time_of_a_regular_one_is_not_sent_twice(
    after_transaction: bool,
) -> None:
    explicit = ((at(1500), at(1500)), (at(1500), at(1800)), (at(1499), at(1800)))
    plan = ResolvedPlan(
        clock=CLOCK, commits=8, after_transaction=after_transaction, every_ms=500, explicit=explicit
    )
    assert at(1500) in regular(plan)
    at_end = {} if after_transaction else {at(2100): at(2100)}
    assert plan.single([]) == {at(1499): at(1800)} | at_end


def test_of_equal_explicit_resolved_events_the_earliest_is_sent() -> None:
    explicit = ((at(10), at(600)), (at(10), at(300)), (at(10), at(900)), (at(20), at(300)))
    plan = ResolvedPlan(clock=CLOCK, commits=3, explicit=explicit)
    assert plan.single([]) == {at(10): at(300), at(20): at(300)}


@pytest.mark.parametrize("after_transaction", [True, False])
def test_without_commits_only_explicit_resolved_events_are_sent(after_transaction: bool) -> None:
    plan = ResolvedPlan(
        clock=CLOCK, commits=0, after_transaction=after_transaction, every_ms=1, explicit=((START, START),)
    )
    assert plan.regular == 0
    assert not plan.is_regular(START)
    assert plan.single([]) == {START: START}


def test_a_protocol_without_resolved_events_gets_none() -> None:
    plan = ResolvedPlan(clock=CLOCK, commits=3, explicit=((START, START),), sent=False)
    assert (plan.regular, plan.single([at(300)])) == (0, {})
    assert not plan.is_regular(START)


CLOCKS = (
    CLOCK,
    PINNED,
    CommitClock(start=at(0, 5), every_us=1),
    CommitClock(start=START, pinned={0: at(-90_000)}),
)
PLANS = st.builds(
    ResolvedPlan,
    clock=st.sampled_from(CLOCKS),
    commits=st.integers(0, 20),
    after_transaction=st.booleans(),
    every_ms=st.integers(1, 700),
)


@given(PLANS, st.data())
def test_a_resolved_ts_is_regular_if_a_regular_event_has_it(plan: ResolvedPlan, data: st.DataObject) -> None:
    times = regular(plan)
    assert len(times) == plan.regular
    commits = [plan.clock.ts(number) for number in range(plan.commits + 1)]
    near = data.draw(st.sampled_from([at(-1), START, *commits, *times[:50], *times[-50:]]))
    ts = near + data.draw(st.sampled_from([0, 0, 1, -1, 1 << 18, -(1 << 18)]))
    assert plan.is_regular(ts) == (ts in times)
    assert not any(plan.is_regular(ts) for ts in plan.single(commits))


TOPICS = TopicPartitions(("a", "b"), (2, 2))
ACTIVE = (ActiveTopic(topic="a", since=0), ActiveTopic(topic="b", since=at(300)))


def sent(events: pa.RecordBatch) -> list[tuple[Any, ...]]:
    names = ("partition_index", "topic", "partition", "commit_ts", "deliver_after_ts", "txn_order_key")
    return sorted(tuple(row[name] for name in names) for row in events.to_pylist())


def _in_partition(index: int, ts: int, after: int) -> tuple[Any, ...]:
    return (index, "aabb"[index], index % 2, ts, after, ts.to_bytes(8, "big"))


def test_a_topic_gets_resolved_events_from_its_first_table_on() -> None:
    plan = ResolvedPlan(clock=CLOCK, commits=3)
    events = regular_resolved_events(plan, np.array([0, 1]), ACTIVE, TOPICS)
    assert sent(events) == [
        *[_in_partition(index, ts, ts) for index in (0, 1) for ts in (at(0), at(300))],
        *[_in_partition(index, at(300), at(300)) for index in (2, 3)],
    ]
    assert set(events["kind"].to_pylist()) == {Kind.RESOLVED}
    assert set(events["kind_order"].to_pylist()) == {2}


def test_a_topic_is_active_by_the_time_of_delivery() -> None:
    plan = ResolvedPlan(clock=CLOCK, commits=3, explicit=((at(1), at(1)), (at(2), at(300))))
    events = single_resolved_events(plan, [], ACTIVE, TOPICS)
    assert sent(events) == [
        *[_in_partition(index, *times) for index in (0, 1) for times in ((at(1), at(1)), (at(2), at(300)))],
        *[_in_partition(index, at(2), at(300)) for index in (2, 3)],
    ]


@pytest.mark.parametrize(("to_all", "partitions"), [(True, [2, 3]), (False, [2])])
def test_a_ddl_goes_to_its_topic(to_all: bool, partitions: list[int]) -> None:
    routes = [DDLRoute(index=number + 5, seq=number, commit_ts=at(9), topic="b") for number in (0, 1)]
    events = ddl_events(routes, TOPICS, to_all=to_all)
    assert sent(events) == [
        (index, "b", index % 2, at(9), at(9), seq.to_bytes(8, "big"))
        for index in partitions
        for seq in (0, 1)
    ]
    assert sorted(set(events["ddl"].to_pylist())) == [5, 6]
    assert set(events["kind_order"].to_pylist()) == {1}


def test_without_events_the_columns_are_the_same() -> None:
    plan = ResolvedPlan(clock=CLOCK, commits=0)
    none = [
        ddl_events([], TOPICS),
        single_resolved_events(plan, [], ACTIVE, TOPICS),
        regular_resolved_events(plan, np.arange(0), ACTIVE, TOPICS),
    ]
    some = regular_resolved_events(ResolvedPlan(clock=CLOCK, commits=1), np.arange(1), ACTIVE, TOPICS)
    assert [(events.num_rows, events.schema) for events in none] == [(0, some.schema)] * 3
