"""Reads the history of one side: selects its events, names them in the common form, and reduces them."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Part, Tagged
from ticdc_producer.model.shapes import EVENT_IMAGE
from ticdc_producer.verifier.events import (
    numbered_pairs,
    without_tombstones,
)
from ticdc_producer.verifier.history.column_projections import ColumnProjections
from ticdc_producer.verifier.history.common_form import CommonForm
from ticdc_producer.verifier.history.history_rows import ROW, HistoryStats
from ticdc_producer.verifier.history.known_side import KnownSide
from ticdc_producer.verifier.history.observed_rows import HistoryBatch


def read_history(known: KnownSide, _part: Part, batches: Batches) -> Generator[Tagged, None, HistoryStats]:
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


def _selected(known: KnownSide, decoded: pa.RecordBatch) -> pa.RecordBatch:
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
