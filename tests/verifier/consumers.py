"""Consumers of a topic that maintain table state: a correct one, and wrong ones with one bug each.

A wrong consumer differs from the correct one in the method that it overrides, with a plausible bug.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias
from zoneinfo import ZoneInfo

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import DDLEvent, Event, Op, ResolvedEvent, RowEvent

Key: TypeAlias = tuple[str, tuple[bytes | None, ...]]
Row: TypeAlias = dict[str, bytes | None]
Tables: TypeAlias = dict[Key, Row]
ZONE = ZoneInfo("Asia/Tokyo")
"""Time zone of the changefeed's TIMESTAMP values; no message contains it."""
_TRUNCATE, _DROP = 11, 4


def in_utc(text: bytes) -> bytes:
    """A TIMESTAMP of the stream in UTC."""
    local = datetime.fromisoformat(text.decode()).replace(tzinfo=ZONE)
    return local.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S").encode()


@dataclass(frozen=True)
class Delivered:
    """An event with its partition, offset and index."""

    partition: int
    offset: int
    index: int
    event: Event


class Consumer:
    """Buffers events until every partition's resolved-ts has reached them, and applies them by commit-ts.

    Rows strictly older than the applied resolved-ts are duplicates.
    """

    def __init__(self, partitions: int) -> None:
        self.resolved = dict.fromkeys(range(partitions), 0)
        self.released = 0
        self.rows: list[tuple[int, RowEvent]] = []
        self.ddls: dict[tuple[object, ...], DDLEvent] = {}
        self.done: set[tuple[object, ...]] = set()
        self.tables: Tables = {}

    def read(self, events: Iterable[Delivered]) -> Tables:
        for delivered in events:
            self.take(delivered)
        return self.tables

    def take(self, delivered: Delivered) -> None:
        match delivered.event:
            case RowEvent() as row:
                self.row(delivered, row)
            case DDLEvent() as ddl:
                self.ddl(delivered, ddl)
            case ResolvedEvent() as resolved:
                self.advance(delivered.partition, resolved.commit_ts)
                self.release()

    def row(self, delivered: Delivered, row: RowEvent) -> None:
        if row.commit_ts >= self.released:
            self.rows.append((delivered.partition, row))

    def ddl(self, delivered: Delivered, ddl: DDLEvent) -> None:
        name = self.ddl_name(ddl)
        if name not in self.done:
            self.ddls[name] = ddl

    def ddl_name(self, ddl: DDLEvent) -> tuple[object, ...]:
        return ddl.commit_ts, ddl.schema, ddl.table, ddl.query

    def advance(self, partition: int, ts: int) -> None:
        self.resolved[partition] = max(self.resolved[partition], ts)

    def watermark(self) -> int:
        return min(self.resolved.values())

    def release(self) -> None:
        self.released = max(self.released, self.watermark())
        due = [row for _, row in self.rows if row.commit_ts <= self.released]
        self.rows = [(partition, row) for partition, row in self.rows if row.commit_ts > self.released]
        ddls = {name: ddl for name, ddl in self.ddls.items() if ddl.commit_ts <= self.released}
        self.ddls = {name: ddl for name, ddl in self.ddls.items() if name not in ddls}
        self.done |= ddls.keys()
        for event in sorted([*due, *ddls.values()], key=self.order):
            self.apply(event)

    def order(self, event: RowEvent | DDLEvent) -> tuple[int, ...]:
        """Rows of a commit-ts come before its DDL, deletes before inserts."""
        return event.commit_ts, isinstance(event, DDLEvent), getattr(event, "op", Op.INSERT) != Op.DELETE

    def apply(self, event: RowEvent | DDLEvent) -> None:
        if isinstance(event, RowEvent):
            self.apply_row(event)
        elif event.ddl_type in (_TRUNCATE, _DROP):
            table = f"{event.schema}.{event.table}"
            self.tables = {key: row for key, row in self.tables.items() if key[0] != table}

    def apply_row(self, row: RowEvent) -> None:
        if row.op == Op.DELETE or (row.before and self.key(row, row.before) != self.key(row, row.after)):
            self.tables.pop(self.key(row, row.before), None)
        if row.after is not None:
            self.tables[self.key(row, row.after)] = self.image(row, dict(row.after))

    def key(self, row: RowEvent, image: object) -> Key:
        assert isinstance(image, dict)
        handle = [column.name for column in row.columns if column.flag & ColumnFlag.HANDLE_KEY]
        return f"{row.schema}.{row.table}", tuple(image.get(name) for name in handle)

    def image(self, row: RowEvent, after: Row) -> Row:
        types = {column.name: column.type for column in row.columns}
        return {
            name: self.instant(value) if value and types[name] == "timestamp" else value
            for name, value in after.items()
        }

    def instant(self, text: bytes) -> bytes:
        return in_utc(text)


class NoBuffer(Consumer):
    """Applies rows and DDL as they arrive."""

    def row(self, delivered: Delivered, row: RowEvent) -> None:
        self.apply(row)

    def ddl(self, delivered: Delivered, ddl: DDLEvent) -> None:
        if delivered.partition == 0:
            self.apply(ddl)


class PartitionResolved(Consumer):
    """Applies the rows of a partition as soon as that partition's resolved-ts has reached them."""

    def advance(self, partition: int, ts: int) -> None:
        super().advance(partition, ts)
        due = [row for source, row in self.rows if source == partition and row.commit_ts <= ts]
        self.rows = [entry for entry in self.rows if entry[0] != partition or entry[1].commit_ts > ts]
        for row in sorted(due, key=self.order):
            self.apply(row)


class NewestResolved(Consumer):
    """Uses the newest resolved-ts of any partition as that of all."""

    def watermark(self) -> int:
        return max(self.resolved.values())


class OffsetsSeen(Consumer):
    """Drops messages with the offset of another message as duplicates, regardless of the partition."""

    def __init__(self, partitions: int) -> None:
        super().__init__(partitions)
        self.seen: dict[int, int] = {}

    def row(self, delivered: Delivered, row: RowEvent) -> None:
        if self.seen.setdefault(delivered.offset, delivered.partition) == delivered.partition:
            super().row(delivered, row)


class DropsEqual(Consumer):
    """Drops rows whose commit-ts is not above that of the previous row of their table and partition."""

    def __init__(self, partitions: int) -> None:
        super().__init__(partitions)
        self.highest: dict[tuple[int, str], int] = {}

    def row(self, delivered: Delivered, row: RowEvent) -> None:
        group = (delivered.partition, row.table)
        if row.commit_ts > self.highest.get(group, 0):
            self.highest[group] = row.commit_ts
            super().row(delivered, row)


class DropsDDLAtResolved(Consumer):
    """Drops DDLs whose ts is not above the resolved-ts of their partition."""

    def ddl(self, delivered: Delivered, ddl: DDLEvent) -> None:
        if ddl.commit_ts > self.resolved[delivered.partition]:
            super().ddl(delivered, ddl)


class EveryDDL(Consumer):
    """Executes each partition's copy of a DDL on arrival."""

    def ddl(self, delivered: Delivered, ddl: DDLEvent) -> None:
        self.apply(ddl)


class DDLByQuery(Consumer):
    """Drops DDLs with the same text as an earlier one."""

    def ddl_name(self, ddl: DDLEvent) -> tuple[object, ...]:
        return (ddl.query,)


class ResolvedOnlyGrows(Consumer):
    """Fails if a resolved-ts is lower than the previous one."""

    def advance(self, partition: int, ts: int) -> None:
        if ts < self.resolved[partition]:
            raise RuntimeError("resolved-ts went back")
        super().advance(partition, ts)


class InsertsOnce(Consumer):
    """Fails on an insert of an existing row."""

    def row(self, delivered: Delivered, row: RowEvent) -> None:
        self.rows.append((delivered.partition, row))  # assumes that no row comes twice

    def apply_row(self, row: RowEvent) -> None:
        if row.op == Op.INSERT and self.key(row, row.after) in self.tables:
            raise RuntimeError("duplicate key")
        super().apply_row(row)


class NeedsRows(Consumer):
    """Waits until every partition had a row before it uses their resolved-ts."""

    def __init__(self, partitions: int) -> None:
        super().__init__(partitions)
        self.busy: set[int] = set()

    def row(self, delivered: Delivered, row: RowEvent) -> None:
        self.busy.add(delivered.partition)
        super().row(delivered, row)

    def watermark(self) -> int:
        return super().watermark() if len(self.busy) == len(self.resolved) else 0


class FirstOfMessage(Consumer):
    """Reads one event of each message."""

    def take(self, delivered: Delivered) -> None:
        if delivered.index == 0:
            super().take(delivered)


class InsertsFirst(Consumer):
    """Ignores that key updates are split: applies the inserts of a commit-ts before its deletes."""

    def order(self, event: RowEvent | DDLEvent) -> tuple[int, ...]:
        ts, ddl, kind = super().order(event)
        return ts, ddl, -kind


class OnePerKeyAndTime(Consumer):
    """Drops a second event of a row with the same commit-ts."""

    def row(self, delivered: Delivered, row: RowEvent) -> None:
        if self.named(row) not in [self.named(other) for _, other in self.rows]:
            super().row(delivered, row)

    def named(self, row: RowEvent) -> tuple[int, Key]:
        return row.commit_ts, self.key(row, row.before if row.op == Op.DELETE else row.after)


class FloatNumbers(Consumer):
    """Reads integers as doubles, as JSON parsers of many languages do."""

    def image(self, row: RowEvent, after: Row) -> Row:
        types = {column.name: column.type for column in row.columns}
        return {
            name: str(int(float(value))).encode() if value and types[name].startswith("bigint") else value
            for name, value in super().image(row, after).items()
        }


class NoZone(Consumer):
    """Reads TIMESTAMP values as UTC."""

    def instant(self, text: bytes) -> bytes:
        return text


class NullIsUnchanged(Consumer):
    """Retains the old value if the new one is NULL."""

    def image(self, row: RowEvent, after: Row) -> Row:
        before = row.before or {}
        image = super().image(row, after)
        return {name: before.get(name) if value is None else value for name, value in image.items()}


class NullIsText(Consumer):
    """Stores NULL and the text 'null' as the same value."""

    def image(self, row: RowEvent, after: Row) -> Row:
        image = super().image(row, after)
        return {name: None if value in (None, b"null", b"") else value for name, value in image.items()}


WRONG: tuple[type[Consumer], ...] = (
    NoBuffer, PartitionResolved, NewestResolved, OffsetsSeen, DropsEqual, DropsDDLAtResolved, EveryDDL,
    DDLByQuery, ResolvedOnlyGrows, InsertsOnce, NeedsRows, FirstOfMessage, InsertsFirst, OnePerKeyAndTime,
    FloatNumbers, NoZone, NullIsUnchanged, NullIsText,
)  # fmt: skip
