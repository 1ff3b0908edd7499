"""A batch of rows as keys and values, and the rows of it that TiCDC refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Op
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Piece, Pieces, integers, joined
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.compression import all_compressed
from ticdc_producer.protocols.debezium import temporal
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.debezium.plan import Image, Rendered, TablePlan


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """The rows of one batch.

    :param before: old images as they are written; none where they are not.
    :param after: the new ones, likewise.
    """

    plan: TablePlan
    batch: RowBatch
    options: DebeziumOptions
    before: Rendered
    after: Rendered

    def keys(self) -> pa.Array:
        """The key of every row; that of a table without a handle key names no column."""
        shown = self.before if self.batch.op == Op.DELETE else self.after
        members = self.plan.members(shown, key_only=True)
        return self._packed([b'{"payload":{', *members, self.plan.key_tail])

    def values(self) -> pa.Array:
        """The value of every row."""
        head, tail = b'{"payload":{"source":', self.plan.value_tail
        return self._packed([head, *self._times(), b',"transaction":null,', *self._row(), tail])

    def _times(self) -> Iterator[Piece]:
        """``source`` and what follows it, up to the build time."""
        commits = self.batch.commit_ts
        millis, given = integers(pc.shift_right(commits, LOGICAL_BITS)), self.options.build_ts_ms
        start = integers(pc.subtract(commits, 1)) if self.options.include_start_ts else None
        yield from self.plan.source.pieces(millis, integers(commits), start)
        yield b',"ts_ms":'
        yield millis if given is None else b"%d" % given

    def _row(self) -> list[Piece]:
        """Operation and images; an update's ``before`` is left out where it is not wanted."""
        old, new = (self.plan.members(image) for image in (self.before, self.after))
        if self.batch.op == Op.INSERT:
            return [b'"op":"c","before":null,"after":{', *new, b"}"]
        if self.batch.op == Op.DELETE:
            return [b'"op":"d","after":null,"before":{', *old, b"}"]
        if not self.before:
            return [b'"op":"u","after":{', *new, b"}"]
        return [b'"op":"u","before":{', *old, b'},"after":{', *new, b"}"]

    def _packed(self, pieces: Sequence[Piece]) -> pa.Array:
        return all_compressed(joined(pieces, len(self.batch)), self.options.large_message_handle_compression)

    def refused(self) -> dict[int, bytes]:
        """By place of the row the first date that cannot be written."""
        found = _refused(self.plan, self.batch.after, self.after)
        return found | _refused(self.plan, self.batch.before, self.before)


def batch_messages(plan: TablePlan, batch: RowBatch, options: DebeziumOptions) -> BatchMessages:
    """The rows of one batch, their values rendered."""
    with_old = batch.op != Op.UPDATE or options.output_old_value
    before = plan.rendered(batch.before) if with_old else ()
    return BatchMessages(plan, batch, options, before, plan.rendered(batch.after))


def _refused(plan: TablePlan, image: Image, rendered: Rendered) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    shown = list(zip(plan.columns, image, rendered, strict=False)) if rendered else []
    for column, values, pieces in reversed(shown):
        if column.may_be_refused:
            for place in _places(pieces):
                found[place] = (values[place].as_py() or column.default)[:10]
    return found


def _places(pieces: Pieces) -> list[int]:
    """Where a value is refused."""
    (texts,) = (piece for piece in pieces if isinstance(piece, pa.Array))
    refused = pc.fill_null(pc.equal(texts, temporal.REFUSED), False)
    return [int(place) for place in np.flatnonzero(refused.to_numpy(zero_copy_only=False))]
