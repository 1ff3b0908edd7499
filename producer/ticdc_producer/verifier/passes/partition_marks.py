"""Computes per partition the running maxima (resolved-ts, DDL ts, row ts) before each event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from ticdc_producer.engine.shuffle_codec import numbered_texts
from ticdc_producer.model.column_functions import Flags, Numbers, highest_before, sorted_groups, starts_of
from ticdc_producer.model.event import Op
from ticdc_producer.model.fingerprint import combined, text_hashes
from ticdc_producer.verifier.events import INDEX_BITS, NOTHING, EventKind, Events, Rule
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
        """Return the newest events of this slice and the next one together."""
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
        """Return the newest DDL of a table or of its database."""
        return max(self.ddls.get(table, _NONE), self.ddls.get((table[0], ""), _NONE))

    def newest_row(self, ddl: Table) -> Newest:
        """Return the newest row of the tables that a DDL concerns."""
        return max(
            (newest for (table, _), newest in self.rows.items() if _concerns(ddl, table)), default=_NONE
        )


def _newest_of(earlier: Mapping[_Name, Newest], later: Mapping[_Name, Newest]) -> dict[_Name, Newest]:
    merged = dict(earlier)
    for name, newest in later.items():
        merged[name] = max(newest, merged.get(name, _NONE))
    return merged


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
        """The options of the verification."""
        return self.observation.options


class PartitionMarks:
    """The marks of the events of a slice; those of a partition come in the order of their position.

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
            mixed[:, rows] = _mixed(own.position, own.kind, batch[rows])
            if state.first == NOTHING:
                state.first = int(own.position[0])
            state.last = int(own.position[-1])
        return MarkedEvents(replace(events, **columns), observation, mixed[0], mixed[1])


_MARKS = (
    "resolved_ts", "resolved_position", "ddl_ts", "ddl_position", "own_ddl_ts", "own_ddl_position",
    "table_ts", "table_position", "insert_ts",
)  # fmt: skip


def partitions_of(events: Events) -> Iterator[tuple[tuple[str, int], Numbers]]:
    """Yield each (topic, partition) with the numbers of its events."""
    codes, topics = events.topics
    most = int(events.partition.max(initial=0)) + 1
    partition_codes, numbers = np.unique(codes * most + events.partition, return_inverse=True)
    for number, code in enumerate(partition_codes.tolist()):
        topic, partition = divmod(code, most)
        yield (topics[topic], partition), np.flatnonzero(numbers == number)


def newest_before(
    commit_ts: Numbers, position: Numbers, members: Flags, before: Newest
) -> tuple[Numbers, Numbers, Newest]:
    """Return commit-ts and position of the newest member before each event, and of the newest one of all.

    >>> commit_ts, position, members = np.array([5, 9, 6]), np.array([0, 1, 2]), np.array([True] * 3)
    >>> ts, positions, newest = newest_before(commit_ts, position, members, (7, -3))
    >>> ts.tolist(), positions.tolist(), newest
    ([7, 7, 9], [-3, -3, 1], (9, 1))

    :param before: the newest one before the first event.
    """
    ts = np.where(members, commit_ts, NOTHING)
    highest = np.maximum.accumulate(np.concatenate([[before[0]], ts]))
    newest = members & (ts >= highest[:-1])
    numbers = np.maximum.accumulate(
        np.concatenate([[NOTHING], np.where(newest, np.arange(len(ts)), NOTHING)])
    )
    newest_position = np.where(numbers < 0, before[1], position[numbers] if len(ts) else before[1])
    return highest[:-1], newest_position[:-1], (int(highest[-1]), int(newest_position[-1]))


def _newest_in_groups(
    group: Numbers, members: Flags, ts: Numbers, position: Numbers
) -> tuple[Numbers, Numbers]:
    """Return commit-ts and position of the newest member before each event in its group; -1 for none.

    >>> group, members = np.array([0, 1, 0, 0]), np.array([1, 1, 1, 0], bool)
    >>> ts, position = _newest_in_groups(group, members, np.array([5, 9, 4, 8]), np.array([10, 11, 12, 13]))
    >>> ts.tolist(), position.tolist()
    ([-1, -1, 5, 5], [-1, -1, 10, 10])

    :param ts, position: of all events, in the order of their position.
    """
    order = np.argsort(group, kind="stable")
    highest, rows = highest_before(np.where(members, ts, NOTHING)[order], starts_of(group[order]))
    newest_ts, newest_position = np.full((2, len(group)), NOTHING)
    newest_ts[order] = highest
    newest_position[order] = np.where(highest == NOTHING, NOTHING, position[order][rows])
    return newest_ts, newest_position


def _newest_per_group(group: Numbers, ts: Numbers, position: Numbers) -> Iterator[tuple[int, Newest]]:
    """Yield each group with commit-ts and position of its newest event.

    >>> list(_newest_per_group(np.array([3, 4, 3]), np.array([9, 5, 6]), np.array([0, 1, 2])))
    [(3, (9, 0)), (4, (5, 1))]
    """
    order, starts = sorted_groups((group,), ts, position)
    last = order[np.roll(starts, -1)]
    yield from zip(
        group[last].tolist(), zip(ts[last].tolist(), position[last].tolist(), strict=True), strict=True
    )


def _mark(state: PartitionState, events: Events, rows: Numbers, columns: dict[str, Numbers]) -> None:
    row, times, positions = events.kind == EventKind.ROW, events.commit_ts, events.position
    of = {
        "resolved": events.kind == EventKind.RESOLVED,
        "ddl": events.kind == EventKind.DDL,
    }
    _mark_tables(state, events, rows, columns)
    for name, members in of.items():
        ts, position, newest = newest_before(times, positions, members, getattr(state, name))
        columns[f"{name}_ts"][rows], columns[f"{name}_position"][rows] = ts, position
        setattr(state, name, newest)
    inserts = row & (events.op == Op.INSERT)
    columns["insert_ts"][rows], _, state.insert = newest_before(times, positions, inserts, state.insert)


def _mark_tables(state: PartitionState, events: Events, rows: Numbers, columns: dict[str, Numbers]) -> None:
    """Mark the newest rows and DDLs of the event's own table."""
    row, ddl = np.flatnonzero(events.kind == EventKind.ROW), events.kind == EventKind.DDL
    _mark_own_ddls(state, events, row, rows, columns)
    if ddl.any():
        _mark_ddl_tables(state, events, np.flatnonzero(ddl), rows, columns)
    _mark_own_rows(state, events, row, rows, columns)
    codes, tables = events.tables
    for code, newest in _newest_per_group(codes[ddl], events.commit_ts[ddl], events.position[ddl]):
        state.ddls[tables[code]] = max(state.ddls.get(tables[code], _NONE), newest)


def _mark_own_rows(
    state: PartitionState, events: Events, row: Numbers, rows: Numbers, columns: dict[str, Numbers]
) -> None:
    """Mark the newest row of its table partition before each row, and add the rows to the state.

    :param row: numbers of the row events.
    """
    partitions, group = _table_partitions(events, row)
    ts, position = events.commit_ts[row], events.position[row]
    newest = _newest_in_groups(group, np.ones(len(row), bool), ts, position)
    before = [state.rows.get(name, _NONE) for name in partitions]
    newest = _newer(newest, _columns(before, group))
    columns["table_ts"][rows[row]], columns["table_position"][rows[row]] = newest
    for number, last in _newest_per_group(group, ts, position):
        state.rows[partitions[number]] = max(before[number], last)


def _mark_own_ddls(
    state: PartitionState, events: Events, row: Numbers, rows: Numbers, columns: dict[str, Numbers]
) -> None:
    """Mark the newest DDL of its table or of its database before each row.

    :param row: numbers of the row events.
    """
    codes, tables = events.tables
    newest = _columns([state.newest_ddl(table) for table in tables], codes)
    ddl = events.kind == EventKind.DDL
    if ddl.any():
        of_database = ddl & np.array([not table for _, table in tables], bool)[codes]
        for group, members in _by_name(events, of_database, ddl & ~of_database):
            own = _newest_in_groups(group, members, events.commit_ts, events.position)
            newest = _newer(own, newest)
    columns["own_ddl_ts"][rows[row]], columns["own_ddl_position"][rows[row]] = newest[0][row], newest[1][row]


def _mark_ddl_tables(
    state: PartitionState, events: Events, ddls: Numbers, rows: Numbers, columns: dict[str, Numbers]
) -> None:
    """Mark the newest row before each DDL in the tables that it concerns.

    >>> ddl = {"kind": [EventKind.ROW, EventKind.DDL, EventKind.DDL], "schema": "d", "table": ["t", "u", ""]}
    >>> events = Events.with_columns(3, commit_ts=[5, 6, 7], position=[0, 1, 2], **ddl)
    >>> columns = {"table_ts": np.full(3, NOTHING), "table_position": np.full(3, NOTHING)}
    >>> _mark_ddl_tables(PartitionState(), events, np.array([1, 2]), np.arange(3), columns)
    >>> columns["table_ts"].tolist(), columns["table_position"].tolist()
    ([-1, -1, 5], [-1, -1, 0])
    """
    codes, tables = events.tables
    row = events.kind == EventKind.ROW
    before = {int(code): state.newest_row(tables[code]) for code in np.unique(codes[ddls])}
    newest = _columns([before.get(code, _NONE) for code in range(len(tables))], codes[ddls])
    of_database = np.array([not table for _, table in tables], bool)[codes[ddls]]
    for group, concerned in _by_name(events, of_database, ~of_database):
        ts, position = _newest_in_groups(group, row, events.commit_ts, events.position)
        own = np.where(concerned, ts[ddls], NOTHING), np.where(concerned, position[ddls], NOTHING)
        newest = _newer(own, newest)
    columns["table_ts"][rows[ddls]], columns["table_position"][rows[ddls]] = newest


def _newer(first: tuple[Numbers, Numbers], second: tuple[Numbers, Numbers]) -> tuple[Numbers, Numbers]:
    """Return the newer of two events per row, given by commit-ts and position."""
    newer = (first[0] > second[0]) | ((first[0] == second[0]) & (first[1] > second[1]))
    return np.where(newer, first[0], second[0]), np.where(newer, first[1], second[1])


def _columns(newest: Sequence[Newest], group: Numbers) -> tuple[Numbers, Numbers]:
    """Return commit-ts and position of the event of each row's group.

    >>> ts, position = _columns([(5, 1), (7, 3)], np.array([1, 0, 1]))
    >>> ts.tolist(), position.tolist()
    ([7, 5, 7], [3, 1, 3])
    """
    table = np.array(newest, np.int64).reshape(-1, 2)
    return table[group, 0], table[group, 1]


def _table_partitions(events: Events, row: Numbers) -> tuple[list[tuple[Table, int]], Numbers]:
    """Return the table partitions of row events, and for each of these events the number of its own.

    :param row: numbers of the row events.
    """
    codes, tables = events.tables
    ids, id_codes = np.unique(events.table_id[row], return_inverse=True)
    width = max(len(ids), 1)
    pairs, group = np.unique(codes[row] * width + id_codes, return_inverse=True)
    names = [divmod(pair, width) for pair in pairs.tolist()]
    return [(tables[code], int(ids[number])) for code, number in names], group


def _by_name(events: Events, of_database: Flags, of_table: Flags) -> Iterator[tuple[Numbers, Flags]]:
    """Yield for each event the number of its table with the DDLs of tables, and the same of databases.

    :param of_database: the DDLs that concern a database.
    :param of_table: the DDLs that concern a table.
    """
    if of_table.any():
        yield events.tables[0], of_table
    if of_database.any():
        yield numbered_texts(events.schema)[0], of_database


def _concerns(ddl: Table, table: Table) -> bool:
    """Return whether a DDL concerns a table; one without table concerns all tables of its database."""
    return ddl[0] == table[0] and ddl[1] in ("", table[1])


def _batches(events: Events) -> Numbers:
    """Return the value that rows of a message share; -1 if unknown.

    Rules by value dispatch by the hash alone, and rows of two tables may have the same hash.

    >>> rules = [Rule.TABLE, Rule.INDEX_VALUE, Rule.INDEX_VALUE]
    >>> columns = {"schema": "d", "table": ["t", "t", "u"], "rule": rules, "dispatch_key": [3, 4, 4]}
    >>> _batches(Events.with_columns(3, **columns)).tolist()
    [6868574230251380506, 4, 4]
    """
    by_value = np.isin(events.rule, [Rule.INDEX_VALUE, Rule.COLUMNS, Rule.TS])
    of_table = (combined(text_hashes(events.schema), text_hashes(events.table)) >> np.uint64(1)).astype(
        np.int64
    )
    return np.where(by_value, events.dispatch_key, of_table)


def _mixed(position: Numbers, kind: Numbers, batch: Numbers) -> Numbers:
    """Return the events whose kind, and those whose dispatch key, differs from the previous event's.

    Only events of one message are compared.

    >>> position, kind = np.array([0, 1, 2]), np.full(3, EventKind.ROW)
    >>> _mixed(position, kind, np.array([7, 8, 8])).tolist()
    [[False, False, False], [False, True, False]]
    """
    offset, row = position >> INDEX_BITS, kind == EventKind.ROW
    same = np.zeros(len(kind), bool)
    same[1:] = (offset[1:] == offset[:-1]) & (kind[1:] != EventKind.ERROR)
    rows = row & np.roll(row, 1)
    known = (batch != NOTHING) & (np.roll(batch, 1) != NOTHING)
    return np.stack([same & ~rows, same & rows & known & (batch != np.roll(batch, 1))])


def marks_across_slices(events: Events, before: Mapping[tuple[int, str, int], PartitionState]) -> Events:
    """Return the events of several slices, with marks that count the slices before their own as well.

    :param before: by slice, topic and partition the state at the start of the slice; nothing for the first
        slice of a partition.
    """
    if not before:
        return events
    columns = {name: getattr(events, name).copy() for name in _MARKS}
    slices = np.unique(events.slice)
    for number in slices.tolist():
        in_slice = np.flatnonzero(events.slice == number)
        of_slice = events.take(in_slice)
        for (topic, partition), rows in partitions_of(of_slice):
            if state := before.get((number, topic, partition)):
                _raise_marks(state, of_slice.take(rows), in_slice[rows], columns)
    return replace(events, **columns)


def _raise_marks(state: PartitionState, events: Events, rows: Numbers, columns: dict[str, Numbers]) -> None:
    """Raise the marks of a slice to the newest events before it.

    >>> columns = {name: np.array([NOTHING, 8]) for name in _MARKS}
    >>> _raise_marks(PartitionState(resolved=(7, 3)), Events.with_columns(2), np.arange(2), columns)
    >>> columns["resolved_ts"].tolist(), columns["resolved_position"].tolist()
    ([7, 8], [3, 8])

    :param rows: of ``columns``, one for each event.
    """

    def raise_to(name: str, numbers: Numbers, ts: Numbers, position: Numbers) -> None:
        older = columns[f"{name}_ts"][rows[numbers]] < ts
        columns[f"{name}_ts"][rows[numbers[older]]] = ts[older]
        if f"{name}_position" in columns:
            columns[f"{name}_position"][rows[numbers[older]]] = position[older]

    for name in ("resolved", "ddl", "insert"):
        newest = _columns([getattr(state, name)], np.zeros(len(events), np.int64))
        raise_to(name, np.arange(len(events)), *newest)
    codes, tables = events.tables
    of_rows, of_ddls = (np.flatnonzero(events.kind == kind) for kind in (EventKind.ROW, EventKind.DDL))
    raise_to("own_ddl", of_rows, *_columns([state.newest_ddl(table) for table in tables], codes[of_rows]))
    concerned = {int(code): state.newest_row(tables[code]) for code in np.unique(codes[of_ddls])}
    newest_rows = [concerned.get(code, _NONE) for code in range(len(tables))]
    raise_to("table", of_ddls, *_columns(newest_rows, codes[of_ddls]))
    partitions, group = _table_partitions(events, of_rows)
    raise_to("table", of_rows, *_columns([state.rows.get(name, _NONE) for name in partitions], group))
