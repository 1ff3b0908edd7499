"""Encoder of Open Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from producer.codec.base import EncodedRow, RowBatch
from producer.codec.open.dialect import DIALECTS
from producer.codec.open.framing import batched, framed, single_length
from producer.codec.open.options import OpenOptions
from producer.codec.open.plan import Column, TablePlan, table_plan
from producer.errors import EncodeError
from producer.model.event import DDLEvent, Kind, Message, Op, Value
from producer.model.losses import Losses, OldValues
from producer.model.mysql_type import STRINGS
from producer.model.table import TableInfo


class OpenEncoder:
    """Values in, messages out; keeps one compiled plan per table version it has met."""

    def __init__(self, options: OpenOptions | None = None) -> None:
        self.options = options or OpenOptions()
        self._dialect = DIALECTS[self.options.profile]
        self._plans: dict[TableInfo, TablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> list[EncodedRow]:
        """Encode rows of one table version; see ``codec.base.Encoder``."""
        plan = self._plan(table)
        keys = map(plan.row_key, batch.commit_ts, self._row_ids(batch), batch.table_id)
        values = _values(
            batch.op, iter(plan.image_texts(batch.after)), iter(self._before_texts(table, plan, batch))
        )
        rows = [EncodedRow(*row) for row in zip(keys, values, batch.commit_ts, strict=True)]
        self._fit(table, plan, batch, rows)
        self._refuse_without_handle_key(table, batch, rows)
        return rows

    def messages(self, rows: Iterable[EncodedRow]) -> Iterator[Message]:
        """Frame consecutive rows of one partition."""
        return batched(rows, self.options)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # only Debezium describes tables
        before: TableInfo | None = None,  # noqa: ARG002  # likewise
    ) -> Message:
        names = self._dialect.names(event.schema, event.table)
        key = b'{"ts":%d%b,"t":2}' % (event.commit_ts, names)
        value = b'{"q":%b,"t":%d}' % (self._dialect.string(event.query), event.ddl_type)
        return framed(key, value, Kind.DDL, event.commit_ts)

    def resolved(self, ts: int) -> Message:
        """The value is a length of 0, not an empty value."""
        return framed(b'{"ts":%d,"t":3}' % ts, b"", Kind.RESOLVED, ts)

    @property
    def losses(self) -> Losses:
        options = self.options
        old: OldValues = "updated" if options.only_output_updated_columns else "all"
        text_survives = options.legacy_varchar_base64 or self._dialect.raw_text  # TEXT goes as Base64
        return Losses(
            sorted_columns=self._dialect.sorted_columns,
            old_values=old if options.output_old_value else "none",
            deletes="handle-key" if options.delete_only_output_handle_key_columns else "all",
            names_operation=options.output_old_value and self._dialect.empty_old,
            flags=not options.legacy_no_flag,
            damaged_text=frozenset() if text_survives else STRINGS,
        )

    def _plan(self, table: TableInfo) -> TablePlan:
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        return self._plans[table]

    def _row_ids(self, batch: RowBatch) -> Sequence[int]:
        shown = self.options.output_row_id and self._dialect.row_id
        return batch.row_id if shown else [0] * len(batch.op)

    def _fit(self, table: TableInfo, plan: TablePlan, batch: RowBatch, rows: list[EncodedRow]) -> None:
        """Rows over the limit become their handle key alone, or are refused."""
        limit = self.options.max_message_bytes
        large = [place for place, row in enumerate(rows) if single_length(row.key, row.value) > limit]
        if large and self.options.large_message_handle_option == "handle-key-only":
            values, ids = list(self._handle_key_values(plan, batch)), self._row_ids(batch)
            for place in large:
                ts, id_, table_id = batch.commit_ts[place], ids[place], batch.table_id[place]
                rows[place].key = plan.row_key(ts, id_, table_id, b',"ohk":true')
                rows[place].value = values[place]
                if table.handle_index is None:
                    rows[place].refusal = _no_handle_key(table, rows[place].commit_ts)
        for row in (rows[place] for place in large):
            length = single_length(row.key, row.value)
            if length > limit:
                row.refusal = _too_large(table, length, limit, row.commit_ts)

    def _handle_key_values(self, plan: TablePlan, batch: RowBatch) -> Iterator[bytes]:
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
        return text if text or self._dialect.empty_old else None

    def _refuse_without_handle_key(self, table: TableInfo, batch: RowBatch, rows: list[EncodedRow]) -> None:
        if self.options.delete_only_output_handle_key_columns and table.handle_index is None:
            for row, op in zip(rows, batch.op, strict=True):
                if op == Op.DELETE:
                    row.refusal = _no_handle_key(table, row.commit_ts)

    def _before_texts(self, table: TableInfo, plan: TablePlan, batch: RowBatch) -> list[bytes | None]:
        """What is shown of each old image; None where an update has no ``p``."""
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


def _too_large(table: TableInfo, length: int, limit: int, commit_ts: int) -> EncodeError:
    return EncodeError(
        f"message is too large. table:{table.name}, length:{length}, maxMessageBytes:{limit}",
        code="CDC:ErrMessageTooLarge",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="raise max-message-bytes or make the row smaller",
    )


def _no_handle_key(table: TableInfo, commit_ts: int) -> EncodeError:
    return EncodeError(
        "the row has no handle key columns to show",
        code="CDC:ErrOpenProtocolCodecInvalidData",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="turn handle-key-only options off for tables without a handle key",
    )
