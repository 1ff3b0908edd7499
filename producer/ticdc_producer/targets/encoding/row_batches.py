"""Arrow batches of the event stream as what an encoder takes, without a look at single values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Kind, Message, Op
from ticdc_producer.protocols.arrow_text import Numbers, numbers
from ticdc_producer.protocols.base import Encoder, RowBatch
from ticdc_producer.protocols.encoded_rows import EncodedRows, in_places

_IMAGE = pa.list_(pa.binary())
EVENTS_ARROW = pa.schema(
    [
        ("kind", pa.int8()), ("commit_ts", pa.int64()), ("table_version", pa.int32()),
        ("table_id", pa.int64()), ("row_id", pa.int64()), ("op", pa.int8()), ("before", _IMAGE),
        ("after", _IMAGE), ("dispatch_key", pa.string()), ("ddl", pa.int32()),
    ]
)  # fmt: skip
"""What an encoder takes of the event stream, in batches that Spark does not make."""

NEEDED = ("topic", "partition", *EVENTS_ARROW.names)
"""Columns of the event stream that go to a worker: the others cost as much to hand over."""

_MOST_CELLS = 1 << 16
_MOST_BYTES = 16 << 20


def pieces(batch: pa.RecordBatch, catalog: Catalog) -> Iterator[pa.RecordBatch]:
    """A batch in parts that are quick to encode and bounded in memory, whatever its rows hold."""
    widest = max((len(table.sent) for table in catalog.tables), default=1)
    rows = max(1, _MOST_CELLS // max(widest, 1))
    for start in range(0, batch.num_rows, rows):
        yield from _halves(batch.slice(start, rows))


def _halves(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if batch.num_rows == 1 or batch.get_total_buffer_size() <= _MOST_BYTES or batch.nbytes <= _MOST_BYTES:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _halves(batch.slice(0, half))
    yield from _halves(batch.slice(half))


@dataclass(frozen=True, slots=True)
class EncodedPart:
    """Every event of one Arrow batch, encoded; events that the protocol does not send are left out.

    :param rows: row changes in order; None if there are none.
    :param barriers: messages of DDL and resolved events, in order.
    :param before: how many barriers come before each row.
    """

    rows: EncodedRows | None
    barriers: Sequence[Message]
    before: Numbers

    def __len__(self) -> int:
        return len(self.before) + len(self.barriers)

    @property
    def ends_with_barrier(self) -> bool:
        """Whether no row comes behind the last barrier."""
        return bool(self.barriers) and not np.any(self.before == len(self.barriers))

    def without(self, places: Sequence[int]) -> EncodedPart:
        """The part but some of its rows."""
        rows = None if self.rows is None else self.rows.without(places)
        return EncodedPart(rows, self.barriers, np.delete(self.before, places))


def encoded(batch: pa.RecordBatch, encoder: Encoder, catalog: Catalog) -> EncodedPart:
    """The events of one Arrow batch."""
    is_row = numbers(batch.column("kind")) == int(Kind.ROW)
    places = np.flatnonzero(~is_row)
    others = batch.select(["kind", "commit_ts", "ddl"]).take(pa.array(places)).to_pylist()
    told = [_barrier(encoder, catalog, **other) for other in others]
    sent = places[[message is not None for message in told]] if told else places
    return EncodedPart(
        rows=_rows(batch, encoder, catalog),
        barriers=[message for message in told if message is not None],
        before=np.searchsorted(sent, np.flatnonzero(is_row)),
    )


def _rows(batch: pa.RecordBatch, encoder: Encoder, catalog: Catalog) -> EncodedRows | None:
    """All rows of a batch; None if it has none."""
    kinds, versions = (numbers(batch.column(name)) for name in ("kind", "table_version"))
    form = np.where(kinds == int(Kind.ROW), versions * len(Op) + numbers(batch.column("op")) - 1, -1)
    parts, places = [], []
    for one in np.flatnonzero(np.bincount(form[form >= 0])).tolist():
        version, op = divmod(one, len(Op))
        table = catalog.tables[version]
        there = np.flatnonzero(form == one)
        part = encoder.rows(table, row_batch(batch, there, Op(op + 1), len(table.sent)))
        parts.append(part.with_column("group", batch.column("dispatch_key").take(pa.array(there))))
        places.append(there)
    return in_places(parts, places) if parts else None


def row_batch(batch: pa.RecordBatch, places: Numbers, op: Op, width: int) -> RowBatch:
    """Row events of one table version and operation, column by column.

    :param places: of the rows in the batch.
    :param width: number of columns in an image.
    """
    rows = pa.array(places)
    return RowBatch(
        op=op,
        commit_ts=batch.column("commit_ts").take(rows),
        table_id=batch.column("table_id").take(rows),
        row_id=batch.column("row_id").take(rows),
        before=() if op == Op.INSERT else _columns(batch.column("before"), places, width),
        after=() if op == Op.DELETE else _columns(batch.column("after"), places, width),
    )


def _columns(images: pa.ListArray, places: Numbers, width: int) -> Sequence[pa.Array]:
    """The columns of the images at some places."""
    first = images.offsets.to_numpy()[places]
    return [images.values.take(pa.array(first + column)) for column in range(width)]


def _barrier(
    encoder: Encoder, catalog: Catalog, *, kind: int, commit_ts: int, ddl: int | None
) -> Message | None:
    if kind == Kind.RESOLVED or ddl is None:
        return encoder.resolved(commit_ts)
    job = catalog.ddls[ddl]
    return encoder.ddl(job.event(commit_ts), *catalog.tables_of(job))
