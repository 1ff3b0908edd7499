"""The trap ``table-lag``: a table is behind the others of its partition, and resolved events wait for it."""

from __future__ import annotations

import pytest

from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.wire import Event

CREATE = ("CREATE TABLE test.a (k INT PRIMARY KEY, v INT)", "CREATE TABLE test.b (k INT PRIMARY KEY, v INT)")
IN_TURN = tuple(f"INSERT INTO test.{table} VALUES ({key}, 0)" for key in range(6) for table in "ab")
OF_PARTS = (
    "CREATE TABLE test.p (k INT PRIMARY KEY) PARTITION BY HASH (k) PARTITIONS 2",
    *(f"INSERT INTO test.p VALUES ({key})" for key in range(10)),
)


def delivered(sql: tuple[str, ...], trap: str) -> list[Event]:
    """The events of the only partition, in their order."""
    options = {"enable-tidb-extension": True}
    topic = build_topic(FuzzExample(sql=sql, protocol="canal-json", options=options, inject=(trap,)))
    assert trap.partition(":")[0] in topic.traps
    return [event for position in sorted(topic.events) for event in topic.events[position]]


def rows(events: list[Event], *tables: str) -> list[int]:
    """The commit-ts of the rows of tables."""
    return [int(event.commit_ts) for event in events if event.kind == "row" and event.table in tables]


def test_rows_of_a_table_follow_newer_rows_of_another_one() -> None:
    events = delivered(CREATE + IN_TURN, "table-lag:rate=1,window=6")
    assert rows(events, "a", "b") != sorted(rows(events, "a", "b"))
    for table in ("a", "b"):
        assert rows(events, table) == sorted(rows(events, table))


def test_resolved_events_wait_for_the_table() -> None:
    """A resolved event comes below two rows that are in the wrong order, and none comes above a later row."""
    below_swapped, waiting = 0, list[int]()
    for event in delivered(CREATE + IN_TURN, "table-lag:rate=1,window=6"):
        if event.kind == "row":
            waiting.append(int(event.commit_ts))
        elif event.kind == "resolved":
            waiting = [ts for ts in waiting if ts > int(event.commit_ts)]
            below_swapped += waiting != sorted(waiting)
    assert waiting == []
    assert below_swapped


def test_all_parts_of_a_table_are_behind() -> None:
    """Some protocols do not name the part, so that nobody knows that each part has an order of its own."""
    events = delivered(OF_PARTS, "table-lag:rate=1,window=4")
    assert rows(events, "p") == sorted(rows(events, "p"))


@pytest.mark.parametrize("trap", ["table-lag", "replay-suffix", "replay-one-table", "resolved-fallback"])
def test_a_trap_of_segments_with_a_rate_needs_no_other_trap(trap: str) -> None:
    assert delivered(CREATE + IN_TURN, f"{trap}:rate=0.9,window=4")
