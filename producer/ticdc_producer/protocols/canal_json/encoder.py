"""The encoder of Canal-JSON, and the fidelity of its messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import DDLEvent, Kind, Message
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import LOBS, STRINGS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.arrow_text import concat
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.canal_json import row_form
from ticdc_producer.protocols.canal_json.column_types import bare_type, full_type
from ticdc_producer.protocols.canal_json.envelope import WATERMARK, action_code, ddl_keyword
from ticdc_producer.protocols.canal_json.row_form import Forms, table_forms
from ticdc_producer.protocols.compression import claim_name, compressed
from ticdc_producer.protocols.encoded_rows import EncodedRows, encoded_rows
from ticdc_producer.protocols.large_message import KeylessMessages, LargeMessages, NameClaim
from ticdc_producer.protocols.message_batch import MessageBatch, one_message_per_row
from ticdc_producer.protocols.row_options import CanalJSONOptions

_PRIMARY = ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class CanalJSONFidelity(Fidelity):
    """The fidelity of Canal-JSON.

    :param column_types: whether types are sent without (``bare``) or with (``full``) their parameters.
    """

    column_types: Literal["bare", "full"]

    def visible_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # the type text does not depend on the flag
        return bare_type(column) if self.column_types == "bare" else full_type(column)

    def visible_flag(self, flag: int) -> int:
        """Return the flags of primary and handle key for columns of ``pkNames``. Others are not sent."""
        return int(_PRIMARY) if flag & ColumnFlag.PRIMARY_KEY else 0

    def visible_ddl_type(self, action: int) -> int:
        """Return TiDB's action code; 0 if Canal's keyword has several."""
        return action_code(ddl_keyword(action))


class CanalJSONEncoder:
    """Encodes events as messages; caches the compiled row forms per table version."""

    def __init__(
        self, options: CanalJSONOptions | None = None, *, name_claim: NameClaim = claim_name
    ) -> None:
        self.options = options or CanalJSONOptions()
        self._large = LargeMessages(self.options, name_claim)
        self._forms: dict[TableInfo, Forms] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. Keys stay empty."""
        method = self.options.large_message_handle_compression
        forms = KeylessMessages(self._forms_of(table), batch, method, row_form.string)
        rows = encoded_rows(concat((b"",), len(batch)), forms.values(), batch.commit_ts)
        limited = self._large.apply_size_limit(rows, table, forms)
        return _terminated(limited, self.options.end.encode()) if self.options.end else limited

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Return one message per row, without a key.

        :raises EncodeError: for the first row that TiCDC rejects.
        """
        return (one_message_per_row(part, keyed=False) for part in rows)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # only some protocols describe tables
        before: TableInfo | None = None,  # noqa: ARG002  # and none its former state
    ) -> Message:
        ts = event.commit_ts
        extension = b"commitTs" if self.options.enable_tidb_extension else b""
        names = (row_form.string(event.schema), row_form.string(event.table))
        return self._without_rows(
            Kind.DDL, ts, names, ddl_keyword(event.ddl_type), row_form.string(event.query), extension
        )

    def resolved(self, ts: int) -> Message | None:
        """Return a watermark; None without the TiDB extension."""
        if not self.options.enable_tidb_extension:
            return None
        return self._without_rows(Kind.RESOLVED, ts, (b'""', b'""'), WATERMARK, b'""', b"watermarkTs")

    @property
    def fidelity(self) -> CanalJSONFidelity:
        options = self.options
        return CanalJSONFidelity(
            old_values="updated" if options.updated_columns_only else "all",
            deletes="handle-key" if options.delete_only_output_handle_key_columns else "all",
            table_ids="all" if options.has_row_key else "none",
            damaged_text=STRINGS | LOBS,
            commit_ts="exact" if options.enable_tidb_extension else "milliseconds",
            exact_commit_ts_with="enable-tidb-extension",
            column_types="full" if options.content_compatible else "bare",
            resolved=options.enable_tidb_extension,
        )

    def _forms_of(self, table: TableInfo) -> Forms:
        known = self._forms.get(table)
        if known is None:
            known = self._forms[table] = table_forms(table, self.options)
        return known

    def _without_rows(
        self, kind: Kind, ts: int, names: tuple[bytes, bytes], event_type: str, sql: bytes, extension: bytes
    ) -> Message:
        """Return a DDL or watermark. Unlike in rows, ``data`` precedes ``old``, as in the Go struct."""
        built = self.options.build_ts_ms
        value = (
            b'{"id":0,"database":%b,"table":%b,"pkNames":null,"isDdl":%b,"type":"%b","es":%d,"ts":%d,'
            b'"sql":%b,"sqlType":null,"mysqlType":null,"data":null,"old":null%b}'
        ) % (
            *names,
            b"true" if kind is Kind.DDL else b"false",
            event_type.encode(),
            physical(ts),
            physical(ts) if built is None else built,
            sql,
            b',"_tidb":{"%b":%d}' % (extension, ts) if extension else b"",
        )
        value = compressed(value, self.options.large_message_handle_compression)
        return Message(None, value, kind.label, ts)


def _terminated(rows: EncodedRows, end: bytes) -> EncodedRows:
    """Return rows as in a file, or in messages of old versions, each with the terminator."""
    values = concat((rows.column("value"), end), len(rows))
    return encoded_rows(rows.column("key"), values, rows.column("commit_ts"), rows.statuses)
