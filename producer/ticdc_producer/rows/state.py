"""The rows of one table, as its changes leave them.

The newest change of each key counts. One task holds the rows, because the messages of a key may be in any
partition. After a DDL that changes rows without row events, the rows are those that the scenario expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.engine.local import LocalDataset
from ticdc_producer.errors import ArgumentError, TopicError
from ticdc_producer.model.catalog import CHANGES_ROWS, CLEARS_TABLES, Action
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.fidelity import CommitTs, has_commit_ts
from ticdc_producer.rows.changes import OF_CHANGES, TYPE, VERSION, ChangeReader
from ticdc_producer.rows.columns import table_schema
from ticdc_producer.rows.origin import ExpectedRows, Origin

_ARRIVAL = "_arrival"
_OF_DDL = ("ddl_type", "query", "commit_ts", "topic", "partition", "offset")
_ACTIONS = frozenset(action.value for action in Action)


class DDLWithoutRowEventsError(TopicError):
    """A DDL that changed the rows of the table, and that no row events follow."""


@dataclass(frozen=True, kw_only=True)
class StateReader:
    """The function from events (shape ``DECODED``) to the rows of a table.

    :param changes: the changes of the table, with the columns of the rows.
    :param key: the columns of the handle key, with their types.
    :param commit_ts: how exact the commit-ts of the events are.
    :param expected: returns the rows that the table is expected to have.
    :param at: the TSO of the state; None: the end.
    :param held_rows: number of changes that are added before those that are not the newest of their key are
        removed.
    """

    changes: ChangeReader
    key: Sequence[pa.Field]
    commit_ts: CommitTs
    expected: ExpectedRows
    at: int | None = None
    held_rows: int = 1 << 20

    @classmethod
    def of(cls, read: Origin, changes: ChangeReader, at: int | None, argument: str) -> Self:
        """Return the reader of a table's rows in some messages.

        :param argument: the caller's name of ``at``.
        :raises ArgumentError: for a table without a known handle key, and a time in messages without times.
        """
        key = table_schema(read, changes.schema, changes.table).key
        if not key:
            what = f"no handle key of the table {changes.schema}.{changes.table} is known"
            hint = "the changes of a row are paired by it"
            raise ArgumentError(what, argument="table", hint=hint)
        commit_ts = read.fidelity.commit_ts
        if at is not None and not has_commit_ts(commit_ts):
            what = f"{argument!r} needs a commit-ts in every message of {read.changefeed.protocol}"
            raise ArgumentError(what, argument=argument, hint="set enable-tidb-extension=true")
        return cls(changes=changes, key=key, commit_ts=commit_ts, expected=read.expected, at=at)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in no order.

        :raises TopicError: for a DDL that changed rows in a way that is not known.
        """
        try:
            held = self._held(batches)
        except DDLWithoutRowEventsError:
            expected = self.expected(f"{self.changes.schema}.{self.changes.table}", self.at)
            if expected is None:
                raise
            yield from self._typed(expected)
        else:
            rows = held.filter(pc.is_in(pc.field(TYPE), pa.array(["insert", "update_postimage"])))
            yield from rows.select(self.changes.columns.names).to_batches()

    def _typed(self, expected: Dataset) -> Iterator[pa.RecordBatch]:
        """Yield expected rows (shape ``STATE``) in the columns of the rows."""
        for batch in expected.batches():
            rows = batch.column("row")
            yield self.changes.rows(rows.filter(pc.is_valid(rows)))

    def _held(self, batches: Iterator[pa.RecordBatch]) -> pa.Table:
        """Return the newest change of each key; a DDL that clears the table removes those before it."""
        own = {*self.changes.columns.names}
        needed = (OF_CHANGES.field(TYPE), OF_CHANGES.field(VERSION), *self.key)
        internal = [column for column in needed if column.name not in own]
        reader = replace(self.changes, columns=pa.schema([*self.changes.columns, *internal]))
        held = [reader.columns.empty_table().append_column(_ARRIVAL, pa.array([], pa.int64()))]
        newest, added, arrived, cleared = 0, 0, 0, -1
        for batch in batches:
            cleared = max(cleared, self._cleared(batch))
            for changes in reader(iter([batch])):
                numbers = pa.array(np.arange(arrived, arrived + changes.num_rows))
                arrived += changes.num_rows
                held.append(self._until(pa.Table.from_batches([changes]).append_column(_ARRIVAL, numbers)))
                added += held[-1].num_rows
            if added > max(self.held_rows, newest):
                held = [self._newest(pa.concat_tables(held))]
                newest, added = held[0].num_rows, 0
        return _after(self._newest(pa.concat_tables(held)), cleared)

    def _until(self, changes: pa.Table) -> pa.Table:
        return changes if self.at is None else changes.filter(pc.field(VERSION) <= self.at)

    def _newest(self, changes: pa.Table) -> pa.Table:
        """Return the newest change of each key, in the order of their arrival."""
        if not changes.num_rows:
            return changes
        ranks = np.empty(changes.num_rows, np.int64)
        ranks[np.lexsort(self._order(changes)[::-1])] = np.arange(changes.num_rows)
        names = [column.name for column in self.key]
        ranked = changes.select(names).append_column(_ARRIVAL, pa.array(ranks))
        highest = ranked.group_by(names).aggregate([(_ARRIVAL, "max")]).column(f"{_ARRIVAL}_max")
        return changes.filter(pc.is_in(pa.array(ranks), highest.combine_chunks()))

    def _order(self, changes: pa.Table) -> list[Numbers]:
        """Return the numbers by which the changes of a key are in order, the first one first.

        With an exact commit-ts, a key has at most a delete and an insert of one transaction.
        """
        version = pc.fill_null(changes.column(VERSION), 0).to_numpy()
        leaves = pc.is_in(changes.column(TYPE), pa.array(["delete", "update_preimage"]))
        stays = pc.invert(leaves).to_numpy().astype(np.int64)
        arrival = changes.column(_ARRIVAL).to_numpy()
        if self.commit_ts == "exact":
            return [version, stays, arrival]
        return [version, arrival] if has_commit_ts(self.commit_ts) else [arrival]

    def _cleared(self, batch: pa.RecordBatch) -> int:
        """Return the commit-ts of the last DDL that removed all rows; -1 without one.

        :raises DDLWithoutRowEventsError: for a DDL that changed rows in another way.
        """
        ts = -1
        for ddl in self._ddls(batch):
            if ddl["ddl_type"] in CLEARS_TABLES:
                ts = max(ts, ddl["commit_ts"])
            elif ddl["ddl_type"] in CHANGES_ROWS or not _is_known(ddl):
                what = f"the rows cannot follow the DDL {ddl['query']!r}, which has no row events"
                hint = "read the changes, and apply this DDL to your table"
                position = f"{ddl['topic']}/{ddl['partition']}@{ddl['offset']}"
                raise DDLWithoutRowEventsError(what, topic=position, hint=hint)
        return ts

    def _ddls(self, batch: pa.RecordBatch) -> list[dict[str, Any]]:
        """Return the DDLs of the table or of its whole schema, up to the time."""
        is_ddl = pc.equal(batch.column("kind"), "ddl")
        of_schema = pc.equal(batch.column("schema"), self.changes.schema)
        of_table = pc.is_in(batch.column("table"), pa.array(["", None, self.changes.table]))
        ddls = batch.select(_OF_DDL).filter(pc.and_(pc.and_(is_ddl, of_schema), of_table))
        if self.at is not None:
            ddls = ddls.filter(pc.less_equal(ddls.column("commit_ts"), self.at))
        rows: list[dict[str, Any]] = ddls.to_pylist()
        return rows


def _is_known(ddl: Mapping[str, Any]) -> bool:
    """Return whether it is known what a DDL does. Not every protocol has the type of a DDL."""
    return ddl["ddl_type"] in _ACTIONS or ddl["query"].lstrip()[:6].upper() == "CREATE"


def _after(changes: pa.Table, ts: int) -> pa.Table:
    return changes.filter(pc.field(VERSION) > ts) if ts >= 0 else changes


def one_part(messages: LocalDataset) -> LocalDataset:
    """Return the same messages in one part, partition by partition: the changes of a key may be in any."""
    sources = messages.sources
    return LocalDataset([lambda: chain.from_iterable(source() for source in sources)], messages.schema)
