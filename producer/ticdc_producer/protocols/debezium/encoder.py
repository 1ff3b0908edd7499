"""The encoder of Debezium."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import DDLEvent, Kind, Message
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.compression import compressed
from ticdc_producer.protocols.debezium import envelope
from ticdc_producer.protocols.debezium.batch_messages import batch_messages
from ticdc_producer.protocols.debezium.ddl_message import ddl_message
from ticdc_producer.protocols.debezium.fidelity import DebeziumFidelity, fidelity_of
from ticdc_producer.protocols.debezium.names import fit_name
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.debezium.plan import TablePlan, table_plan
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus, encoded_rows
from ticdc_producer.protocols.message_batch import MessageBatch, one_message_per_row


class DebeziumEncoder:
    """Encodes values to messages. Caches one compiled plan per table version."""

    def __init__(self, options: DebeziumOptions | None = None) -> None:
        self.options = options or DebeziumOptions()
        self._plans: dict[TableInfo, TablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``."""
        forms = batch_messages(self._plan(table), batch, self.options)
        notes = {
            index: RowStatus(refusal=_refusal(table, batch.commit_ts[index].as_py(), date))
            for index, date in forms.rejected().items()
        }
        return encoded_rows(forms.keys(), forms.values(), batch.commit_ts, notes)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """One message per row."""
        return (one_message_per_row(part, keyed=True) for part in rows)

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        """The message of a DDL event; None if DDL events are off, and for types that TiCDC silently skips.

        :param table: the table after the DDL; without it the message has no columns.
        :param before: the table before the DDL; RENAME TABLE takes the old name from it.
        """
        if not self.options.output_ddl:
            return None
        message = ddl_message(event, table, before, self.options)
        return None if message is None else self._packed(message)

    def resolved(self, ts: int) -> Message | None:
        """The watermark message; None without the TiDB extension."""
        options = self.options
        if not options.enable_tidb_extension:
            return None
        source = envelope.source(options.cluster_id, "", "").text(ts)
        key = b'{"payload":{}'
        value = b'{"payload":{"source":%b,"ts_ms":%d,"transaction":null,"op":"m"}' % (
            source,
            envelope.build_time(ts, options),
        )
        if not options.debezium_disable_schema:
            prefix = f"{fit_name(options.cluster_id)}.watermark"
            key += b',"schema":%b' % envelope.key_schema(prefix, b"")
            value += b',"schema":%b' % envelope.watermark_schema(prefix, options)
        return self._packed(Message(key + b"}", value + b"}", Kind.RESOLVED.label, ts))

    def _packed(self, message: Message) -> Message:
        """Compress key and value separately, if the options enable compression."""
        key, value = self._compressed(message.key or b""), self._compressed(message.value or b"")
        return Message(key, value, message.type, message.commit_ts)

    def _compressed(self, data: bytes) -> bytes:
        return compressed(data, self.options.large_message_handle_compression)

    @property
    def fidelity(self) -> DebeziumFidelity:
        return fidelity_of(self.options)

    def _plan(self, table: TableInfo) -> TablePlan:
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        return self._plans[table]


def _refusal(table: TableInfo, commit_ts: int, rejected: bytes) -> EncodeError:
    return EncodeError(
        f"debezium encode failed: [types:1292]Incorrect datetime value: '{rejected.decode()}'",
        code="CDC:ErrDebeziumEncodeFailed",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="DATETIME values with a zero month or day cannot be sent in this protocol",
    )
