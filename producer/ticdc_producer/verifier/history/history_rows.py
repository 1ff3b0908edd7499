"""What the history of one side is compared by: its rows without images, its DDLs, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.verifier.event_layouts import DescribedColumn
from ticdc_producer.verifier.events import EventColumns, EventID, FlagColumn, Int8Column, Int64Column
from ticdc_producer.verifier.history.common_form import CommonForm

TableName: TypeAlias = tuple[str, str]
ROW = "row"


@dataclass(frozen=True, kw_only=True)
class HistoryRows(EventColumns):
    """Row changes of one side, in the common form of both.

    :param key, key_check: 128 bits of the row key; of the content of a row whose key is unknown.
    :param keyed: whether the row key is known.
    :param op: ``model.event.Op``.
    :param time: the commit-ts as both sides carry it.
    :param old, new: 64 bits of the images; 0 if there is none, or if one side does not carry it.
    """

    key: Int64Column
    key_check: Int64Column
    keyed: FlagColumn
    op: Int8Column
    time: Int64Column
    old: Int64Column
    new: Int64Column


@dataclass(frozen=True, order=True)
class HistoryDDL:
    """A DDL of one side.

    :param time: the commit-ts as both sides carry it.
    :param action: TiDB's action code; 0: unknown.
    """

    time: int
    commit_ts: int
    schema: str
    table: str
    query: str
    action: int


@dataclass
class HistoryStats:
    """The summary of one side after one pass; its size does not depend on the number of rows.

    :param rows: number of row events, duplicates included.
    :param ddls: each with its first position.
    :param resolved_ts: the highest one; 0: none.
    :param errors: number of messages that do not decode; ``first_error`` is the first one.
    :param keys: by table the different handle keys that its rows have.
    :param described: by table the columns, as the last row describes them.
    :param shapes: by table and hash of its columns the first row that has them.
    :param unreadable: columns whose values have another form on the other side, which is not known.
    """

    rows: int = 0
    ddls: dict[HistoryDDL, EventID | None] = field(default_factory=dict)
    resolved_ts: int = 0
    errors: int = 0
    first_error: EventID | None = None
    keys: dict[TableName, set[tuple[str, ...]]] = field(default_factory=dict)
    described: dict[TableName, dict[str, DescribedColumn]] = field(default_factory=dict)
    shapes: dict[tuple[TableName, int], EventID] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)

    def merge(self, others: Iterable[HistoryStats]) -> None:
        """Add what is known of other parts of the stream."""
        for other in others:
            self.rows += other.rows
            self.errors += other.errors
            self.resolved_ts = max(self.resolved_ts, other.resolved_ts)
            self.unreadable |= other.unreadable
            if other.first_error is not None:
                self.first_error = min(self.first_error or other.first_error, other.first_error)
            for ddl, position in other.ddls.items():
                self.see_ddl(ddl, position)
            for shape, first in other.shapes.items():
                self.shapes[shape] = min(first, self.shapes.get(shape, first))
            for table, keys in other.keys.items():
                self.keys.setdefault(table, set()).update(keys)
            for table, columns in other.described.items():
                self.described.setdefault(table, {}).update(columns)

    def see_ddl(self, ddl: HistoryDDL, position: EventID | None) -> None:
        """Add a DDL; a copy of it in another partition is the same one."""
        known = self.ddls.get(ddl)
        self.ddls[ddl] = position if known is None else known if position is None else min(position, known)


def ddl_of(form: CommonForm, commit_ts: int, schema: str, table: str, query: str, action: int) -> HistoryDDL:
    """Return a DDL with its time in the common form."""
    time = commit_ts - commit_ts % form.ticks if form.ticks else commit_ts
    return HistoryDDL(time, commit_ts, schema, table, query, action)
