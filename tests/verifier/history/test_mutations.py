"""Each mutation of a history is a difference, with its row key and its position, in each protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

from tests.verifier.history.sides import OPTIONS, compared, decoded_of, job_of, side_of, with_events
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.verifier.history.outcome import HistoryDiff, HistoryDifference
from ticdc_producer.verifier.history.sides import HistorySide

Events: TypeAlias = list[dict[str, Any]]
SQL = """
CREATE TABLE test.items (id INT PRIMARY KEY, name VARCHAR(10), n INT);
INSERT INTO test.items VALUES (1, 'a', 0), (2, 'b', 0), (3, 'c', 0);
UPDATE test.items SET n = 1 WHERE id = 3;
UPDATE test.items SET n = n + 5 WHERE id = 1;
ALTER TABLE test.items ADD COLUMN note VARCHAR(5);
UPDATE test.items SET n = 2 WHERE id = 3;
DELETE FROM test.items WHERE id = 2;
UPDATE test.items SET n = 3 WHERE id = 3;
UPDATE test.items SET n = n + 5 WHERE id = 1;
"""
SECOND = 1000 << 18
RAW = "changefeed.sink.kafka-config.output-raw-change-event=true"
WITHOUT_TIME = ("avro, plain",)


@cache
def side(protocol: str, partitions: int) -> HistorySide:
    scenario = Scenario("items").sql(SQL)
    return side_of(job_of(scenario, protocol, partitions=partitions, overrides=["clock.every=5s"]))


def of_value(events: Events, n: str) -> dict[str, Any]:
    """The event after which the row with id 3 has this value."""
    (event,) = (
        event
        for event in events
        if event["kind"] == "row"
        and dict(event["after"] or ()).items() >= {"id": b"3", "n": n.encode()}.items()
    )
    return event


def lost_row(events: Events) -> dict[str, Any]:
    lost = of_value(events, "2")
    events.remove(lost)
    return lost


def changed_value(events: Events) -> dict[str, Any]:
    changed = of_value(events, "2")
    changed["after"] = [(name, b"7" if name == "n" else value) for name, value in changed["after"]]
    return changed


def swapped_order(events: Events) -> dict[str, Any]:
    first, second = of_value(events, "1"), of_value(events, "2")
    for name in ("offset", "index"):
        first[name], second[name] = second[name], first[name]
    return first


def missing_ddl(events: Events) -> dict[str, Any]:
    lost = [event for event in events if event["kind"] == "ddl" and "ALTER" in event["query"]]
    for event in lost:
        events.remove(event)
    return lost[0]


def other_commit_ts(events: Events) -> dict[str, Any]:
    moved = of_value(events, "2")
    moved["commit_ts"] += SECOND
    return moved


def extra_event(events: Events) -> dict[str, Any]:
    last = of_value(events, "3")
    extra = {**last, "offset": 1_000_000, "commit_ts": last["commit_ts"] and last["commit_ts"] + SECOND}
    extra["after"] = [(name, b"9" if name == "n" else value) for name, value in last["after"]]
    events.append(extra)
    return extra


MUTATIONS: Mapping[Callable[[Events], dict[str, Any]], str] = {
    lost_row: "only in A",
    changed_value: "values",
    swapped_order: "order",
    missing_ddl: "DDL, only in A",
    other_commit_ts: "commit-ts",
    extra_event: "only in B",
}


def position(event: dict[str, Any]) -> str:
    return f"{event['topic']}/{event['partition']}@{event['offset']}[{event['index']}]"


def mutated(protocol: str, mutation: Callable[[Events], dict[str, Any]]) -> tuple[HistoryDiff, str]:
    """Compare the history in Open Protocol with a mutated one, and return the position of the mutation."""
    other = side(protocol, 3)
    events = decoded_of(other).to_pylist()
    event = mutation(events)
    events.sort(key=lambda event: (event["partition"], event["offset"], event["index"]))
    b = with_events(other, pa.Table.from_pylist(events, DECODED))
    return compared(side("open-protocol", 2), b), position(event)


def the_difference(diff: HistoryDiff) -> HistoryDifference:
    (table,) = (table for table in diff.tables if not table.ok)
    (example,) = table.examples
    return example


@pytest.mark.parametrize(
    ("protocol", "mutation"),
    [
        pytest.param(protocol, mutation, id=f"{protocol}-{mutation.__name__}")
        for protocol in OPTIONS
        for mutation in MUTATIONS
        if not (protocol in WITHOUT_TIME and mutation is missing_ddl)  # it has no DDLs
    ],
)
def test_a_mutation_is_a_difference(protocol: str, mutation: Callable[[Events], dict[str, Any]]) -> None:
    timeless = protocol in WITHOUT_TIME
    diff, location = mutated(protocol, mutation)
    if timeless and mutation is other_commit_ts:
        assert diff.equal
        assert {"DDLs", "commit-ts of rows"} <= diff.not_compared.keys()
        return
    assert not diff.equal
    difference = the_difference(diff)
    assert difference.table == "test.items"
    if mutation is missing_ddl:
        assert difference.kind == MUTATIONS[mutation]
        assert difference.a is not None
        assert "ALTER TABLE" in difference.a
        return
    assert difference.key == "id=3"
    if timeless:  # the next change takes the place of the one that is lost or late
        assert difference.kind in ("values", MUTATIONS[mutation])
    elif (
        protocol == "avro" and mutation is swapped_order
    ):  # deletes without commit-ts: positions order the rows
        assert difference.kind == "only in A"
    else:
        assert difference.kind == MUTATIONS[mutation]
        assert difference.position_b == ("" if mutation is lost_row else location)
    if mutation is changed_value:
        assert (difference.column, difference.a, difference.b) == ("n", "2", "7")
    (table,) = diff.tables
    assert (table.equal, table.different, table.only_a, table.only_b) == (2, 1, 0, 0)


def test_a_lost_row_is_named_by_the_event_that_the_other_side_has() -> None:
    diff, _ = mutated("canal-json", lost_row)
    difference = the_difference(diff)
    assert difference.before == 2
    assert difference.position_b == ""
    assert " update test.items id='3' n='2' name='c'" in difference.event_a


def test_a_whole_row_that_is_lost_is_only_in_the_other_history() -> None:
    other = side("debezium", 3)
    events = [
        event
        for event in decoded_of(other).to_pylist()
        if dict(event["after"] or event["before"] or ()).get("id") != b"1"
    ]
    b = with_events(other, pa.Table.from_pylist(events, DECODED))
    (table,) = compared(side("open-protocol", 2), b).tables
    assert (table.equal, table.different, table.only_a, table.only_b) == (2, 0, 1, 0)
    (table,) = compared(b, side("open-protocol", 2)).tables
    assert (table.equal, table.different, table.only_a, table.only_b) == (2, 0, 0, 1)


def test_messages_that_do_not_decode_are_a_difference() -> None:
    whole = side("open-protocol", 2)
    cut = replace(
        whole,
        messages=replace(
            whole.messages,
            rows=whole.messages.rows.map(
                lambda batches: (
                    batch.set_column(
                        batch.schema.get_field_index("value"),
                        "value",
                        pa.array([value[:-1] for value in batch.column("value").to_pylist()], pa.binary()),
                    )
                    for batch in batches
                ),
                whole.messages.rows.schema,
            ),
        ),
    )
    diff = compared(whole, cut)
    assert not diff.equal
    assert diff.b.undecoded > 0
    assert diff.b.first_undecoded.startswith("t/0@")


def test_only_the_named_tables_are_compared() -> None:
    scenario = Scenario("two").sql("CREATE TABLE test.u (a INT PRIMARY KEY); INSERT INTO test.u VALUES (1)")
    scenario.sql(SQL)
    both = side_of(job_of(scenario, "open-protocol"))
    alone = side_of(job_of(Scenario("one").sql(SQL), "simple"))
    assert {table.name for table in compared(both, alone, ["test.it*"]).tables} == {"test.items"}
    assert not compared(both, alone).equal


@pytest.mark.parametrize("protocol", ["debezium", "maxwell", "canal-json, extension"])
def test_a_ddl_whose_type_a_protocol_does_not_carry_is_missed(protocol: str) -> None:
    other = side(protocol, 3)
    events = decoded_of(other).to_pylist()
    missing_ddl(events)
    diff = compared(side("canal-json", 2), with_events(other, pa.Table.from_pylist(events, DECODED)))
    assert the_difference(diff).kind == "DDL, only in A"


def test_a_row_that_leaves_its_key_is_named_by_the_old_key() -> None:
    scenario = Scenario("moved").sql(
        "CREATE TABLE test.m (id INT PRIMARY KEY NONCLUSTERED);"
        "INSERT INTO test.m VALUES (1); UPDATE test.m SET id = 2;"
    )
    whole = side_of(job_of(scenario, "open-protocol", overrides=[RAW]))
    events = [
        event
        for event in decoded_of(side_of(job_of(scenario, "simple"))).to_pylist()
        if (event["kind"], event["op"]) != ("row", "delete")
    ]
    cut = with_events(side("simple", 3), pa.Table.from_pylist(events, DECODED))
    difference = the_difference(compared(whole, cut))
    assert (difference.kind, difference.key) == ("only in A", "id=1")
    assert " update test.m id='2' (was id='1')" in difference.event_a
