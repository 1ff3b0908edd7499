"""Marks each event with the newest earlier events of its partition: what order and barriers hang on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import INDEX_BITS, NOTHING, EventKind, Events, Rule
from ticdc_producer.verifier.fingerprint import Flags, Numbers, combined, text_hashes
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.observe import Observation

Newest = tuple[int, int]
"""Commit-ts and position of an event."""
_NONE: Newest = (NOTHING, NOTHING)
Table = tuple[str, str]
_Name = TypeVar("_Name")


@dataclass
class PartitionState:
    """The newest events of a partition, or of a slice of it.

    :param rows: by table and physical table id.
    :param first, last: positions of the first and last event.
    """

    resolved: Newest = _NONE
    ddl: Newest = _NONE
    insert: Newest = _NONE
    rows: dict[tuple[Table, int], Newest] = field(default_factory=dict)
    ddls: dict[Table, Newest] = field(default_factory=dict)
    first: int = NOTHING
    last: int = NOTHING

    def followed_by(self, later: PartitionState) -> PartitionState:
        """The newest events of this slice and the next one together."""
        return PartitionState(
            resolved=max(self.resolved, later.resolved),
            ddl=max(self.ddl, later.ddl),
            insert=max(self.insert, later.insert),
            rows=_newest_of(self.rows, later.rows),
            ddls=_newest_of(self.ddls, later.ddls),
            first=self.first,
            last=later.last,
        )

    def newest_ddl(self, table: Table) -> Newest:
        """The newest DDL of a table or of its database."""
        return max(self.ddls.get(table, _NONE), self.ddls.get((table[0], ""), _NONE))

    def newest_row(self, ddl: Table) -> Newest:
        """The newest row of the tables that a DDL concerns."""
        return max(
            (newest for (table, _), newest in self.rows.items() if _concerns(ddl, table)), default=_NONE
        )


def _newest_of(earlier: Mapping[_Name, Newest], later: Mapping[_Name, Newest]) -> dict[_Name, Newest]:
    found = dict(earlier)
    for name, newest in later.items():
        found[name] = max(newest, found.get(name, _NONE))
    return found


@dataclass(frozen=True)
class MarkedEvents:
    """Observed events of a partition with their marks.

    :param mixed_kind: the event differs in kind from the event before it in its message, or is not a row.
    :param mixed_key: the row differs in its dispatch key from the row before it in its message.
    """

    events: Events
    observation: Observation
    mixed_kind: Flags
    mixed_key: Flags

    @property
    def options(self) -> VerifyOptions:
        """What is known of the stream."""
        return self.observation.options


class PartitionMarks:
    """Marks the events of a slice; those of a partition come in the order of their position.

    A message is never in two batches.
    """

    def __init__(self) -> None:
        self.states: dict[tuple[str, int], PartitionState] = {}

    def mark(self, observation: Observation) -> MarkedEvents:
        """Mark the events of a batch, which may be of several partitions."""
        events = observation.events
        columns = {name: np.full(len(events), NOTHING) for name in _MARKS}
        mixed = np.zeros((2, len(events)), bool)
        batch = _batches(events)
        for name, rows in partitions_of(events):
            state, own = self.states.setdefault(name, PartitionState()), events.take(rows)
            _mark(state, own, rows, columns)
            mixed[:, rows] = _mixed(own, batch[rows])
            if state.first == NOTHING:
                state.first = int(own.position[0])
            state.last = int(own.position[-1])
        return MarkedEvents(replace(events, **columns), observation, mixed[0], mixed[1])


_MARKS = (
    "resolved_ts", "resolved_position", "ddl_ts", "ddl_position", "own_ddl_ts", "own_ddl_position",
    "table_ts", "table_position", "insert_ts",
)  # fmt: skip


def partitions_of(events: Events) -> Iterator[tuple[tuple[str, int], Numbers]]:
    """Each (topic, partition) with the numbers of its events."""
    codes, topics = events.topics
    most = int(events.partition.max(initial=0)) + 1
    found, numbers = np.unique(codes * most + events.partition, return_inverse=True)
    for number, code in enumerate(found.tolist()):
        topic, partition = divmod(code, most)
        yield (topics[topic], partition), np.flatnonzero(numbers == number)


def newest_before(events: Events, members: Flags, before: Newest) -> tuple[Numbers, Numbers, Newest]:
    """Commit-ts and position of the newest member before each event, and of the newest one of all.

    :param before: the newest one before the first event.
    """
    ts = np.where(members, events.commit_ts, NOTHING)
    highest = np.maximum.accumulate(np.concatenate([[before[0]], ts]))
    newest = members & (ts >= highest[:-1])
    numbers = np.maximum.accumulate(
        np.concatenate([[NOTHING], np.where(newest, np.arange(len(ts)), NOTHING)])
    )
    found = np.where(numbers < 0, before[1], events.position[numbers] if len(ts) else before[1])
    return highest[:-1], found[:-1], (int(highest[-1]), int(found[-1]))


def _mark(state: PartitionState, events: Events, rows: Numbers, columns: dict[str, Numbers]) -> None:
    row = events.kind == EventKind.ROW
    of = {
        "resolved": events.kind == EventKind.RESOLVED,
        "ddl": events.kind == EventKind.DDL,
    }
    _mark_tables(state, events, rows, columns)
    for name, members in of.items():
        ts, position, newest = newest_before(events, members, getattr(state, name))
        columns[f"{name}_ts"][rows], columns[f"{name}_position"][rows] = ts, position
        setattr(state, name, newest)
    inserts = row & (events.op == Op.INSERT)
    columns["insert_ts"][rows], _, state.insert = newest_before(events, inserts, state.insert)


def _mark_tables(state: PartitionState, events: Events, rows: Numbers, columns: dict[str, Numbers]) -> None:
    """Mark the newest rows and DDLs of the event's own table."""
    codes, tables = events.tables
    row, ddl = events.kind == EventKind.ROW, events.kind == EventKind.DDL
    _mark_ddl_tables(state, events, np.flatnonzero(ddl), rows, columns)
    for code, table in enumerate(tables):
        of_table = row & (codes == code)
        for table_id in np.unique(events.table_id[of_table]).tolist():
            members = of_table & (events.table_id == table_id)
            name = table, table_id
            ts, position, newest = newest_before(events, members, state.rows.get(name, _NONE))
            chosen = rows[members]
            columns["table_ts"][chosen], columns["table_position"][chosen] = ts[members], position[members]
            state.rows[name] = newest
        before = state.newest_ddl(table)
        own = ddl & np.isin(codes, [number for number, other in enumerate(tables) if _concerns(other, table)])
        ts, position, _ = newest_before(events, own, before)
        chosen = rows[of_table]
        columns["own_ddl_ts"][chosen], columns["own_ddl_position"][chosen] = ts[of_table], position[of_table]
    for number in np.flatnonzero(ddl).tolist():
        found = int(events.commit_ts[number]), int(events.position[number])
        table = tables[codes[number]]
        state.ddls[table] = max(state.ddls.get(table, _NONE), found)


def _concerns(ddl: Table, table: Table) -> bool:
    """Whether a DDL concerns a table; one without table concerns all tables of its database."""
    return ddl[0] == table[0] and ddl[1] in ("", table[1])


def _mark_ddl_tables(
    state: PartitionState, events: Events, ddls: Numbers, rows: Numbers, columns: dict[str, Numbers]
) -> None:
    """Mark the newest row before each DDL in the tables that it concerns."""
    codes, tables = events.tables
    row = events.kind == EventKind.ROW
    for number in ddls.tolist():
        ddl = tables[codes[number]]
        own = row[:number] & np.isin(
            codes[:number], [n for n, table in enumerate(tables) if _concerns(ddl, table)]
        )
        found = state.newest_row(ddl)
        if own.any():
            newest = events.commit_ts[:number][own].max()
            last = events.position[:number][own & (events.commit_ts[:number] == newest)].max()
            found = max(found, (int(newest), int(last)))
        columns["table_ts"][rows[number]], columns["table_position"][rows[number]] = found


def _batches(events: Events) -> Numbers:
    """The value that rows of a message share; -1 if unknown.

    Rules by value dispatch by the hash alone, and rows of two tables may have the same hash.
    """
    by_value = np.isin(events.rule, [Rule.INDEX_VALUE, Rule.COLUMNS, Rule.TS])
    of_table = (combined(text_hashes(events.schema), text_hashes(events.table)) >> np.uint64(1)).astype(
        np.int64
    )
    return np.where(by_value, events.dispatch_key, of_table)


def _mixed(events: Events, batch: Numbers) -> Numbers:
    """Events whose kind or dispatch key differs from that of the previous event in the message."""
    offset, row = events.position >> INDEX_BITS, events.kind == EventKind.ROW
    same = np.zeros(len(events), bool)
    same[1:] = (offset[1:] == offset[:-1]) & (events.kind[1:] != EventKind.ERROR)
    rows = row & np.roll(row, 1)
    known = (batch != NOTHING) & (np.roll(batch, 1) != NOTHING)
    return np.stack([same & ~rows, same & rows & known & (batch != np.roll(batch, 1))])


def carried_marks(events: Events, before: Mapping[tuple[int, str, int], PartitionState]) -> Events:
    """The events of several slices, with marks that count the slices before their own as well.

    :param before: by slice, topic and partition the state at the start of the slice; nothing for the first
        slice of a partition.
    """
    columns = {name: getattr(events, name).copy() for name in _MARKS}
    slices = np.unique(events.slice)
    for number in slices.tolist():
        in_slice = np.flatnonzero(events.slice == number)
        of_slice = events.take(in_slice)
        for (topic, partition), rows in partitions_of(of_slice):
            if state := before.get((number, topic, partition)):
                _carry(state, of_slice.take(rows), in_slice[rows], columns)
    return replace(events, **columns)


def _carry(state: PartitionState, events: Events, rows: Numbers, columns: dict[str, Numbers]) -> None:
    def raise_to(name: str, chosen: Numbers, newest: Newest) -> None:
        older = chosen[columns[f"{name}_ts"][chosen] < newest[0]]
        columns[f"{name}_ts"][older] = newest[0]
        if f"{name}_position" in columns:
            columns[f"{name}_position"][older] = newest[1]

    for name in ("resolved", "ddl", "insert"):
        raise_to(name, rows, getattr(state, name))
    codes, tables = events.tables
    for code, table in enumerate(tables):
        of_table = codes == code
        of_rows, of_ddls = (
            of_table & (events.kind == EventKind.ROW),
            of_table & (events.kind == EventKind.DDL),
        )
        raise_to("own_ddl", rows[of_rows], state.newest_ddl(table))
        raise_to("table", rows[of_ddls], state.newest_row(table))
        for table_id in np.unique(events.table_id[of_rows]).tolist():
            newest = state.rows.get((table, table_id), _NONE)
            raise_to("table", rows[of_rows & (events.table_id == table_id)], newest)
