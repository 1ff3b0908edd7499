"""Encoder of Open Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.fidelity import Fidelity, OldValues
from ticdc_producer.model.mysql_type import STRINGS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.compression import compressed
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus, encoded_rows
from ticdc_producer.protocols.large_message import LargeMessages, NameClaim
from ticdc_producer.protocols.large_message_handle import claim_name
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.open_protocol.messages import OpenRowMessages, framed, messages
from ticdc_producer.protocols.open_protocol.options import OpenOptions
from ticdc_producer.protocols.open_protocol.plan import PROFILE_RULES, OpenTablePlan, table_plan


class OpenEncoder:
    """Encodes events as messages; caches one compiled plan per table version."""

    def __init__(self, options: OpenOptions | None = None, *, name_claim: NameClaim = claim_name) -> None:
        self.options = options or OpenOptions()
        self._large = LargeMessages(self.options, name_claim)
        self._rules = PROFILE_RULES[self.options.profile]
        self._plans: dict[TableInfo, OpenTablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``."""
        forms = OpenRowMessages(self._plan(table), batch, self.options)
        rows = encoded_rows(forms.keys(), forms.values(table), batch.commit_ts)
        rows = self._large.apply_size_limit(rows, table, forms)
        return rows if table.handle_index is not None else self._without_handle_key(table, batch.op, rows)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Frame consecutive rows of one partition."""
        return messages(rows, self.options)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # only some protocols describe tables
        before: TableInfo | None = None,  # noqa: ARG002  # likewise
    ) -> Message:
        names = self._rules.names(event.schema, event.table)
        key = b'{"ts":%d%b,"t":2}' % (event.commit_ts, names)
        value = b'{"q":%b,"t":%d}' % (self._rules.strings.literal(event.query), event.ddl_type)
        value = compressed(value, self.options.large_message_handle_compression)
        return framed(key, value, Kind.DDL, event.commit_ts)

    def resolved(self, ts: int) -> Message:
        """A resolved event; its value is a length of 0, not an empty value."""
        return framed(b'{"ts":%d,"t":3}' % ts, b"", Kind.RESOLVED, ts)

    @property
    def fidelity(self) -> Fidelity:
        options = self.options
        old: OldValues = "updated" if options.only_output_updated_columns else "all"
        keeps_invalid_utf8 = options.legacy_varchar_base64 or self._rules.raw_text  # TEXT is sent as Base64
        return Fidelity(
            sorted_columns=self._rules.sorted_columns,
            old_values=old if options.output_old_value else "none",
            deletes="handle-key" if options.delete_only_output_handle_key_columns else "all",
            names_operation=options.output_old_value and self._rules.empty_old,
            flags=not options.legacy_no_flag,
            caches_flags=options.profile == "new",
            damaged_text=frozenset() if keeps_invalid_utf8 else STRINGS,
        )

    def _plan(self, table: TableInfo) -> OpenTablePlan:
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        return self._plans[table]

    def _without_handle_key(self, table: TableInfo, op: Op, rows: EncodedRows) -> EncodedRows:
        """Reject the rows that would carry only their handle key, in a table without one."""
        statuses = dict(rows.statuses)
        by_key = op == Op.DELETE and self.options.delete_only_output_handle_key_columns
        candidates = range(len(rows)) if by_key else list(statuses)
        commits = rows.column("commit_ts")
        for row in candidates:
            status = statuses.get(row, RowStatus())
            if by_key or status.handle_key_only or status.claim:
                statuses[row] = replace(status, refusal=_no_handle_key(table, commits[row].as_py()))
        return EncodedRows(rows.columns, statuses)


def _no_handle_key(table: TableInfo, commit_ts: int) -> EncodeError:
    return EncodeError(
        "the row has no handle key columns to show",
        code="CDC:ErrOpenProtocolCodecInvalidData",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="turn handle-key-only options off for tables without a handle key",
    )
