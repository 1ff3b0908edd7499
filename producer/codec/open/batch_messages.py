"""A batch of rows as keys and values: in full, and those over ``max-message-bytes`` as their handle key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from producer.codec.base import EncodedRow, RowBatch
from producer.codec.compression import compressed
from producer.codec.open.framing import framed, single_length
from producer.codec.open.options import OpenOptions
from producer.codec.open.plan import Column, TablePlan
from producer.model.event import Kind, Op, Value
from producer.model.table import TableInfo


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """The rows of one batch."""

    plan: TablePlan
    batch: RowBatch
    options: OpenOptions

    def keys(self) -> Iterator[bytes]:
        """The key of every row."""
        return map(self.plan.row_key, self.batch.commit_ts, self._row_ids(), self.batch.table_id)

    def _row_ids(self) -> Sequence[int]:
        shown = self.options.output_row_id and self.plan.dialect.row_id
        return self.batch.row_id if shown else [0] * len(self.batch.op)

    def values(self, table: TableInfo) -> Iterator[bytes]:
        """The value of every row."""
        after = iter(self.plan.image_texts(self.batch.after))
        texts = _values(self.batch.op, after, iter(self._before_texts(table)))
        return (compressed(text, self.options.large_message_handle_compression) for text in texts)

    def length(self, row: EncodedRow) -> int:
        return single_length(row.key, row.value)

    def whole(self, row: EncodedRow) -> tuple[bytes | None, bytes]:
        message = framed(row.key, row.value, Kind.ROW, row.commit_ts)
        return message.key, message.value or b""

    def handle_key_forms(
        self, places: Sequence[int], locations: Sequence[str]
    ) -> Iterator[tuple[bytes, bytes]]:
        batch, row_ids = self.batch, self._row_ids()
        values = list(self._handle_key_values())
        for place, location in zip(places, locations or repeat("", len(places)), strict=True):
            marks = self.plan.dialect.marks(location)
            key = self.plan.row_key(batch.commit_ts[place], row_ids[place], batch.table_id[place], marks)
            yield key, compressed(values[place], self.options.large_message_handle_compression)

    def _handle_key_values(self) -> Iterator[bytes]:
        batch, plan = self.batch, self.plan
        after = iter(plan.image_texts(batch.after, handle_key_only=True))
        kinds = [op for op in batch.op if op != Op.INSERT]
        texts = zip(kinds, plan.image_texts(batch.before, handle_key_only=True), strict=True)
        before = iter([text if op == Op.DELETE else self._old_key(text) for op, text in texts])
        return _values(batch.op, after, before)

    def _old_key(self, text: bytes) -> bytes | None:
        """What an update's ``p`` shows of the handle key; it never differs from ``u``, for the update would
        have been split."""
        if not self.options.output_old_value:
            return None
        return self._changed(b"") if self.options.only_output_updated_columns else text

    def _changed(self, text: bytes) -> bytes | None:
        """``p`` of an update that shows changed columns only."""
        return text if text or self.plan.dialect.empty_old else None

    def _before_texts(self, table: TableInfo) -> list[bytes | None]:
        """What is shown of each old image; None where an update has no ``p``."""
        batch, plan = self.batch, self.plan
        texts: list[bytes | None] = [*plan.image_texts(batch.before)]
        kinds = [op for op in batch.op if op != Op.INSERT]
        if not self.options.output_old_value:
            texts = [None if op == Op.UPDATE else text for op, text in zip(kinds, texts, strict=True)]
        elif self.options.only_output_updated_columns:
            changed = map(self._changed, _changed_texts(plan, batch, kinds))
            texts = [
                next(changed) if op == Op.UPDATE else text for op, text in zip(kinds, texts, strict=True)
            ]
        if self.options.delete_only_output_handle_key_columns and table.handle_index is not None:
            keys = plan.image_texts(batch.before, handle_key_only=True)
            texts = [
                key if op == Op.DELETE else text for op, text, key in zip(kinds, texts, keys, strict=True)
            ]
        return texts


def _changed_texts(plan: TablePlan, batch: RowBatch, kinds: Sequence[int]) -> list[bytes]:
    """The old images of the updates, unchanged columns left out.

    :param kinds: operation of each row that has an old image.
    """
    new_kinds = [op for op in batch.op if op != Op.DELETE]
    before = [_of_updates(column, kinds) for column in batch.before]
    after = [_of_updates(column, new_kinds) for column in batch.after]
    shown: list[list[bytes]] = [[] for _ in range(kinds.count(Op.UPDATE))]
    for column in plan.columns:
        old, new = before[column.place], after[column.place]
        for row, member, a, b in zip(shown, column.members(before), old, new, strict=True):
            if a != b:
                row.append(member)
    return [b",".join(members) for members in shown]


def _values(ops: Sequence[int], after: Iterator[bytes], before: Iterator[bytes | None]) -> Iterator[bytes]:
    for op in ops:
        if op == Op.INSERT:
            yield b'{"u":{%b}}' % next(after)
        elif op == Op.DELETE:
            yield b'{"d":{%b}}' % (next(before) or b"")
        else:
            new, old = next(after), next(before)
            yield b'{"u":{%b}}' % new if old is None else b'{"u":{%b},"p":{%b}}' % (new, old)


def _of_updates(column: Column, kinds: Sequence[int]) -> list[Value]:
    return [value for value, op in zip(column, kinds, strict=True) if op == Op.UPDATE]
