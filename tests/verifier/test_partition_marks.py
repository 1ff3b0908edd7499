"""The marks of random events, in batches and in slices, are those of their definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import NOTHING, EventKind, Events
from ticdc_producer.verifier.passes.observe import Observation
from ticdc_producer.verifier.passes.partition_marks import PartitionMarks, marks_across_slices

NAMES = [("a", "t"), ("a", "u"), ("b", "t"), ("a", ""), ("b", "")]
TABLES = 3
PARTITION = ("topic", 0)


@dataclass
class Observed:
    events: Events


def random_events(rows: int, seed: int) -> Events:
    """Return events of one partition; only DDLs have no table."""
    random = np.random.default_rng(seed)
    kinds = random.choice([EventKind.ROW, EventKind.DDL, EventKind.RESOLVED], rows, p=[0.6, 0.25, 0.15])
    names = random.integers(0, len(NAMES), rows)
    names = np.where(kinds == EventKind.ROW, names % TABLES, names)
    return Events.with_columns(
        rows,
        topic="topic",
        schema=[NAMES[name][0] for name in names],
        table=[NAMES[name][1] for name in names],
        position=np.arange(rows) * 10,
        commit_ts=random.integers(0, 9, rows),
        table_id=random.integers(0, 2, rows),
        kind=kinds,
        op=np.where(kinds == EventKind.ROW, random.integers(1, 4, rows), 0),
    )


def newest(events: Events, number: int, member: Callable[[int], bool]) -> tuple[int, int]:
    """Return commit-ts and position of the newest member before an event."""
    before = [(int(events.commit_ts[n]), int(events.position[n])) for n in range(number) if member(n)]
    return max(before, default=(NOTHING, NOTHING))


def expected(events: Events, number: int) -> dict[str, int]:
    """Return the marks of an event by their definition."""
    names = list(zip(events.schema.to_pylist(), events.table.to_pylist(), strict=True))
    kind, (schema, table) = events.kind, names[number]

    def of_kind(member: EventKind) -> tuple[int, int]:
        return newest(events, number, lambda n: kind[n] == member)

    def own_row(n: int) -> bool:
        if kind[n] != EventKind.ROW or names[n][0] != schema:
            return False
        if kind[number] == EventKind.DDL:
            return table in ("", names[n][1])
        return bool(names[n][1] == table and events.table_id[n] == events.table_id[number])

    def own_ddl(n: int) -> bool:
        return bool(kind[n] == EventKind.DDL and names[n][0] == schema and names[n][1] in ("", table))

    none = (NOTHING, NOTHING)
    marks = {
        "resolved": of_kind(EventKind.RESOLVED),
        "ddl": of_kind(EventKind.DDL),
        "own_ddl": newest(events, number, own_ddl) if kind[number] == EventKind.ROW else none,
        "table": none if kind[number] == EventKind.RESOLVED else newest(events, number, own_row),
    }
    inserts = newest(events, number, lambda n: bool(events.op[n] == Op.INSERT))
    named = {
        f"{name}_{part}": mark[i] for name, mark in marks.items() for i, part in enumerate(("ts", "position"))
    }
    return named | {"insert_ts": inserts[0]}


def check(events: Events, marked: Events) -> None:
    for number in range(len(events)):
        marks = expected(events, number)
        assert {name: int(getattr(marked, name)[number]) for name in marks} == marks


def mark(marks: PartitionMarks, events: Events) -> Events:
    return marks.mark(cast("Observation", Observed(events))).events


@pytest.mark.parametrize("seed", range(20))
def test_batches_of_a_slice(seed: int) -> None:
    events, marks = random_events(40, seed), PartitionMarks()
    batches = [events.take(numbers) for numbers in np.array_split(np.arange(40), [seed, seed + 7])]
    check(events, Events.joined([mark(marks, batch) for batch in batches if len(batch)]))


@pytest.mark.parametrize("seed", range(20))
def test_slices(seed: int) -> None:
    events = random_events(40, seed)
    first, second = events.take(np.arange(20)), events.take(np.arange(20, 40))
    before, own = PartitionMarks(), mark(PartitionMarks(), second)
    whole = [mark(before, first), marks_across_slices(own, {(0, *PARTITION): before.states[PARTITION]})]
    check(events, Events.joined(whole))
