"""Marks each event with the newest earlier events of its partition: what order and barriers hang on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import INDEX_BITS, NOTHING, Events, EventKind, Rule
from ticdc_producer.verifier.fingerprint import Flags, Numbers, combined, text_hashes
from ticdc_producer.verifier.observe import Observation

Newest = tuple[int, int]
"""Commit-ts and position of an event."""
_NONE: Newest = (NOTHING, NOTHING)
Table = tuple[str, str]


@dataclass
class _Partition:
    """The newest events of a partition so far."""

    resolved: Newest = _NONE
    ddl: Newest = _NONE
    row: Newest = _NONE
    insert: Newest = _NONE
    rows: dict[tuple[Table, int], Newest] = field(default_factory=dict)
    ddls: dict[Table, Newest] = field(default_factory=dict)
    last: tuple[int, int, int] = (NOTHING, 0, 0)
    """Offset, kind and batch of the last event."""


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


class PartitionMarks:
    """Marks events; those of a partition come in the order of their position."""

    def __init__(self) -> None:
        self._partitions: dict[tuple[str, int], _Partition] = {}

    def mark(self, observation: Observation) -> MarkedEvents:
        """Mark the events of a batch, which may be of several partitions."""
        events = observation.events
        columns = {name: np.full(len(events), NOTHING) for name in _MARKS}
        mixed = np.zeros((2, len(events)), bool)
        batch = _batches(events)
        for name, rows in partitions_of(events):
            partition = self._partitions.setdefault(name, _Partition())
            _mark(partition, events.take(rows), rows, columns)
            mixed[:, rows] = _mixed(partition, events.take(rows), batch[rows])
        return MarkedEvents(replace(events, **columns), observation, mixed[0], mixed[1])


_MARKS = (
    "resolved_ts", "resolved_position", "ddl_ts", "ddl_position", "own_ddl_ts", "own_ddl_position", "row_ts",
    "row_position", "table_ts", "table_position", "insert_ts",
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
    numbers = np.maximum.accumulate(np.concatenate([[NOTHING], np.where(newest, np.arange(len(ts)), NOTHING)]))
    found = np.where(numbers < 0, before[1], events.position[numbers] if len(ts) else before[1])
    return highest[:-1], found[:-1], (int(highest[-1]), int(found[-1]))


def _mark(partition: _Partition, events: Events, rows: Numbers, columns: dict[str, Numbers]) -> None:
    row = events.kind == EventKind.ROW
    of = {
        "resolved": events.kind == EventKind.RESOLVED,
        "ddl": events.kind == EventKind.DDL,
        "row": row,
    }
    _mark_tables(partition, events, rows, columns)
    for name, members in of.items():
        ts, position, newest = newest_before(events, members, getattr(partition, name))
        columns[f"{name}_ts"][rows], columns[f"{name}_position"][rows] = ts, position
        setattr(partition, name, newest)
    inserts = row & (events.op == Op.INSERT)
    columns["insert_ts"][rows], _, partition.insert = newest_before(events, inserts, partition.insert)


def _mark_tables(partition: _Partition, events: Events, rows: Numbers, columns: dict[str, Numbers]) -> None:
    """Mark the newest rows and DDLs of the event's own table."""
    codes, tables = events.tables
    row, ddl = events.kind == EventKind.ROW, events.kind == EventKind.DDL
    _mark_ddl_tables(partition, events, np.flatnonzero(ddl), rows, columns)
    for code, table in enumerate(tables):
        of_table = row & (codes == code)
        for table_id in np.unique(events.table_id[of_table]).tolist():
            members = of_table & (events.table_id == table_id)
            name = table, table_id
            ts, position, newest = newest_before(events, members, partition.rows.get(name, _NONE))
            chosen = rows[members]
            columns["table_ts"][chosen], columns["table_position"][chosen] = ts[members], position[members]
            partition.rows[name] = newest
        before = max(partition.ddls.get(table, _NONE), partition.ddls.get((table[0], ""), _NONE))
        own = ddl & np.isin(codes, [number for number, other in enumerate(tables) if _concerns(other, table)])
        ts, position, _ = newest_before(events, own, before)
        chosen = rows[of_table]
        columns["own_ddl_ts"][chosen], columns["own_ddl_position"][chosen] = ts[of_table], position[of_table]
    for number in np.flatnonzero(ddl).tolist():
        found = int(events.commit_ts[number]), int(events.position[number])
        table = tables[codes[number]]
        partition.ddls[table] = max(partition.ddls.get(table, _NONE), found)


def _concerns(ddl: Table, table: Table) -> bool:
    """Whether a DDL concerns a table; one without table concerns all tables of its database."""
    return ddl[0] == table[0] and ddl[1] in ("", table[1])


def _mark_ddl_tables(
    partition: _Partition, events: Events, ddls: Numbers, rows: Numbers, columns: dict[str, Numbers]
) -> None:
    """Mark the newest row before each DDL in the tables that it concerns."""
    codes, tables = events.tables
    row = events.kind == EventKind.ROW
    for number in ddls.tolist():
        ddl = tables[codes[number]]
        earlier = [newest for (table, _), newest in partition.rows.items() if _concerns(ddl, table)]
        own = row[:number] & np.isin(codes[:number], [n for n, table in enumerate(tables) if _concerns(ddl, table)])
        found = max(earlier, default=_NONE)
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
    of_table = (combined(text_hashes(events.schema), text_hashes(events.table)) >> np.uint64(1)).astype(np.int64)
    return np.where(by_value, events.dispatch_key, of_table)


def _mixed(partition: _Partition, events: Events, batch: Numbers) -> Numbers:
    """Events whose kind or dispatch key differs from that of the previous event in the message."""
    offset = events.position >> INDEX_BITS
    last_offset, last_kind, last_batch = partition.last
    before_offset = np.concatenate([[last_offset], offset[:-1]])
    before_kind = np.concatenate([[last_kind], events.kind[:-1]])
    before_batch = np.concatenate([[last_batch], batch[:-1]])
    partition.last = (int(offset[-1]), int(events.kind[-1]), int(batch[-1]))
    same = (events.kind != EventKind.ERROR) & (offset == before_offset)
    rows = (events.kind == EventKind.ROW) & (before_kind == EventKind.ROW)
    known = (batch != NOTHING) & (before_batch != NOTHING)
    return np.stack([same & ~rows, same & rows & known & (batch != before_batch)])
