"""A batch of rows as keys and values: in full, and those over ``max-message-bytes`` as their handle key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Numbers, Piece, integers, joined
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.compression import all_compressed
from ticdc_producer.protocols.encoded_rows import EncodedRows
from ticdc_producer.protocols.open_protocol.framing import framed, single_lengths
from ticdc_producer.protocols.open_protocol.options import OpenOptions
from ticdc_producer.protocols.open_protocol.plan import TablePlan

_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """The rows of one batch."""

    plan: TablePlan
    batch: RowBatch
    options: OpenOptions

    def keys(self, marks: Sequence[Piece] = ()) -> pa.Array:
        """The key of every row.

        Order of members: ts, scm, tbl, rid, ptn, t, marks; of the new program ts, scm, tbl, t, marks, ptn.

        :param marks: ``,"ohk":true`` of rows that show their handle key alone.
        """
        plan = self.plan
        ptn: list[Piece] = [b',"ptn":', integers(self.batch.table_id)] if plan.partitioned else []
        before, after = ([], ptn) if plan.dialect.partition_last else (ptn, [])
        head = [b'{"ts":', integers(self.batch.commit_ts), plan.key_head, *self._row_ids(), *before]
        return joined([*head, b',"t":1', *marks, *after, b"}"], len(self.batch))

    def _row_ids(self) -> Iterator[Piece]:
        """``rid``, which is left out where it is 0."""
        if not self.options.output_row_id or not self.plan.dialect.row_id:
            return
        ids = self.batch.row_id
        some = pc.not_equal(ids, 0)
        if pc.all(some).as_py():
            yield from (b',"rid":', integers(ids))
        elif pc.any(some).as_py():
            yield pc.if_else(some, joined((b',"rid":', integers(ids)), len(ids)), _NONE)

    def values(self, table: TableInfo) -> pa.Array:
        """The value of every row."""
        by_key = self.options.delete_only_output_handle_key_columns and table.handle_index is not None
        return self._packed(self._row(deleted_key_only=by_key))

    def length(self, rows: EncodedRows) -> Numbers:
        return single_lengths(rows)

    def whole(self, key: bytes, value: bytes) -> tuple[bytes | None, bytes]:
        message = framed(key, value, Kind.ROW, 0)
        return message.key, message.value or b""

    def handle_key_forms(
        self, places: Sequence[int], locations: Sequence[str]
    ) -> Iterator[tuple[bytes, bytes]]:
        large = BatchMessages(self.plan, self.batch.take(pa.array(places)), self.options)
        told = [self.plan.dialect.marks(at) for at in locations or repeat("", len(places))]
        keys = large.keys([pa.array(told, pa.binary())])
        return zip(keys.to_pylist(), large._handle_key_values().to_pylist(), strict=True)

    def _row(self, *, deleted_key_only: bool) -> list[Piece]:
        plan, batch = self.plan, self.batch
        if batch.op == Op.DELETE:
            return [b'{"d":{', *plan.members(batch.before, handle_key_only=deleted_key_only), b"}}"]
        new = [b'{"u":{', *plan.members(batch.after), b"}"]
        if batch.op == Op.INSERT or not self.options.output_old_value:
            return [*new, b"}"]
        if self.options.only_output_updated_columns:
            changed = plan.changed_members(batch.before, batch.after)
            return [*new, *self._changed(changed), b"}"]
        return [*new, b',"p":{', *plan.members(batch.before), b"}}"]

    def _handle_key_values(self) -> pa.Array:
        """What an update's ``p`` shows of the handle key never differs from ``u``, for the update would have
        been split."""
        plan, batch = self.plan, self.batch
        shown = plan.members(batch.shown, handle_key_only=True)
        if batch.op == Op.DELETE:
            return self._packed([b'{"d":{', *shown, b"}}"])
        row: list[Piece] = [b'{"u":{', *shown, b"}"]
        if batch.op == Op.UPDATE and self.options.output_old_value:
            if not self.options.only_output_updated_columns:
                row += [b',"p":{', *plan.members(batch.before, handle_key_only=True), b"}"]
            elif plan.dialect.empty_old:
                row.append(b',"p":{}')
        return self._packed([*row, b"}"])

    def _changed(self, members: pa.Array) -> list[Piece]:
        """``p`` of updates that show changed columns only."""
        if self.plan.dialect.empty_old:
            return [b',"p":{', members, b"}"]
        shown = joined((b',"p":{', members, b"}"), len(members))
        return [pc.if_else(pc.equal(members, _NONE), _NONE, shown)]

    def _packed(self, pieces: Sequence[Piece]) -> pa.Array:
        return all_compressed(joined(pieces, len(self.batch)), self.options.large_message_handle_compression)
