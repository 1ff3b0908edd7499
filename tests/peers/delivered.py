"""The changes of a table as a topic delivers them: micro-batches, the newest rows, and which rows are wrong.

A micro-batch has consecutive messages of each partition. It ends before a partition would pass a DDL that
another one has not reached, as TiCDC sends a DDL after all rows before it and before all rows after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

MESSAGES = 16
"""Messages of each partition in a micro-batch."""

Value: TypeAlias = int | str | None
Row: TypeAlias = Mapping[str, Value]
Key: TypeAlias = tuple[Value, ...]


@dataclass(frozen=True)
class Table:
    """A table, some of whose columns are integers; the others are text.

    :param name: ``SCHEMA.TABLE``.
    :param key: the columns of its handle key.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    integers: frozenset[str]

    def key_of(self, row: Row) -> Key:
        return tuple(row[name] for name in self.key)

    def row(self, image: Mapping[str, bytes | None]) -> Row:
        """Return the values of an image of ``decode``; NULL for a column that was added later."""
        return {name: self._value(name, image.get(name)) for name in self.columns}

    def _value(self, name: str, value: bytes | None) -> Value:
        if value is None:
            return None
        return int(value) if name in self.integers else value.decode()


@dataclass(frozen=True, order=True)
class Position:
    """The place of an event in a topic.

    :param index: its number in the message.
    """

    partition: int
    offset: int
    index: int


@dataclass(frozen=True)
class Change:
    """A delivered row event."""

    position: Position
    commit_ts: int
    op: str
    before: Row | None
    after: Row | None

    @property
    def row(self) -> Row:
        """The row after the change, or the deleted row."""
        row = self.after if self.after is not None else self.before
        assert row is not None
        return row

    @property
    def deleted(self) -> bool:
        return self.op == "delete"

    def same_event(self, other: Change) -> bool:
        return (self.commit_ts, self.op, self.row) == (other.commit_ts, other.op, other.row)


@dataclass
class MicroBatch:
    """The changes of a table in a micro-batch, by partition and offset.

    :param truncated: commit-ts of each TRUNCATE of the table that comes after them.
    """

    changes: list[Change]
    truncated: list[int] = field(default_factory=list)


def micro_batches(events: Iterable[Mapping[str, Any]], table: Table) -> list[MicroBatch]:
    """Return the micro-batches that have changes of a table.

    :param events: of ``decode``, all of the topic.
    """
    in_order = sorted(_numbered(events), key=lambda each: each[0])
    batches: list[MicroBatch] = []
    for _, group in groupby(in_order, key=lambda each: each[0]):
        of_table = [event for _, event in group if f"{event['schema']}.{event['table']}" == table.name]
        changes = [_change(event, table) for event in of_table if event["kind"] == "row"]
        if changes:
            batches.append(MicroBatch(changes))
        truncates = [event for event in of_table if str(event["query"]).startswith("TRUNCATE TABLE")]
        if truncates and batches:
            batches[-1].truncated.append(int(truncates[0]["commit_ts"]))
    return batches


def _numbered(
    events: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[tuple[int, bool, int], Mapping[str, Any]]]:
    """Yield each event with its number: DDLs before it, whether it is one, and the micro-batch since then."""
    for _, of_partition in groupby(events, key=lambda event: event["partition"]):
        ddls, first = 0, 0
        for event in of_partition:
            ddl = event["kind"] == "ddl"
            yield (ddls, ddl, (int(event["offset"]) - first) // MESSAGES if not ddl else 0), event
            if ddl:
                ddls, first = ddls + 1, int(event["offset"]) + 1


def _change(event: Mapping[str, Any], table: Table) -> Change:
    before, after = (image and table.row(image) for image in (event["before"], event["after"]))
    position = Position(int(event["partition"]), int(event["offset"]), int(event["index"]))
    return Change(position, int(event["commit_ts"]), event["op"], before, after)


@dataclass(frozen=True)
class Newest:
    """The newest known state of a key.

    :param change: the message that it is from; None: a TRUNCATE removed the row.
    """

    commit_ts: int
    row: Row | None
    change: Change | None


class NewestRows:
    """The rows that the delivered messages describe: the change with the largest commit-ts of each key."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._newest: dict[Key, Newest] = {}

    def read(self, batch: MicroBatch) -> None:
        """Take the changes of a micro-batch, and the TRUNCATE after it."""
        for change in batch.changes:
            if change.before is not None:
                self._put(change.before, Newest(change.commit_ts, None, change))
            if change.after is not None:
                self._put(change.after, Newest(change.commit_ts, change.after, change))
        for ts in batch.truncated:
            for key, newest in self._newest.items():
                if newest.commit_ts < ts:
                    self._newest[key] = Newest(ts, None, None)

    def _put(self, image: Row, newest: Newest) -> None:
        key = self._table.key_of(image)
        old = self._newest.get(key)
        if (
            old is None
            or newest.commit_ts > old.commit_ts
            or (newest.commit_ts == old.commit_ts and old.row is None)
        ):
            self._newest[key] = newest

    def of(self, key: Key) -> Newest | None:
        return self._newest.get(key)

    @property
    def rows(self) -> dict[Key, Row]:
        return {key: newest.row for key, newest in self._newest.items() if newest.row is not None}


class RowsByArrival:
    """The rows that a MERGE by arrival order leaves: the change of each key that came last."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.rows: dict[Key, Row] = {}

    def read(self, batch: MicroBatch) -> None:
        """Take the changes of a micro-batch, and the TRUNCATE after it."""
        for change in batch.changes:
            if change.deleted:
                self.rows.pop(self._table.key_of(change.row), None)
            else:
                self.rows[self._table.key_of(change.row)] = change.row
        if batch.truncated:
            self.rows.clear()


@dataclass(frozen=True)
class WrongRow:
    """A row of a consumer's table that is not the newest one, or that is missing.

    :param micro_batch: the number of the first one, from 0, after which it is wrong.
    :param kind: ``older`` (the table has an older row), ``extra`` (the newest change removed the row), or
        ``missing``.
    :param message: the last delivered message of the key whose image the table has; of a missing row: the
        delete after which it is missing.
    :param first: where the same event came first.
    :param newest: the message that the table should follow; None: a TRUNCATE.
    """

    table: str
    micro_batch: int
    kind: str
    key: Row
    message: Position
    first: Position
    newest: Position | None


def wrong_rows(
    table: Table, batches: Sequence[MicroBatch], states: Sequence[Sequence[Row]]
) -> list[list[WrongRow]]:
    """Return the wrong rows after each micro-batch, by their keys.

    :param states: the rows of the consumer's table after each micro-batch.
    """
    newest, delivered = NewestRows(table), list[Change]()
    after_each = []
    for number, (batch, state) in enumerate(zip(batches, states, strict=True)):
        newest.read(batch)
        delivered += batch.changes
        rows = {table.key_of(row): row for row in state}
        assert len(rows) == len(state), "several rows of one key"
        expected = newest.rows
        wrong = sorted(key for key in {*rows, *expected} if rows.get(key) != expected.get(key))
        after_each.append([_wrong_row(table, number, key, rows.get(key), newest, delivered) for key in wrong])
    return after_each


def _wrong_row(
    table: Table, number: int, key: Key, row: Row | None, newest: NewestRows, delivered: Sequence[Change]
) -> WrongRow:
    of_key = [change for change in delivered if table.key_of(change.row) == key]
    message = next(
        change for change in reversed(of_key) if (change.deleted if row is None else change.after == row)
    )
    first = next(change for change in of_key if change.same_event(message))
    right = newest.of(key)
    assert right is not None
    kind = "missing" if row is None else "extra" if right.row is None else "older"
    return WrongRow(
        table=table.name,
        micro_batch=number,
        kind=kind,
        key=dict(zip(table.key, key, strict=True)),
        message=message.position,
        first=first.position,
        newest=right.change.position if right.change else None,
    )
