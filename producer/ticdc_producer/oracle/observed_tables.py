"""What expected events show of their tables: DDLs and handle keys."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.catalog import CHANGES_ROWS
from ticdc_producer.model.column import ColumnFlag

TableName: TypeAlias = tuple[str, str]
_SEPARATOR = "\x00"
_HARMLESS = re.compile(r"\s*(create|alter\s+(database|schema))\b", re.IGNORECASE)
"""Statements that leave the rows of existing tables as they are."""


@dataclass(frozen=True)
class VisibleDDL:
    """A DDL as the messages carry it.

    :param action: TiDB's action code; 0 if the protocol does not carry it.
    """

    schema: str
    table: str
    query: str
    action: int

    @property
    def may_change_rows(self) -> bool:
        """Whether it may change rows or columns without row events, as far as its message shows."""
        if self.action:
            return self.action in CHANGES_ROWS
        return not _HARMLESS.match(self.query)

    def names(self, schema: str, table: str) -> bool:
        """Whether its text names a table, or its whole database; rather once too often."""
        if not self.table and self.schema.lower() == schema.lower():
            return True
        return table.lower() in f"{self.table} {self.query}".lower()


@dataclass
class ObservedTables:
    """The DDLs of a stream, and by table the different handle keys of its rows."""

    ddls: set[VisibleDDL] = field(default_factory=set)
    handle_keys: dict[TableName, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, events: pa.RecordBatch) -> None:
        """Add expected events (shape ``EXPECTED_EVENTS``)."""
        ddls = events.filter(pc.equal(events.column("kind"), "ddl")).select(
            ["schema", "table", "query", "ddl_type"]
        )
        for schema, table, query, action in _distinct(ddls):
            self.ddls.add(VisibleDDL(schema or "", table or "", query or "", action or 0))
        rows = events.filter(pc.equal(events.column("kind"), "row"))
        for schema, table, key in _distinct(_keys(rows)):
            self.handle_keys[schema, table].add(key)

    def merge(self, others: Iterable[ObservedTables]) -> None:
        """Add the facts of other events."""
        for other in others:
            self.ddls |= other.ddls
            for name, keys in other.handle_keys.items():
                self.handle_keys[name] |= keys


def _keys(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Schema, table and names of the handle key's columns of each row."""
    columns = rows.column("columns")
    lengths = pc.fill_null(pc.list_value_length(columns), 0).to_numpy()
    members = columns.flatten()
    names, flags = members.field("name"), pc.fill_null(members.field("flag"), 0).to_numpy()
    in_key = (flags & int(ColumnFlag.HANDLE_KEY)) != 0
    row_of = np.repeat(np.arange(rows.num_rows), lengths)
    key_lengths = np.bincount(row_of[in_key], minlength=rows.num_rows)
    key = _joined(names.filter(pa.array(in_key)), key_lengths)
    return pa.record_batch({"schema": rows.column("schema"), "table": rows.column("table"), "key": key})


def _joined(names: pa.Array, lengths: np.ndarray[Any, Any]) -> pa.Array:
    starts = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pc.binary_join(pa.ListArray.from_arrays(starts, names), _SEPARATOR)


def _distinct(rows: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    found = pa.Table.from_batches([rows]).group_by(rows.schema.names).aggregate([])
    return (tuple(row[name] for name in rows.schema.names) for row in found.to_pylist())
