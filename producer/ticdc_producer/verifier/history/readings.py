"""Reads two streams.

The stream that marks more of its keys is read first, because the other one is keyed by them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Part, Tagged
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.shapes import DECODED, EVENT_IMAGE, DecodedBatch
from ticdc_producer.replica.stream_ddl import StreamDDL, apply_ddls
from ticdc_producer.verifier.events import (
    numbered_pairs,
    without_tombstones,
)
from ticdc_producer.verifier.history.common_form import CommonForm
from ticdc_producer.verifier.history.history_rows import ROW, HistoryRows, HistoryStats, TableName, ddl_of
from ticdc_producer.verifier.history.observed_rows import HistoryBatch
from ticdc_producer.verifier.history.sides import (
    ColumnProjections,
    HistorySide,
    KnownDefinition,
    KnownSide,
    TableDefinitions,
)


def read_history(
    known: KnownSide, _part: Part, batches: Iterator[DecodedBatch]
) -> Generator[Tagged, None, HistoryStats]:
    """Yield the rows of a part (``HistoryRows``), and return what else is known of it.

    :param batches: shape ``DECODED``.
    """
    stats, projections = HistoryStats(), ColumnProjections(known)
    for decoded in map(without_tombstones, batches):
        if decoded.num_rows:
            rows = HistoryBatch(_selected(known, decoded), known, stats, projections).rows()
            if rows is not None:
                yield ROW, rows.to_batch()
    stats.unreadable = projections.unreadable
    return stats


def _selected(known: KnownSide, decoded: DecodedBatch) -> DecodedBatch:
    """Return the events that are compared, with their names in the common form."""
    if known.patterns:
        schema, table = (pc.fill_null(decoded.column(name), "") for name in ("schema", "table"))
        codes, tables = numbered_pairs(schema, table)
        included = np.array([known.includes(*name) for name in tables], bool)[codes]
        named = pc.is_in(decoded.column("kind"), pa.array(["row", "ddl"])).to_numpy(zero_copy_only=False)
        decoded = decoded.filter(pa.array(included | ~named))
    return _renamed(decoded, known.form) if known.form.changes_names else decoded


def _renamed(decoded: pa.RecordBatch, form: CommonForm) -> pa.RecordBatch:
    def renamed(names: pa.Array) -> pa.Array:
        encoded = names.dictionary_encode()
        common = [form.name(name) for name in encoded.dictionary.to_pylist()]
        return pa.array(common, pa.string()).take(encoded.indices)

    for name in ("schema", "table"):
        decoded = _with_column(decoded, name, renamed(decoded.column(name)))
    for name in ("before", "after"):
        images = decoded.column(name)
        mask = pc.is_null(images) if images.null_count else None
        new = pa.MapArray.from_arrays(images.offsets, renamed(images.keys), images.items)
        new = new.cast(EVENT_IMAGE)
        decoded = _with_column(decoded, name, new if mask is None else pc.if_else(mask, None, new))
    columns = decoded.column("columns")
    entries = columns.values
    parts = [renamed(entries.field("name")), entries.field("type"), entries.field("flag")]
    described = pa.StructArray.from_arrays(parts, fields=list(columns.type.value_type))
    lists = pa.ListArray.from_arrays(columns.offsets, described, columns.type)
    if columns.null_count:
        lists = pc.if_else(pc.is_null(columns), None, lists)
    return _with_column(decoded, "columns", lists)


def _with_column(batch: pa.RecordBatch, name: str, values: pa.Array) -> pa.RecordBatch:
    index = batch.schema.get_field_index(name)
    return batch.set_column(index, batch.schema.field(index), values)


_DDL = pa.array(["ddl"])


@dataclass(frozen=True)
class Reading:
    """One side after one pass.

    :param rows: ``HistoryRows``.
    """

    known: KnownSide
    stats: HistoryStats
    rows: Dataset


def readings(
    form: CommonForm, sides: Sequence[HistorySide], tables: Sequence[str], stack: ExitStack
) -> list[Reading]:
    """Read both sides, the one that marks more of its keys first."""
    first = 0 if _marks(sides[0]) >= _marks(sides[1]) else 1
    own, marks = sides[first], _marks(sides[first])
    definitions = _definitions(form, sides)
    known = KnownSide(form=form, side=first, definitions=definitions, patterns=tables)
    reading = _read(own, known, stack)
    if marks < 2:
        defined = definitions if form.changes_values else _defined_by(form, sides, reading.stats)
        if defined.has_keys_of(table for table, keys in reading.stats.keys.items() if () in keys):
            known = replace(known, definitions=defined)
            reading = _read(own, known, stack)
    keys = reading.stats.keys
    changing = frozenset(table for table, of_table in keys.items() if len(of_table) > 1)
    if changing and _marks(sides[1 - first]) < 2:
        known = replace(known, keyless=changing)
        reading = _read(own, known, stack)
    other = replace(
        known,
        side=1 - first,
        keys={table: next(iter(of_table)) for table, of_table in keys.items() if len(of_table) == 1},
        described=reading.stats.described,
    )
    readings = {first: reading, 1 - first: _read(sides[1 - first], other, stack)}
    return [readings[0], readings[1]]


def _marks(side: HistorySide) -> int:
    """Return how far a stream marks its keys: 2 all handle keys, 1 primary keys, 0 none."""
    if side.fidelity.marks_handle_keys:
        return 2
    return int(bool(side.fidelity.visible_flag(ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY)))


def _read(side: HistorySide, known: KnownSide, stack: ExitStack) -> Reading:
    stored = stack.enter_context(
        side.events.stored(partial(read_history, known), {ROW: HistoryRows.arrow_schema()})
    )
    stats = HistoryStats()
    stats.merge(stored.results)
    form = known.form
    for ts, schema, table, query, action in side.ddls:
        name = form.name(schema), form.name(table)
        if known.includes(*name):
            stats.see_ddl(ddl_of(form, ts, *name, query, action), None)
    return Reading(known, stats, stored[ROW])


def _definitions(form: CommonForm, sides: Sequence[HistorySide]) -> TableDefinitions:
    """Return what is known of tables before their rows are read.

    If values depend on the definitions of columns, the first stream with DDLs is decoded once more.
    """
    if form.changes_values:
        for side in sides:
            ddls = [] if side.without_ddls else _stream_ddls(side)
            versions = apply_ddls(ddls, side.fidelity, side.profile)
            if versions:
                return TableDefinitions.of_versions(versions, _known_tables(sides), form.name)
    return TableDefinitions.of_versions([], _known_tables(sides), form.name)


def _known_tables(sides: Sequence[HistorySide]) -> dict[TableName, KnownDefinition]:
    return {**sides[1].tables, **sides[0].tables}


def _defined_by(form: CommonForm, sides: Sequence[HistorySide], stats: HistoryStats) -> TableDefinitions:
    """Return the definitions that the DDLs of one side make."""
    ddls = [
        StreamDDL(
            commit_ts=ddl.commit_ts,
            order=(number,),
            schema=ddl.schema,
            table=ddl.table,
            query=ddl.query,
        )
        for number, ddl in enumerate(sorted(stats.ddls))
    ]
    versions = apply_ddls(ddls, sides[0].fidelity, sides[0].profile)
    return TableDefinitions.of_versions(versions, _known_tables(sides), form.name)


def _stream_ddls(side: HistorySide) -> list[StreamDDL]:
    """Return each DDL of a stream once."""

    def ddls(_part: Part, batches: Batches) -> dict[tuple[int, str, str, str], tuple[int, int, int]]:
        first: dict[tuple[int, str, str, str], tuple[int, int, int]] = {}
        for batch in batches:
            for row in batch.filter(pc.equal(batch.column("kind"), "ddl")).to_pylist():
                ddl = row["commit_ts"], row["schema"], row["table"], row["query"]
                position = row["partition"], row["offset"], row["index"]
                first[ddl] = min(position, first.get(ddl, position))
        return first

    messages = side.messages.rows.map(_may_be_ddls, side.messages.rows.schema)
    statements: dict[tuple[int, str, str, str], tuple[int, ...]] = {
        (ts, schema, table, query): (0, number, 0)
        for number, (ts, schema, table, query, _) in enumerate(side.ddls)
    }
    for of_part in messages.merged().map(side.decode, DECODED).results(ddls):
        for ddl, position in of_part.items():
            statements[ddl] = min(position, statements.get(ddl, position))
    return [
        StreamDDL(commit_ts=ts, order=order, schema=schema, table=table, query=query)
        for (ts, schema, table, query), order in statements.items()
    ]


def _may_be_ddls(batches: Batches) -> Batches:
    """Yield the messages that may be DDLs: a golden folder has the type of each message, a topic has none."""
    for batch in batches:
        types = batch.column("type")
        yield batch.filter(pc.or_(pc.is_null(types), pc.is_in(types, _DDL)))
