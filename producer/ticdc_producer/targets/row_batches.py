"""Converts Arrow batches of the event stream to the input of encoders, in delivery order with barriers.

Rows are framed in large batches even if there are barriers between them: framing a few rows costs as much
as framing thousands, and a stream may have a resolved event every few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import DAMAGE, DAMAGE_LABEL, ROW_ELSEWHERE, Kind, Message, Op
from ticdc_producer.model.shapes import EventBatch
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.base import DescribingEncoder, Encoder, RowBatch
from ticdc_producer.protocols.encoded_rows import EncodedRows, merge_by_position
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages, interleave

_IMAGE = pa.list_(pa.binary())
EVENTS_ARROW = pa.schema(
    [
        ("kind", pa.int8()), ("commit_ts", pa.int64()), ("table_version", pa.int32()),
        ("table_id", pa.int64()), ("row_id", pa.int64()), ("op", pa.int8()), ("split", pa.bool_()),
        ("before", _IMAGE), ("after", _IMAGE), ("dispatch_key", pa.string()), ("ddl", pa.int32()),
    ]
)  # fmt: skip
"""The columns of the event stream that encoders need; in batches of any origin."""

NEEDED = ("topic", "partition", *EVENTS_ARROW.names)
"""The columns of the event stream that tasks need; only these are passed to them."""

_MAX_ROWS, _MAX_CELLS = 1 << 13, 1 << 16
_MAX_BYTES = 16 << 20


def bounded_batches(batch: EventBatch, catalog: Catalog) -> Iterator[EventBatch]:
    """Split a batch into parts whose encoding needs bounded memory.

    :param batch: events with the columns of ``EVENTS_ARROW``; the parts are slices of it, in order.
    """
    widest = max((len(table.sent) for table in catalog.tables), default=1)
    rows = min(_MAX_ROWS, max(1, _MAX_CELLS // max(widest, 1)))
    for start in range(0, batch.num_rows, rows):
        yield from _halves(batch.slice(start, rows))


def _halves(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if batch.num_rows == 1 or batch.get_total_buffer_size() <= _MAX_BYTES or batch.nbytes <= _MAX_BYTES:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _halves(batch.slice(0, half))
    yield from _halves(batch.slice(half))


@dataclass(frozen=True, slots=True)
class EncodedPart:
    """The encoded events of one Arrow batch, without those that the protocol does not send.

    :param rows: row changes in order; None if there are none.
    :param barriers: messages of DDL and resolved events, damaged ones of a recorded topic, and those that
        describe tables of a topic in its partition 0, in order.
    :param before: number of barriers before each row.
    """

    rows: EncodedRows | None
    barriers: Sequence[Message]
    before: Numbers

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.before) + sum(message.events for message in self.barriers)

    @property
    def events_before(self) -> Numbers:
        """Number of DDL and resolved events before each row."""
        return np.cumsum([0, *(message.events for message in self.barriers)])[self.before]

    @property
    def ends_with_barrier(self) -> bool:
        """Whether no row follows the last barrier."""
        return bool(self.barriers) and not np.any(self.before == len(self.barriers))

    def without(self, indexes: Sequence[int]) -> EncodedPart:
        """Return the part without some of its rows."""
        rows = None if self.rows is None else self.rows.without(indexes)
        return EncodedPart(rows, self.barriers, np.delete(self.before, indexes))


def encoded(
    batch: EventBatch, encoder: Encoder, catalog: Catalog, describer: DescribingEncoder | None = None
) -> EncodedPart:
    """Encode the events of one Arrow batch.

    >>> from types import SimpleNamespace
    >>> encode = lambda table, rows: EncodedRows(pa.record_batch({"commit_ts": rows.commit_ts}))
    >>> encoder = SimpleNamespace(rows=encode, resolved=lambda ts: f"resolved {ts}")
    >>> row = {"kind": Kind.ROW, "table_version": 0, "op": Op.INSERT}
    >>> events = [row | {"commit_ts": 5}, {"kind": Kind.RESOLVED, "commit_ts": 6}, row | {"commit_ts": 7}]
    >>> batch, table = pa.RecordBatch.from_pylist(events, EVENTS_ARROW), SimpleNamespace(sent=())
    >>> part = encoded(batch, encoder, SimpleNamespace(tables=[table]))
    >>> part.rows.column("commit_ts").to_pylist(), part.barriers, part.before.tolist()
    ([5, 7], ['resolved 6'], [0, 1])

    :param batch: with the columns of ``EVENTS_ARROW``, in delivery order.
    :param describer: the encoder, if messages that describe tables follow from the rows of all partitions;
        the batch then has the places of the other partitions' rows.
    """
    kinds = as_int64(batch.column("kind"))
    barriers = {index: _barrier(encoder, catalog, **batch_row) for index, batch_row in _others(batch, kinds)}
    sent = [(index, message) for index, message in barriers.items() if message is not None]
    if describer is not None:
        # A description precedes the row or barrier of its index; a row's place has no barrier.
        sent = sorted([*sent, *_descriptions(batch, kinds, describer, catalog)], key=itemgetter(0))
    return EncodedPart(
        rows=_rows(batch, encoder, catalog),
        barriers=[message for _, message in sent],
        before=np.searchsorted(
            np.array([index for index, _ in sent], np.int64), np.flatnonzero(kinds == Kind.ROW), side="right"
        ),
    )


def _others(batch: pa.RecordBatch, kinds: Numbers) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield index and content of each DDL and resolved event, and of each damaged message."""
    indexes = np.flatnonzero((kinds != Kind.ROW) & (kinds != ROW_ELSEWHERE))
    rows = batch.select(["kind", "commit_ts", "ddl", "before", "after"]).take(pa.array(indexes)).to_pylist()
    return zip(indexes.tolist(), rows, strict=True)


def _descriptions(
    batch: pa.RecordBatch, kinds: Numbers, describer: DescribingEncoder, catalog: Catalog
) -> Iterator[tuple[int, Message]]:
    """Yield the messages that describe tables, with the index of the row or place that each precedes."""
    indexes = np.flatnonzero((kinds == Kind.ROW) | (kinds == ROW_ELSEWHERE))
    if not len(indexes):
        return
    versions, times = (as_int64(batch.column(name))[indexes] for name in ("table_version", "commit_ts"))
    for row, message in describer.descriptions(catalog.tables, versions, times).items():
        yield int(indexes[row]), message


def _rows(batch: EventBatch, encoder: Encoder, catalog: Catalog) -> EncodedRows | None:
    """Return all rows of a batch, encoded; None if it has none.

    >>> from types import SimpleNamespace
    >>> columns = lambda rows: {"of": [f"{len(rows)} {rows.op.name}"] * len(rows)}
    >>> encoder = SimpleNamespace(rows=lambda table, rows: EncodedRows(pa.record_batch(columns(rows))))
    >>> ops, table = (Op.UPDATE, Op.INSERT, Op.UPDATE), SimpleNamespace(sent=())
    >>> events = [{"kind": Kind.ROW, "table_version": 0, "op": op} for op in ops]
    >>> batch = pa.RecordBatch.from_pylist(events, EVENTS_ARROW)
    >>> _rows(batch, encoder, SimpleNamespace(tables=[table])).column("of").to_pylist()  # encoded together
    ['2 UPDATE', '1 INSERT', '2 UPDATE']
    """
    kinds, versions = (as_int64(batch.column(name)) for name in ("kind", "table_version"))
    groups = np.where(kinds == int(Kind.ROW), versions * len(Op) + as_int64(batch.column("op")) - 1, -1)
    parts, indexes = [], []
    for group in np.flatnonzero(np.bincount(groups[groups >= 0])).tolist():
        version, op = divmod(group, len(Op))
        table = catalog.tables[version]
        in_group = np.flatnonzero(groups == group)
        part = encoder.rows(table, row_batch(batch, in_group, Op(op + 1), len(table.sent)))
        parts.append(part.with_column("batch_key", batch.column("dispatch_key").take(pa.array(in_group))))
        indexes.append(in_group)
    return merge_by_position(parts, indexes) if parts else None


_OF_ROW = ["commit_ts", "table_id", "row_id", "split"]


def row_batch(batch: EventBatch, indexes: Numbers, op: Op, width: int) -> RowBatch:
    """Return the row events of one table version and operation, column by column.

    :param batch: events with the columns of ``EVENTS_ARROW``.
    :param indexes: indexes of the rows in the batch.
    :param width: number of columns in an image.
    """
    rows = batch.select(_OF_ROW).take(pa.array(indexes))
    return RowBatch(
        op=op,
        commit_ts=rows.column("commit_ts"),
        table_id=rows.column("table_id"),
        row_id=rows.column("row_id"),
        split=rows.column("split"),
        before=() if op == Op.INSERT else _columns(batch.column("before"), indexes, width),
        after=() if op == Op.DELETE else _columns(batch.column("after"), indexes, width),
    )


def _columns(images: pa.ListArray, indexes: Numbers, width: int) -> Sequence[pa.Array]:
    """Return the columns of some row images.

    >>> images = pa.array([[b"1", b"a"], [b"2", b"b"], [b"3", b"c"]])
    >>> [column.to_pylist() for column in _columns(images, np.array([0, 2]), 2)]
    [[b'1', b'3'], [b'a', b'c']]
    """
    first = images.offsets.to_numpy()[indexes]
    return [images.values.take(pa.array(first + column)) for column in range(width)]


def _barrier(
    encoder: Encoder,
    catalog: Catalog,
    *,
    kind: int,
    commit_ts: int,
    ddl: int | None,
    before: Sequence[bytes | None] | None,
    after: Sequence[bytes | None] | None,
) -> Message | None:
    if kind == DAMAGE and before and after:
        return Message(before[0], after[0], DAMAGE_LABEL, commit_ts, events=0)
    if kind == Kind.RESOLVED or ddl is None:
        return encoder.resolved(commit_ts)
    job = catalog.ddls[ddl]
    return encoder.ddl(job.event(commit_ts), *catalog.tables_of(job))


class Interleaver:
    """The framed rows of some parts, with each barrier at its position.

    Barriers are held until the rows before them are framed, so the parts should end after a barrier.

    :param partition_keys: whether the key of a message is the dispatch key of its rows, as Pulsar's is.
    """

    def __init__(self, encoder: Encoder, *, partition_keys: bool = False) -> None:
        self._encoder = encoder
        self._keys: list[pa.Array] | None = [] if partition_keys else None
        self._waiting: list[Message] = []
        self._sent = 0
        # For each row that is not in a message yet: the number of barriers before it.
        self._segments: Numbers = np.zeros(0, np.int64)

    def batches(self, parts: Iterable[EncodedPart]) -> Iterator[MessageBatch]:
        """Yield the messages in delivery order.

        :raises EncodeError: if TiCDC rejects a row.
        """
        for batch in self._encoder.messages(self._rows(parts)):
            yield self._with_barriers(batch)
        if self._waiting:
            yield from_messages(self._waiting)

    def _rows(self, parts: Iterable[EncodedPart]) -> Iterator[EncodedRows]:
        for part in parts:
            segments = part.before + (self._sent + len(self._waiting))
            self._waiting.extend(part.barriers)
            if part.rows is not None and len(part.rows):
                self._segments = np.append(self._segments, segments)
                if self._keys is not None:
                    self._keys.append(part.rows.column("batch_key"))
                yield part.rows.with_column("segment", pa.array(segments))

    def _with_barriers(self, batch: MessageBatch) -> MessageBatch:
        """Insert the barriers that precede the last row of the messages.

        Messages of 2 and 1 rows, whose rows are in the segments 0, 0 and 1, get one barrier between them.
        """
        rows = as_int64(batch.events)
        ends = np.cumsum(rows)
        if self._keys is not None:
            batch = replace(batch, key=self._next_keys(ends - rows, int(ends[-1])))
        segments = self._segments[ends - rows] - self._sent
        self._segments = self._segments[int(ends[-1]) :]
        due = int(segments[-1])
        if not due:
            return batch
        barriers, self._waiting = self._waiting[:due], self._waiting[due:]
        self._sent += due
        return interleave(batch, barriers, np.searchsorted(segments, np.arange(due), side="right"))

    def _next_keys(self, first_rows: Numbers, rows: int) -> pa.Array:
        """Return the dispatch key of the first row of each message; NULL for an empty one.

        :param rows: number of rows of these messages.
        """
        waiting = pa.chunked_array(self._keys, pa.string()).combine_chunks()
        self._keys = [waiting.slice(rows)]
        keys = waiting.take(pa.array(first_rows))
        return pc.if_else(pc.equal(keys, ""), None, keys).cast(pa.binary())
