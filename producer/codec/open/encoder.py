"""Encoder of Open Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from producer.codec.base import EncodedRow, RowBatch
from producer.codec.claim_check import claim_name
from producer.codec.compression import compressed
from producer.codec.large_message import LargeMessages, NameClaim
from producer.codec.open.batch_messages import BatchMessages
from producer.codec.open.dialect import DIALECTS
from producer.codec.open.framing import batched, framed
from producer.codec.open.options import OpenOptions
from producer.codec.open.plan import TablePlan, table_plan
from producer.errors import EncodeError
from producer.model.event import DDLEvent, Kind, Message, Op
from producer.model.losses import Losses, OldValues
from producer.model.mysql_type import STRINGS
from producer.model.table import TableInfo


class OpenEncoder:
    """Values in, messages out; keeps one compiled plan per table version it has met."""

    def __init__(self, options: OpenOptions | None = None, *, name_claim: NameClaim = claim_name) -> None:
        self.options = options or OpenOptions()
        self._large = LargeMessages(self.options, name_claim)
        self._dialect = DIALECTS[self.options.profile]
        self._plans: dict[TableInfo, TablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> list[EncodedRow]:
        """Encode rows of one table version; see ``codec.base.Encoder``."""
        messages = BatchMessages(self._plan(table), batch, self.options)
        parts = zip(messages.keys(), messages.values(table), batch.commit_ts, strict=True)
        rows = [EncodedRow(*row) for row in parts]
        self._large.handle(rows, table, messages)
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
        value = compressed(value, self.options.large_message_handle_compression)
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

    def _refuse_without_handle_key(self, table: TableInfo, batch: RowBatch, rows: list[EncodedRow]) -> None:
        if table.handle_index is None:
            by_key = self.options.delete_only_output_handle_key_columns
            for row, op in zip(rows, batch.op, strict=True):
                if row.handle_key_only or row.claim or (by_key and op == Op.DELETE):
                    row.refusal = _no_handle_key(table, row.commit_ts)


def _no_handle_key(table: TableInfo, commit_ts: int) -> EncodeError:
    return EncodeError(
        "the row has no handle key columns to show",
        code="CDC:ErrOpenProtocolCodecInvalidData",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="turn handle-key-only options off for tables without a handle key",
    )
