"""Reduces a batch of decoded events to the rows of a history: keys, fingerprints and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Op
from ticdc_producer.model.fingerprint import (
    Hashes,
    combined,
    null_pair,
    pair_hashes,
    text_hashes,
    value_hashes,
)
from ticdc_producer.verifier.event_layouts import DescribedColumn, EventLayout, LayoutBatch
from ticdc_producer.verifier.events import EventID, EventKind, offset_and_index
from ticdc_producer.verifier.history.common_form import CommonForm, Projection, repaired
from ticdc_producer.verifier.history.history_rows import HistoryRows, HistoryStats, TableName, ddl_of
from ticdc_producer.verifier.history.sides import ColumnProjections, KnownDefinition, KnownSide, readable
from ticdc_producer.verifier.row_digests import row_key

_CONTENT_SALT = (np.array([salt], np.uint64) for salt in (0x6B65, 0x796C))
_KEY_SALT, _CHECK_SALT = _CONTENT_SALT


@dataclass
class HistoryBatch(LayoutBatch):
    """The events of a batch."""

    known: KnownSide
    stats: HistoryStats
    projections: ColumnProjections

    def rows(self) -> HistoryRows | None:
        """Add the events to the statistics, and return the rows; None if there are none."""
        self._add_others()
        layouts = [*self.layouts()]
        if not layouts:
            return None
        for layout in layouts:
            self._project(layout)
        return HistoryRows.joined([part for layout in layouts for part in self._of_layout(layout)])

    def _event(self, row: int) -> EventID:
        topic, partition = (self.decoded.column(name)[row].as_py() for name in ("topic", "partition"))
        return topic, partition, *offset_and_index(int(self.positions[row]))

    def _add_others(self) -> None:
        resolved_ts = int(self.commit_ts[self.kind == EventKind.RESOLVED].max(initial=0))
        self.stats.resolved_ts = max(self.stats.resolved_ts, resolved_ts)
        errors = np.flatnonzero(self.kind == EventKind.ERROR)
        self.stats.errors += len(errors)
        for row in errors[:1].tolist():
            first = self._event(row)
            self.stats.first_error = min(self.stats.first_error or first, first)
        for row in np.flatnonzero(self.kind == EventKind.DDL).tolist():
            schema, table, query = (
                self.decoded.column(name)[row].as_py() or "" for name in ("schema", "table", "query")
            )
            action = self.decoded.column("ddl_type")[row].as_py() or 0
            ts = int(self.commit_ts[row])
            self.stats.see_ddl(ddl_of(self.known.form, ts, schema, table, query, action), self._event(row))

    def _project(self, layout: EventLayout) -> None:
        """Replace the hashes of values that the two sides carry in different forms."""
        table, columns = (layout.schema, layout.table), {column.name: column for column in layout.columns}
        names = dict.fromkeys((*layout.before, *layout.after))
        for definition, own in self._definitions(layout):
            for name in names:
                column = columns.get(name, DescribedColumn(name, "", 0))
                projection, is_compared = self.projections.of(table, column, definition)
                if projection is None and is_compared:
                    continue
                for images, members in ((self.old, layout.before), (self.new, layout.after)):
                    at = images.lists.starts[layout.rows[own]] + members.get(name, 0)
                    if name in members and not _stays(images.values, at, projection, is_compared):
                        images.pairs[at] = _pairs(name, images.values, at, projection, is_compared)

    def _definitions(self, layout: EventLayout) -> list[tuple[KnownDefinition, Numbers]]:
        names = [column.name for column in layout.columns] or [*layout.key_image]
        definitions = self.known.definitions
        times, ticks = self.commit_ts[layout.rows], self.known.form.ticks
        return definitions.of_rows((layout.schema, layout.table), names, times, ticks)

    def _of_layout(self, layout: EventLayout) -> Iterable[HistoryRows]:
        self.stats.rows += len(layout.rows)
        table = layout.schema, layout.table
        self.stats.described.setdefault(table, {}).update({column.name: column for column in layout.columns})
        self._add_shape(layout)
        if table not in self.known.keys:
            for definition, own in self._definitions(layout):
                part = replace(layout, rows=layout.rows[own])
                yield from self._with_key(part, self._own_key(layout, definition))
        else:
            yield from self._with_key(layout, self.known.keys[table])

    def _own_key(self, layout: EventLayout, definition: KnownDefinition) -> tuple[str, ...]:
        key = tuple(sorted(layout.handle_names))
        if not key and not self.known.fidelity.marks_handle_keys:
            key = tuple(sorted(map(self.known.form.name, definition.key or ())))
        return key

    def _add_shape(self, layout: EventLayout) -> None:
        whole = layout.rows[~self.reduced[layout.rows]]
        only_keys = layout.deletes and self.known.fidelity.deletes != "all"
        if self.known.form.descriptions and len(whole) and not only_keys:
            shape = (layout.schema, layout.table), int(self.described.hashes[whole[0]])
            first = self._event(int(whole[0]))
            self.stats.shapes[shape] = min(first, self.stats.shapes.get(shape, first))

    def _with_key(self, layout: EventLayout, key: tuple[str, ...]) -> Iterable[HistoryRows]:
        table = layout.schema, layout.table
        self.stats.keys.setdefault(table, set()).add(key)
        rows, commit_ts, form = layout.rows, self.commit_ts[layout.rows], self.known.form
        if table in self.known.keyless:
            key = ()
        hashes = combined(*(text_hashes(pa.array([name])) for name in table))
        tables = np.repeat(hashes, len(rows))
        whole = ~self.reduced[rows]
        new = np.where(whole & ~layout.deletes, self.new.hashes[rows], 0)
        old = np.where(whole, layout.completed_old_images(self.known.fidelity), 0)
        moves = self._moves(layout, key)
        op = np.where(moves, int(Op.INSERT), self.op[rows])
        changes = _changes(form, commit_ts, op, old, new, deletes=layout.deletes)
        pairs = [layout.key_pair(name) for name in key]
        yield self._rows_of(rows, table, _key(pairs, tables, changes), bool(key), changes)
        if moves.any():
            members = [name if name in layout.before else "" for name in key]
            old_key = [
                layout.old_pair(name) if member else layout.key_pair(name)
                for name, member in zip(key, members, strict=True)
            ]
            changes = _deletions(form, commit_ts, old)
            yield self._rows_of(rows, table, _key(old_key, tables, changes), True, changes).take(moves)

    def _moves(self, layout: EventLayout, key: tuple[str, ...]) -> Flags:
        """Return which updates change the handle key: they delete one row and insert another."""
        moves = np.zeros(len(layout.rows), bool)
        if not layout.deletes:
            for name in key:
                if name in layout.before and name in layout.after:
                    moves |= layout.old_pair(name) != layout.new_pair(name)
        return moves

    def _rows_of(
        self,
        rows: Numbers,
        table: TableName,
        keys: tuple[Numbers, Numbers],
        keyed: bool,
        changes: Mapping[str, Numbers],
    ) -> HistoryRows:
        count = len(rows)
        return HistoryRows(
            topic=self.decoded.column("topic").take(pa.array(rows)),
            schema=pa.repeat(table[0], count),
            table=pa.repeat(table[1], count),
            partition=self.integers("partition")[rows],
            position=self.positions[rows],
            key=keys[0],
            key_check=keys[1],
            keyed=np.full(count, keyed),
            **changes,
        )


def _changes(
    form: CommonForm, commit_ts: Numbers, op: Numbers, old: Numbers, new: Numbers, *, deletes: bool
) -> dict[str, Numbers]:
    """Return changes of rows in the common form.

    >>> from ticdc_producer.model.fidelity import Fidelity
    >>> form, op = CommonForm((Fidelity(), Fidelity(deletes="handle-key"))), np.array([Op.INSERT, Op.UPDATE])
    >>> commit_ts, old, new = np.array([[5, 6], [7, 8], [8, 9]])
    >>> _changes(form, commit_ts, op, old, new, deletes=False)["old"].tolist()
    [0, 8]
    >>> _deletions(form, commit_ts, old)["old"].tolist()
    [0, 0]

    :param old, new: fingerprints of the images; an insert has no old image, whatever ``old`` is.
    :param deletes: whether all of them delete rows; otherwise none does.
    """
    has_old = form.deleted_values if deletes else form.old_values
    return {
        "commit_ts": commit_ts,
        "time": form.times(commit_ts, deletes),
        "op": form.operations(op),
        "old": np.where((op == Op.INSERT) | (not has_old), 0, old),
        "new": new,
    }


def _deletions(form: CommonForm, commit_ts: Numbers, old: Numbers) -> dict[str, Numbers]:
    """Return deletions of rows in the common form.

    :param old: fingerprints of the old images.
    """
    unknown = np.zeros(len(old), np.int64)
    return {
        "commit_ts": commit_ts,
        "time": form.times(commit_ts, True),
        "op": np.full(len(old), int(Op.DELETE)),
        "old": old if form.deleted_values else unknown,
        "new": unknown,
    }


def _key(pairs: list[Hashes], tables: Hashes, changes: Mapping[str, Numbers]) -> tuple[Numbers, Numbers]:
    """Return the row key of changes; without a key the content takes its place."""
    if pairs:
        return row_key(pairs, tables)
    content = combined(tables, changes["op"], changes["old"], changes["new"])
    salted = (combined(np.broadcast_to(salt, len(content)), content) for salt in (_KEY_SALT, _CHECK_SALT))
    key, check = (hashes.view(np.int64) for hashes in salted)
    return key, check


def _stays(values: pa.Array, at: Numbers, projection: Projection | None, is_compared: bool) -> bool:
    """Return whether a projection leaves all values as they are, which is fast to see in texts."""
    if projection is not repaired or not is_compared:
        return False
    try:
        values.take(pa.array(at)).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def _pairs(
    name: str, values: pa.Array, at: Numbers, projection: Projection | None, is_compared: bool
) -> Hashes:
    """Return hashes of a name with values in the common form; values that are not compared are equal."""
    if not is_compared:
        return np.broadcast_to(null_pair(name), len(at))
    distinct = values.take(pa.array(at)).dictionary_encode()
    every = [*distinct.dictionary.to_pylist(), None]
    common = pa.array([readable(projection, value) for value in every], pa.binary())
    own = common.take(pc.fill_null(distinct.indices, len(common) - 1))
    return pair_hashes(text_hashes(pa.array([name])), value_hashes(own))
