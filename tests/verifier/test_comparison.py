"""Comparison of expected and delivered events, and of expected rows and those of the reference consumer."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pyarrow as pa
import pytest

from tests.streams import CheckedEvents
from tests.verifier.topic import PLAIN, Topic, account, ts
from ticdc_producer.model.shapes import STATE
from ticdc_producer.verifier.comparison import ComparedEvents, Comparison, DeliveryOrder, Differences, match
from ticdc_producer.verifier.events import INDEX_BITS
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.table_state import StateComparison


def stream() -> Topic:
    topic = Topic().ddl(ts(0), "CREATE TABLE bank.accounts").resolved(ts(0))
    topic.row(0, ts(1), after=account(1)).row(0, ts(1), after=account(2)).resolved(ts(1))
    topic.row(0, ts(2), before=account(1), after=account(1, 5)).row(0, ts(3), before=account(2))
    return topic.resolved(ts(3))


def row_of(topic: Topic, offset: int) -> dict[str, object]:
    return next(event for event in topic.events if (event["partition"], event["offset"]) == (0, offset))


def compare(expected: Topic, delivered: Topic) -> Comparison:
    return CheckedEvents(delivered.table(), VerifyOptions()).comparison(expected.table())


def counts(comparison: Comparison) -> dict[str, int]:
    return {name: value for name, value in dataclasses.asdict(comparison).items() if name != "diff" and value}


def test_equal_streams_have_no_difference() -> None:
    comparison = compare(stream(), stream())
    assert comparison.ok
    assert counts(comparison) == {"expected": 12}
    assert comparison.diff == ()


def test_a_replayed_suffix_is_duplicates() -> None:
    comparison = compare(stream(), stream().again(0, 3))
    assert comparison.ok
    assert counts(comparison) == {"expected": 12, "duplicates": 5}


def test_lost_invented_and_changed_events_are_in_the_diff() -> None:
    topic = stream().row(1, ts(9), after=account(9))
    topic.events.remove(row_of(topic, 3))
    row_of(topic, 5)["after"] = {"id": b"1", "email": b"1@bank", "balance": b"6"}
    comparison = compare(stream(), topic)
    assert counts(comparison) == {"expected": 12, "missing": 2, "unexpected": 2}
    assert [line[0] for line in comparison.diff] == ["-", "-", "+", "+"]
    lost, changed, came, invented = comparison.diff
    assert "bank/0@3[0]" in lost
    assert "balance='5'" in changed
    assert "balance='6'" in came
    assert "bank/1@4[0]" in invented


def test_another_flag_is_another_event() -> None:
    """Equal values are not enough: a consumer builds its key by the flags."""
    topic = stream()
    row_of(topic, 2)["columns"] = [(name, "bigint", PLAIN) for name in account(1)]
    assert counts(compare(stream(), topic)) == {
        "expected": 12, "missing": 1, "unexpected": 1,
    }  # fmt: skip


def test_events_in_another_order_or_partition_are_not_right() -> None:
    topic = stream()
    update, delete = row_of(topic, 5), row_of(topic, 6)
    update["offset"], delete["offset"] = 6, 5
    comparison = compare(stream(), topic)
    assert counts(comparison) == {"expected": 12, "out_of_order": 1}
    assert comparison.diff[0].startswith("~ bank/0@")

    moved = stream()
    row_of(moved, 6)["partition"] = 1
    assert counts(compare(stream(), moved)).keys() >= {"missing", "unexpected"}


def test_the_examples_have_the_lowest_offsets_of_all_partitions() -> None:
    expected = Topic()
    for number in range(1, 7):
        expected.row(0, ts(number), after=account(number))
    for number in range(7, 10):
        expected.row(1, ts(number), after=account(number))
    comparison = compare(expected, Topic())
    assert comparison.missing == 9
    examples = [re.search(r"bank/(\d)@(\d)", line) for line in comparison.diff]
    assert [match.groups() for match in examples if match] == [
        ("0", "0"), ("0", "1"), ("0", "2"), ("1", "0"), ("1", "1"),
    ]  # fmt: skip


def test_so_do_those_of_several_tasks() -> None:
    tasks = [
        Differences(examples={"-": [("bank", partition, first, 0)]}) for partition, first in ((0, 9), (1, 2))
    ]
    differences = Differences()
    differences.merge(tasks)
    assert differences.expected_examples == [("bank", 1, 2, 0), ("bank", 0, 9, 0)]


@pytest.mark.parametrize("bits", [0, 1, 16])
def test_the_order_is_that_of_all_windows(bits: int) -> None:
    """Windows of 65,536 offsets are compared one after the other; the events before them are remembered.

    A window has ``2 ** bits`` of the events.
    """
    count, size = 12, np.int64
    delivered = np.arange(count, dtype=size)
    delivered[[2, 9]] = delivered[[9, 2]]
    of_both = {
        "topic": pa.array(["t"] * count), "schema": pa.array(["s"] * count), "table": pa.array(["t"] * count),
        "partition": np.zeros(count, size), "commit_ts": np.ones(count, size), "key": np.arange(count),
        "key_check": np.arange(count), "kind": np.ones(count, size), "identity": np.arange(count),
        "shape": np.arange(count), "wire": np.zeros(count, size),
    }  # fmt: skip
    sides = [
        ComparedEvents(
            position=offsets << (INDEX_BITS + 16 - bits), expected=np.full(count, expected), **of_both
        )
        for offsets, expected in ((np.arange(count), True), (delivered, False))
    ]
    differences, matched = match(ComparedEvents.joined(sides))
    order = DeliveryOrder()
    for window in range(matched.num_rows):
        differences.merge([order.add(matched.slice(window, 1))])
    assert matched.num_rows == len(np.unique(np.arange(count) >> bits))
    assert (differences.expected, differences.missing, differences.unexpected) == (count, 0, 0)
    assert differences.out_of_order == 7  # all that were expected after the one that came first


def has_rows(topic: Topic, **rows: list[dict[str, str]]) -> bool:
    """Whether tables of database bank have exactly these rows at the end."""
    return state_of(topic, **rows).ok


def state_of(topic: Topic, **rows: list[dict[str, str]]) -> StateComparison:
    records: list[tuple[str, list[tuple[str, bytes]] | None]] = [(table, None) for table in rows]
    for table, images in rows.items():
        records += [(table, [(name, text.encode()) for name, text in image.items()]) for image in images]
    expected = pa.Table.from_pylist(
        [{"schema": "bank", "table": table, "row": row} for table, row in records], STATE
    )
    return CheckedEvents(topic.table(), VerifyOptions()).state(expected, {})


def test_the_last_event_of_a_row_decides_and_duplicates_do_no_harm() -> None:
    assert has_rows(stream(), accounts=[account(1, 5)])
    assert has_rows(stream().again(0, 2), accounts=[account(1, 5)])


def test_within_a_transaction_the_insert_decides() -> None:
    """The halves of a split update can stand in two partitions, which have no common order."""
    topic = stream().row(1, ts(4), after=account(1, email="new@bank")).row(0, ts(4), before=account(1, 5))
    assert has_rows(topic, accounts=[account(1, email="new@bank")])


def test_drop_and_truncate_clear_a_table_and_drop_database_all() -> None:
    topic = stream().row(0, ts(4), after={"id": "1"}, flags={"id": 2}, table="other")
    truncated = topic.ddl(ts(5), "TRUNCATE TABLE bank.accounts", ddl_type=11)
    filled = truncated.row(0, ts(6), after=account(7))
    assert has_rows(filled, accounts=[account(7)], other=[{"id": "1"}])
    dropped = truncated.ddl(ts(7), "DROP DATABASE bank", table="", ddl_type=2)
    assert has_rows(dropped, accounts=[], other=[])


def test_a_state_that_differs_is_listed_row_by_row() -> None:
    assert state_of(stream(), accounts=[account(1, 5)]).tables == 1
    comparison = state_of(stream(), accounts=[account(1, 6)])
    assert (comparison.ok, comparison.missing, comparison.unexpected) == (False, 1, 1)
    assert [line[0] for line in comparison.diff] == ["-", "+"]
    assert "balance=6" in comparison.diff[0]
    assert "balance=5" in comparison.diff[1]
