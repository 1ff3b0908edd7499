"""The encoder of Maxwell: rows, DDLs, and the fidelity of its messages.

TiCDC's encoder panics on a DDL of a database, which has no table. Source: tiflow ``maxwell_message.go``
(``ddlEventToMaxwellMsg``).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import DDLEvent, Kind, Message, Value
from ticdc_producer.model.fidelity import AsHashed, Fidelity, StoredValues, ValueProjection
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import NULL, lengths, map_values, merge_runs
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.batch_options import MAX_ROWS, WorkerOptions
from ticdc_producer.protocols.encoded_rows import EncodedRows, MessageLimits, batched, encoded_rows
from ticdc_producer.protocols.go_json import STRINGS as JSON_STRINGS
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD
from ticdc_producer.protocols.maxwell.decoder import OF_DATABASES, VERSION, action_code, type_text
from ticdc_producer.protocols.maxwell.row_form import ALWAYS_OLD, MaxwellTablePlan, holds_bytes, table_plan
from ticdc_producer.protocols.message_batch import MessageBatch

T = MySQLType

_COLUMN_TYPES = {
    **dict.fromkeys((T.TINY, T.SHORT, T.LONG, T.INT24), b"int"),
    **dict.fromkeys((T.FLOAT, T.DOUBLE), b"float"),
    **dict.fromkeys((T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB), b"string"),
    **dict.fromkeys((T.STRING, T.VARCHAR, T.VECTOR_FLOAT32), b"string"),
    **dict.fromkeys((T.TIMESTAMP, T.DATETIME), b"datetime"),
    T.LONGLONG: b"bigint", T.NEW_DECIMAL: b"decimal", T.DATE: b"date", T.DURATION: b"time", T.YEAR: b"year",
    T.ENUM: b"enum", T.SET: b"set", T.BIT: b"bit", T.JSON: b"json",
}  # fmt: skip


def ddl_message(event: DDLEvent, table: TableInfo | None, before: TableInfo | None) -> Message | None:
    """Return the message of a DDL; None for one of a database.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    if event.ddl_type in OF_DATABASES:
        return None
    schema, name = JSON_STRINGS.literal(event.schema), JSON_STRINGS.literal(event.table)
    after = table or before
    key = b'{"ts":%d,"scm":%b,"tbl":%b,"t":2}' % (event.commit_ts, schema, name)
    value = b'{"type":%b,"database":%b,"table":%b,"old":%b,"def":%b,"ts":%d,"sql":%b}' % (
        JSON_STRINGS.literal(type_text(event.ddl_type)),
        schema,
        name,
        _table(*_names(before), [*_columns(before), *_without_type(after)]),
        _table(schema, name, [*_columns(after)]),
        event.commit_ts,
        JSON_STRINGS.literal(event.query),
    )
    return Message(key, value, Kind.DDL.label, event.commit_ts)


def _names(table: TableInfo | None) -> tuple[bytes, bytes]:
    if table is None:
        return b'""', b'""'
    return JSON_STRINGS.literal(table.schema), JSON_STRINGS.literal(table.name)


def _table(schema: bytes, name: bytes, columns: list[bytes]) -> bytes:
    listed = b"[%b]" % b",".join(columns) if columns else NULL
    return b'{"database":%b,"table":%b,"columns":%b,"primary-key":null}' % (schema, name, listed)


def _columns(table: TableInfo | None) -> Iterator[bytes]:
    for column in () if table is None else table.columns:
        yield _column(column, _COLUMN_TYPES.get(column.type, b""))


def _without_type(table: TableInfo | None) -> Iterator[bytes]:
    """Yield the columns whose type has no name; TiCDC adds them to the old ones, with an error as type."""
    for column in () if table is None else table.columns:
        if column.type not in _COLUMN_TYPES:
            yield _column(
                column, b"[CDC:ErrMaxwellInvalidData]unsupported column type - %d" % int(column.type)
            )


def _column(column: ColumnInfo, kind: bytes) -> bytes:
    return b'{"type":"%b","name":%b}' % (kind, JSON_STRINGS.literal(column.name))


_HEAD = len(VERSION) + RECORD_OVERHEAD


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxwellFidelity(Fidelity):
    """The fidelity of Maxwell: rows have neither types nor flags, and byte strings arrive as Base64.

    The message of a DDL has the whole commit-ts. It is read to the second, like that of rows, so that both
    can be compared.
    """

    def visible_type(self, _column: ColumnInfo, _flag: int, /) -> str:
        return ""

    def visible_flag(self, _flag: int, /) -> int:
        return 0

    def visible_ddl_type(self, action: int, /) -> int:
        """Return TiDB's action code; 0 if Maxwell's name has several."""
        return action_code(type_text(action)) or 0

    def ddl_skip_reason(self, action: int) -> str:
        return "TiCDC's Maxwell encoder panics on a DDL of a database" if action in OF_DATABASES else ""

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        return _base64 if holds_bytes(column) else None

    def stored_values(self, column: ColumnInfo) -> StoredValues | None:
        return partial(map_values, function=_of_base64) if holds_bytes(column) else None

    @property
    def hashed_types(self) -> Mapping[str, AsHashed]:
        """None: a text may be Base64."""
        return {}


def _base64(value: Value) -> Value:
    return None if value is None else b64encode(value)


def _of_base64(text: bytes) -> bytes:
    """Return the bytes of a text; one that is not Base64 stays as it is."""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return text


class MaxwellEncoder:
    """An encoder of events as messages; it caches one compiled plan per table version."""

    def __init__(self, options: WorkerOptions | None = None) -> None:
        self.options = options or WorkerOptions()
        self._plans: dict[TableInfo, MaxwellTablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. Only messages have a key."""
        plan = self._plans.get(table)
        if plan is None:
            key_only = self.options.delete_only_output_handle_key_columns
            self._plans[table] = plan = table_plan(table, key_only=key_only)
        no_keys = pa.nulls(len(batch), pa.binary())
        return encoded_rows(no_keys, plan.texts(batch), batch.commit_ts, plan.panics(batch))

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Yield messages of consecutive rows: their JSON, one after the other.

        :raises EncodeError: for the first row that TiCDC rejects.
        """
        options = self.options
        limits = MessageLimits(rows=MAX_ROWS, size=options.max_message_bytes - _HEAD)
        for batch in batched(rows, _sizes, limits, by_batch_key=options.batch_by != "partition"):
            starts = batch.starts
            yield MessageBatch(
                key=pa.repeat(pa.scalar(VERSION, pa.binary()), len(starts)),
                value=merge_runs(batch.rows.column("value"), starts),
                commit_ts=batch.first("commit_ts"),
                events=pa.array(batch.counts),
            )

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        """Return the message of a DDL event; None for a DDL of a database."""
        return ddl_message(event, table, before)

    def resolved(self, ts: int) -> Message | None:  # noqa: ARG002  # the protocol has no such message
        """Return None: Maxwell has no message for a resolved event."""
        return None

    @property
    def fidelity(self) -> MaxwellFidelity:
        only_keys = self.options.delete_only_output_handle_key_columns
        return MaxwellFidelity(
            sorted_columns=True,
            old_values="updated",
            always_old=ALWAYS_OLD,
            deletes="handle-key" if only_keys else "all",
            sql_types=False,
            flags=False,
            table_ids="none",
            commit_ts="seconds",
            resolved=False,
            damaged_text=STRINGS | LOBS,
        )


def _sizes(rows: EncodedRows) -> Numbers:
    return lengths(rows.column("value"))
