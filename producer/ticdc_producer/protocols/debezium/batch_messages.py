"""Encodes a batch of rows to keys and values, and finds the rows that TiCDC refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Op
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Fragment, Fragments, concat, integers
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.compression import all_compressed
from ticdc_producer.protocols.debezium import temporal
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.debezium.plan import Image, Rendered, TablePlan


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """The rows of one batch, with their values as JSON.

    :param before: old images as JSON; empty if the messages have none.
    :param after: new images, likewise.
    """

    plan: TablePlan
    batch: RowBatch
    options: DebeziumOptions
    before: Rendered
    after: Rendered

    def keys(self) -> pa.Array:
        """The key of every row. It has no columns if the table has no handle key."""
        images = self.before if self.batch.op == Op.DELETE else self.after
        members = self.plan.key_members(images)
        return self._packed([b'{"payload":{', *members, self.plan.key_tail])

    def values(self) -> pa.Array:
        """The value of every row."""
        head, tail = b'{"payload":{"source":', self.plan.value_tail
        return self._packed([head, *self._times(), b',"transaction":null,', *self._row(), tail])

    def _times(self) -> Iterator[Fragment]:
        """``source`` and ``ts_ms``."""
        commits = self.batch.commit_ts
        millis, given = integers(pc.shift_right(commits, LOGICAL_BITS)), self.options.build_ts_ms
        start = integers(pc.subtract(commits, 1)) if self.options.debezium_include_start_ts else None
        yield from self.plan.source.fragments(millis, integers(commits), start)
        yield b',"ts_ms":'
        yield millis if given is None else b"%d" % given

    def _row(self) -> list[Fragment]:
        """``op``, ``before`` and ``after``; updates have no ``before`` if old values are not sent."""
        old, new = (self.plan.members(image) for image in (self.before, self.after))
        if self.batch.op == Op.INSERT:
            return [b'"op":"c","before":null,"after":{', *new, b"}"]
        if self.batch.op == Op.DELETE:
            return [b'"op":"d","after":null,"before":{', *old, b"}"]
        if not self.before:
            return [b'"op":"u","after":{', *new, b"}"]
        return [b'"op":"u","before":{', *old, b'},"after":{', *new, b"}"]

    def _packed(self, fragments: Sequence[Fragment]) -> pa.Array:
        return all_compressed(
            concat(fragments, len(self.batch)), self.options.large_message_handle_compression
        )

    def rejected(self) -> dict[int, bytes]:
        """Row index to the first date in the row that TiCDC refuses to encode."""
        found = _refused(self.plan, self.batch.after, self.after)
        return found | _refused(self.plan, self.batch.before, self.before)


def batch_messages(plan: TablePlan, batch: RowBatch, options: DebeziumOptions) -> BatchMessages:
    """Render the values of a batch."""
    with_old = batch.op != Op.UPDATE or options.output_old_value
    before = plan.rendered(batch.before) if with_old else ()
    return BatchMessages(plan, batch, options, before, plan.rendered(batch.after))


def _refused(plan: TablePlan, image: Image, rendered: Rendered) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    columns = list(zip(plan.columns, image, rendered, strict=False)) if rendered else []
    for column, values, fragments in reversed(columns):
        if column.may_be_refused:
            for index in _refused_indexes(fragments):
                found[index] = (values[index].as_py() or column.default)[:10]
    return found


def _refused_indexes(fragments: Fragments) -> list[int]:
    """Indexes of the rows whose value is refused."""
    (texts,) = (fragment for fragment in fragments if isinstance(fragment, pa.Array))
    rejected = pc.fill_null(pc.equal(texts, temporal.REFUSED), False)
    return [int(index) for index in np.flatnonzero(rejected.to_numpy(zero_copy_only=False))]
