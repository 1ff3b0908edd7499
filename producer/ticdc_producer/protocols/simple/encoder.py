"""The encoder of Simple, its fidelity, and the schedule of BOOTSTRAP messages.

Source: tiflow ``pkg/sink/codec/bootstraper.go``. TiCDC sends each BOOTSTRAP message to all partitions; here
each partition gets its own before its first row of the table. The clock is the commit-ts. With
``send-bootstrap-to-all-partition=false`` both send them to partition 0 alone, for the rows of all partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import LOBS, STRINGS
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import as_int64, concat
from ticdc_producer.protocols.base import LastDescription, RowBatch
from ticdc_producer.protocols.compression import claim_name, compressed
from ticdc_producer.protocols.encoded_rows import EncodedRows, encoded_rows
from ticdc_producer.protocols.large_message import (
    RECORD_OVERHEAD,
    KeylessMessages,
    LargeMessages,
    NameClaim,
    RowTexts,
    too_large,
)
from ticdc_producer.protocols.message_batch import MessageBatch, interleave, one_message_per_row
from ticdc_producer.protocols.row_options import SimpleOptions
from ticdc_producer.protocols.simple import avro_encoder, json_encoder
from ticdc_producer.protocols.simple.envelope import action_of, ddl_schema_table, ddl_type_name


class BootstrapSchedule:
    """The rows of one partition before which a BOOTSTRAP message is sent.

    :ivar last: the last BOOTSTRAP message of each table, by table id.
    """

    def __init__(self, options: SimpleOptions) -> None:
        self._interval = options.send_bootstrap_interval_in_sec * 1000
        self._count = options.send_bootstrap_in_msg_count
        self.last: dict[int, LastDescription] = {}

    def due(self, tables: Sequence[TableInfo], numbers: Numbers, commit_ts: Numbers) -> dict[int, TableInfo]:
        """Return the map from row index to the table whose BOOTSTRAP message precedes the row, in row order.

        With a limit of two rows, the third row of ``orders`` needs a second message:

        >>> options = SimpleOptions(send_bootstrap_interval_in_sec=120, send_bootstrap_in_msg_count=2)
        >>> names = ["orders", "items"]
        >>> tables = [TableInfo(schema="shop", name=n, table_id=len(n), columns=()) for n in names]
        >>> due = BootstrapSchedule(options).due(tables, np.array([0, 1, 0, 0]), np.zeros(4, np.int64))
        >>> {row: table.name for row, table in due.items()}
        {0: 'orders', 1: 'items', 3: 'orders'}

        :param tables: the tables by number.
        :param numbers: table number of each row.
        :param commit_ts: TSO of each row.
        """
        ids = np.array([table.table_id for table in tables])[numbers]
        due: list[int] = []
        for table_id in np.unique(ids).tolist():
            positions = np.flatnonzero(ids == table_id)
            due += positions[list(self._of_table(table_id, commit_ts[positions] >> LOGICAL_BITS))].tolist()
        return {position: tables[numbers[position]] for position in sorted(due)}

    def _of_table(self, table_id: int, ms: Numbers) -> Iterator[int]:
        """Yield the indexes of the rows of one table before which a BOOTSTRAP message is sent.

        :param ms: commit time of each row of the table, in Unix milliseconds.
        """
        position = 0
        if table_id not in self.last:
            yield position
            self.last[table_id] = LastDescription(int(ms[position]))
        last = self.last[table_id]
        while (next_position := self._next(last, position, ms)) < len(ms):
            yield next_position
            position, last = next_position, LastDescription(int(ms[next_position]))
        self.last[table_id] = LastDescription(last.ms, last.rows + len(ms) - position)

    def _next(self, last: LastDescription, position: int, ms: Numbers) -> int:
        """Return the index of the next due row from ``position`` on; at least ``len(ms)`` if none is due.

        Here the interval, of one second, ends before the limit of ten rows:

        >>> options = SimpleOptions(send_bootstrap_interval_in_sec=1, send_bootstrap_in_msg_count=10)
        >>> BootstrapSchedule(options)._next(LastDescription(ms=500), 0, np.array([500, 1400, 1500]))
        2
        """
        by_count = position + self._count - last.rows
        late = np.flatnonzero(ms[position:by_count] >= last.ms + self._interval)
        return position + int(late[0]) if len(late) else by_count


VISIBLE_FLAGS = int(ColumnFlag.BINARY | ColumnFlag.HANDLE_KEY | ColumnFlag.NULLABLE | ColumnFlag.UNSIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleFidelity(Fidelity):
    """The fidelity of Simple.

    :param profile: the TiCDC program that writes the messages.
    """

    profile: Profile = "classic"

    def visible_flag(self, flag: int, /) -> int:
        """Return the flags that a table schema shows.

        Its index ``primary`` may be a unique key that is the handle key, so the primary key is not visible.
        """
        return flag & VISIBLE_FLAGS

    def visible_ddl_type(self, action: int, /) -> int:
        """Return TiDB's action code, or 0 if several codes have the same ``type``."""
        return action_of(ddl_type_name(action, self.profile))

    def visible_ddl_names(
        self, event: DDLEvent, table: TableInfo | None, before: TableInfo | None
    ) -> tuple[str, str]:
        """Return the names of the table in ``tableSchema``; empty for a DDL on a database."""
        described = ddl_schema_table(event, table, before)
        return ("", "") if described is None else (described.schema, described.name)


_BOOTSTRAP = "bootstrap"
"""``type`` of BOOTSTRAP messages, which contain a table schema and no event."""


class SimpleEncoder:
    """An encoder of values to messages. It caches the compiled forms of every table version.

    An encoder writes one partition: it remembers the BOOTSTRAP messages that it sent there.
    """

    def __init__(self, options: SimpleOptions | None = None, *, name_claim: NameClaim = claim_name) -> None:
        self.options = options or SimpleOptions()
        self._encoding = avro_encoder if self.options.encoding_format == "avro" else json_encoder
        self._large = LargeMessages(self.options, name_claim)
        self._forms: dict[TableInfo, tuple[int, Mapping[tuple[Op, bool], RowTexts]]] = {}
        self._bootstraps = BootstrapSchedule(self.options)

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. Row keys are empty."""
        if table not in self._forms:
            self._forms[table] = len(self._forms), self._encoding.table_forms(table, self.options)
        number, compiled = self._forms[table]
        method = self.options.large_message_handle_compression
        forms = KeylessMessages(compiled, batch, method, self._encoding.location_text)
        rows = encoded_rows(concat((b"",), len(batch)), forms.values(), batch.commit_ts)
        return self._large.apply_size_limit(rows, table, forms).with_column(
            "table", pa.repeat(number, len(batch))
        )

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Yield one message per row, without a key, and BOOTSTRAP messages before the rows that need one.

        :raises EncodeError: for a row that TiCDC refuses, or a BOOTSTRAP message that is too large.
        """
        for part in filter(len, rows):
            batch = one_message_per_row(part, keyed=False)
            yield self._with_bootstraps(batch, part) if self._describes_own_rows else batch

    @property
    def described(self) -> dict[int, LastDescription]:
        """The last BOOTSTRAP message of each table, by table id."""
        return self._bootstraps.last

    @property
    def _describes_own_rows(self) -> bool:
        return self.options.sends_bootstrap and self.options.send_bootstrap_to_all_partition

    def _with_bootstraps(self, batch: MessageBatch, rows: EncodedRows) -> MessageBatch:
        tables = as_int64(rows.column("table"))
        due = self.descriptions(list(self._forms), tables, as_int64(rows.column("commit_ts")))
        return interleave(batch, [*due.values()], np.array([*due])) if due else batch

    def descriptions(
        self, tables: Sequence[TableInfo], numbers: Numbers, commit_ts: Numbers
    ) -> Mapping[int, Message]:
        """Return the BOOTSTRAP messages by the index of the row that each precedes, in row order.

        :param tables: the tables by number.
        :param numbers: table number of each row.
        :param commit_ts: TSO of each row.
        :raises EncodeError: for a message that is too large.
        """
        if not self.options.sends_bootstrap:
            return {}
        due = self._bootstraps.due(tables, numbers, commit_ts)
        return {row: self._bootstrap(table, int(commit_ts[row])) for row, table in due.items()}

    def _bootstrap(self, table: TableInfo, ts: int) -> Message:
        value = self._sent(self._encoding.bootstrap(table, ts, self.options), table.schema, table.name, ts)
        return Message(None, value, _BOOTSTRAP, ts, events=0)

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message:
        """Return the message of a DDL event.

        :param table: the table after the DDL.
        :param before: the table before the DDL.
        :raises EncodeError: if the message exceeds ``max-message-bytes``.
        """
        text = self._encoding.ddl(event, table, before, self.options)
        value = self._sent(text, event.schema, event.table, event.commit_ts)
        return Message(None, value, Kind.DDL.label, event.commit_ts)

    def resolved(self, ts: int) -> Message:
        """Return the WATERMARK message."""
        value = compressed(
            self._encoding.watermark(ts, self.options), self.options.large_message_handle_compression
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
            row_checksums=self.options.has_checksums,
            profile=self.options.profile,
        )
