"""The encoder of Simple."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.mysql_type import LOBS, STRINGS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols import go_json
from ticdc_producer.protocols.arrow_text import as_int64, concat
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.claim_check import claim_name
from ticdc_producer.protocols.compression import compressed
from ticdc_producer.protocols.encoded_rows import EncodedRows, encoded_rows
from ticdc_producer.protocols.keyless_messages import KeylessMessages, RowTexts
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD, LargeMessages, NameClaim, too_large
from ticdc_producer.protocols.message_batch import MessageBatch, interleave, one_message_per_row
from ticdc_producer.protocols.simple import avro_messages, control_encoder
from ticdc_producer.protocols.simple.avro_row_form import avro_table_forms
from ticdc_producer.protocols.simple.bootstrap_schedule import BootstrapSchedule
from ticdc_producer.protocols.simple.fidelity import SimpleFidelity
from ticdc_producer.protocols.simple.options import SimpleOptions
from ticdc_producer.protocols.simple.row_form import table_forms

_BOOTSTRAP = "bootstrap"
"""``type`` of BOOTSTRAP messages, which carry a table schema and no event."""


class SimpleEncoder:
    """Encodes values to messages. Caches the compiled forms of every table version.

    An encoder writes one partition: it remembers the BOOTSTRAP messages that it sent there.
    """

    def __init__(self, options: SimpleOptions | None = None, *, name_claim: NameClaim = claim_name) -> None:
        self.options = options or SimpleOptions()
        self._others = avro_messages if self.options.encoding_format == "avro" else control_encoder
        self._large = LargeMessages(self.options, name_claim)
        self._forms: dict[TableInfo, tuple[int, Mapping[tuple[Op, bool], RowTexts]]] = {}
        self._bootstraps = BootstrapSchedule(self.options)

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. Row keys are empty."""
        if table not in self._forms:
            self._forms[table] = len(self._forms), self._compiled(table)
        number, compiled = self._forms[table]
        method = self.options.large_message_handle_compression
        forms = KeylessMessages(compiled, batch, method, go_json.STRINGS.literal)
        rows = encoded_rows(concat((b"",), len(batch)), forms.values(), batch.commit_ts)
        return self._large.apply_size_limit(rows, table, forms).with_column(
            "table", pa.repeat(number, len(batch))
        )

    def _compiled(self, table: TableInfo) -> Mapping[tuple[Op, bool], RowTexts]:
        if self.options.encoding_format == "avro":
            return avro_table_forms(table, self.options)
        return table_forms(table, self.options)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """One message per row, without a key, and BOOTSTRAP messages before the rows that need one.

        :raises EncodeError: for a row that TiCDC refuses, or a BOOTSTRAP message that is too large.
        """
        for part in filter(len, rows):
            batch = one_message_per_row(part, keyed=False)
            yield self._with_bootstraps(batch, part) if self.options.sends_bootstrap else batch

    def _with_bootstraps(self, batch: MessageBatch, rows: EncodedRows) -> MessageBatch:
        commits = as_int64(rows.column("commit_ts"))
        due = self._bootstraps.due(list(self._forms), as_int64(rows.column("table")), commits)
        if not due:
            return batch
        bootstraps = [self._bootstrap(table, int(commits[row])) for row, table in due.items()]
        return interleave(batch, bootstraps, np.array(list(due)))

    def _bootstrap(self, table: TableInfo, ts: int) -> Message:
        value = self._sent(self._others.bootstrap(table, ts, self.options), table.schema, table.name, ts)
        return Message(None, value, _BOOTSTRAP, ts, events=0)

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message:
        """The message of a DDL event.

        :param table: the table after the DDL.
        :param before: the table before the DDL.
        :raises EncodeError: if the message exceeds ``max-message-bytes``.
        """
        text = self._others.ddl(event, table, before, self.options)
        value = self._sent(text, event.schema, event.table, event.commit_ts)
        return Message(None, value, Kind.DDL.label, event.commit_ts)

    def resolved(self, ts: int) -> Message:
        """The WATERMARK message."""
        value = compressed(
            self._others.watermark(ts, self.options), self.options.large_message_handle_compression
        )
        return Message(None, value, Kind.RESOLVED.label, ts)

    def _sent(self, text: bytes, schema: str, table: str, ts: int) -> bytes:
        """Compress a value.

        :raises EncodeError: if the message exceeds ``max-message-bytes``.
        """
        value = compressed(text, self.options.large_message_handle_compression)
        length, limit = len(value) + RECORD_OVERHEAD, self.options.max_message_bytes
        if length > limit:
            raise too_large(length, limit, schema, table, ts)
        return value

    @property
    def fidelity(self) -> SimpleFidelity:
        return SimpleFidelity(
            sorted_columns=True,
            table_ids="all",
            damaged_text=STRINGS | LOBS if self.options.encoding_format == "json" else frozenset(),
            profile=self.options.profile,
        )
