"""The encoder of Canal, the compiled entries of rows, and the fidelity of its messages.

A packet has version 1 and the type MESSAGES. Its body is a list of entries.

The length of each message of Protocol Buffers precedes it. Lengths are computed from the inside out as
columns of numbers; all bytes of the rows are then joined once. Source: tiflow ``canal_entry.go``
(``buildHeader``, ``buildColumn``, ``fromRowEvent``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.mysql_type import LOBS, STRINGS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS, physical
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    as_int64,
    concat,
    contents,
    lengths,
    map_values,
    merge_runs,
    uvarints,
)
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.batch_options import MAX_ROWS, WorkerOptions
from ticdc_producer.protocols.canal import wire
from ticdc_producer.protocols.canal.decoder import EVENT_TYPE_OF
from ticdc_producer.protocols.canal_json.encoder import CanalJSONFidelity
from ticdc_producer.protocols.canal_json.envelope import ddl_keyword
from ticdc_producer.protocols.canal_json.plan import JDBCType, bare_type, sql_type
from ticdc_producer.protocols.encoded_rows import EncodedRows, MessageLimits, batched, encoded_rows
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD
from ticdc_producer.protocols.message_batch import MessageBatch

EVENT_TYPES = {Op.INSERT: 1, Op.UPDATE: 2, Op.DELETE: 3}
HEADER_START = wire.number(1, 1) + wire.content(5, b"UTF-8")
"""Version and encoding."""
MYSQL = wire.number(7, 2)
ENTRY_OF_ROWS = wire.number(2, 2)
_ROWS_COUNT = wire.content(12, wire.content(1, b"rowsCount") + wire.content(2, b"1"))
_IS_NULL, _HAS_VALUE = wire.number(6, 1), wire.number(6, 0)
_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class Sized:
    """Bytes of many rows as fragments, and their number in each row."""

    fragments: tuple[Fragment, ...]
    sizes: Numbers

    def within(self, field: int) -> Sized:
        """Return the bytes as content of a field."""
        prefix, head = wire.tag(field, wire.BYTES), uvarints(self.sizes.astype(np.uint64))
        sizes = self.sizes + len(prefix) + lengths(head)
        return Sized((prefix, head, *self.fragments), sizes)


def constant(content: bytes, rows: int) -> Sized:
    """Return the same bytes for each row."""
    return Sized((content,), np.full(rows, len(content), np.int64))


def joined(parts: Sequence[Sized], rows: int) -> Sized:
    """Return parts one after the other."""
    fragments = tuple(fragment for part in parts for fragment in part.fragments)
    return Sized(fragments, sum((part.sizes for part in parts), np.zeros(rows, np.int64)))


def _of_array(texts: pa.Array) -> Sized:
    return Sized((texts,), lengths(texts))


@dataclass(frozen=True, slots=True)
class CanalColumnPlan:
    """One column.

    :param image_index: index into the row image.
    :param sql_type: the fields of its codes in ``java.sql.Types``.
    :param name: the fields of its name, and whether it belongs to the primary key.
    :param mysql_type: the field of its type.
    :param binary: whether it is a byte string, each byte of which is a character.
    """

    image_index: int
    sql_type: JDBCType
    name: bytes
    mysql_type: bytes
    binary: bool
    handle_key: bool

    def fields(self, image: Sequence[pa.Array], *, updated: bool) -> Sized:
        """Return the message of the column in each row."""
        values = image[self.image_index]
        rows = len(values)
        code = self.sql_type.codes(values)
        known = constant(code, rows) if isinstance(code, bytes) else _of_array(code)
        name = self.name + wire.number(5, 1) * updated
        return joined(
            (known, constant(name, rows), *self._value(values), constant(self.mysql_type, rows)), rows
        )

    def _value(self, values: pa.Array) -> tuple[Sized, ...]:
        """Return the fields ``isNull`` and ``value``; the second one is omitted if it is empty."""
        rows = len(values)
        null = constant(_HAS_VALUE, rows)
        if values.null_count:
            null = _of_array(pc.if_else(values.is_null(), _scalar(_IS_NULL), _scalar(_HAS_VALUE)))
            values = pc.fill_null(values, b"")
        texts = latin1(values) if self.binary else values
        value = _of_array(texts).within(8)
        empty = pc.equal(texts, _NONE)
        if pc.any(empty).as_py():
            value = _of_array(pc.if_else(empty, _NONE, concat(value.fragments, rows)))
        return null, value


def _scalar(content: bytes) -> pa.Scalar:
    return pa.scalar(content, pa.binary())


def latin1(values: pa.Array) -> pa.Array:
    """Return byte strings as UTF-8, with each byte as the character of its number (ISO-8859-1).

    >>> latin1(pa.array([b"a\\xe9"])).to_pylist()[0].decode()
    'aé'
    """
    if contents(values).isascii():
        return values
    return map_values(values, lambda value: value.decode("latin-1").encode())


@dataclass(frozen=True, slots=True)
class CanalTablePlan:
    """One table version.

    :param names: the fields of its names in the header.
    :param columns: in table order.
    :param key_only: whether deletes carry only the handle key.
    """

    names: bytes
    columns: tuple[CanalColumnPlan, ...]
    key_only: bool

    def entries(self, batch: RowBatch) -> pa.Array:
        """Return the entry of each row as a field of the packet's body."""
        rows, event_type = len(batch), EVENT_TYPES[batch.op]
        header = joined(
            (
                constant(HEADER_START, rows),
                _execute_time(batch.commit_ts),
                constant(MYSQL + self.names + wire.number(11, event_type) + _ROWS_COUNT, rows),
            ),
            rows,
        )
        change = joined(
            (
                constant(wire.number(2, event_type) + wire.number(10, 0), rows),
                self._row_data(batch).within(12),
            ),
            rows,
        )
        entry = joined((header.within(1), constant(ENTRY_OF_ROWS, rows), change.within(3)), rows)
        return concat(entry.within(2).fragments, rows)

    def _row_data(self, batch: RowBatch) -> Sized:
        updated, key_only = batch.op != Op.DELETE, batch.op == Op.DELETE and self.key_only
        columns = [column for column in self.columns if column.handle_key or not key_only]
        parts = [
            column.fields(image, updated=updated).within(field)
            for field, image in ((1, batch.before), (2, batch.after))
            if image
            for column in columns
        ]
        return joined(parts, len(batch))


def _execute_time(commit_ts: pa.Array) -> Sized:
    """Return the field of the milliseconds of the commit, which is omitted if they are 0."""
    times = as_int64(commit_ts) >> LOGICAL_BITS
    field = concat((wire.tag(6, wire.NUMBER), uvarints(times.astype(np.uint64))), len(times))
    return _of_array(field if times.all() else pc.if_else(pa.array(times == 0), _NONE, field))


def table_plan(table: TableInfo, *, key_only: bool) -> CanalTablePlan:
    """Compile the plan of one table version."""
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    columns = tuple(_column_plan(index, column, flag) for index, (column, flag) in enumerate(described))
    return CanalTablePlan(wire.text(8, table.schema) + wire.text(9, table.name), columns, key_only)


def _column_plan(index: int, column: ColumnInfo, flag: int) -> CanalColumnPlan:
    is_key = bool(flag & ColumnFlag.PRIMARY_KEY)
    return CanalColumnPlan(
        image_index=index,
        sql_type=_sql_type_field(sql_type(column)),
        name=wire.text(3, column.name) + wire.number(4, 1) * is_key,
        mysql_type=wire.text(10, bare_type(column)),
        binary=column.binary and column.type in STRINGS | LOBS,
        handle_key=bool(flag & ColumnFlag.HANDLE_KEY),
    )


def _sql_type_field(codes: JDBCType) -> JDBCType:
    """Return the codes as fields."""
    promoted = wire.number(2, int(codes.promoted)) if codes.promoted else b""
    return JDBCType(wire.number(2, int(codes.code)), codes.limit, promoted)


_PACKET = wire.number(2, 1) + wire.number(3, 7) + wire.tag(5, wire.BYTES)
_MOST_LENGTH = 5
"""Bytes of the length of the largest body."""
_HEAD = len(_PACKET) + _MOST_LENGTH + RECORD_OVERHEAD


class CanalEncoder:
    """An encoder of events as messages; it caches one compiled plan per table version."""

    def __init__(self, options: WorkerOptions | None = None) -> None:
        self.options = options or WorkerOptions()
        self._plans: dict[TableInfo, CanalTablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. There are no keys."""
        plan = self._plans.get(table)
        if plan is None:
            key_only = self.options.delete_only_output_handle_key_columns
            self._plans[table] = plan = table_plan(table, key_only=key_only)
        return encoded_rows(pa.nulls(len(batch), pa.binary()), plan.entries(batch), batch.commit_ts)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Yield packets of consecutive rows."""
        options = self.options
        limits = MessageLimits(rows=MAX_ROWS, size=options.max_message_bytes - _HEAD)
        for batch in batched(rows, _sizes, limits, by_batch_key=options.batch_by != "partition"):
            bodies = merge_runs(batch.rows.column("value"), batch.starts)
            heads = uvarints(lengths(bodies).astype(np.uint64))
            yield MessageBatch(
                key=pa.nulls(len(bodies), pa.binary()),
                value=concat((_PACKET, heads, bodies), len(bodies)),
                commit_ts=batch.first("commit_ts"),
                events=pa.array(batch.counts),
            )

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # the message has no columns
        before: TableInfo | None = None,  # noqa: ARG002  # nor those before the DDL
    ) -> Message:
        """Return the packet of a DDL event."""
        event_type, milliseconds = EVENT_TYPE_OF[ddl_keyword(event.ddl_type)], physical(event.commit_ts)
        header = b"".join((
            HEADER_START,
            wire.number(6, milliseconds) if milliseconds else b"",
            MYSQL,
            wire.text(8, event.schema),
            wire.text(9, event.table),
            wire.number(11, event_type),
        ))  # fmt: skip
        change = b"".join((
            wire.number(2, event_type), wire.number(10, 1), wire.text(11, event.query),
            wire.text(14, event.schema),
        ))  # fmt: skip
        entry = wire.content(1, header) + ENTRY_OF_ROWS + wire.content(3, change)
        body = wire.content(2, entry)
        return Message(None, _PACKET + wire.varint(len(body)) + body, Kind.DDL.label, event.commit_ts)

    def resolved(self, ts: int) -> Message | None:  # noqa: ARG002  # the protocol has no such message
        """Return None: Canal has no message for a resolved event."""
        return None

    @property
    def fidelity(self) -> CanalJSONFidelity:
        """The fidelity of Canal: that of Canal-JSON, but texts keep bytes that are not UTF-8."""
        only_keys = self.options.delete_only_output_handle_key_columns
        return CanalJSONFidelity(
            deletes="handle-key" if only_keys else "all",
            table_ids="none",
            commit_ts="milliseconds",
            column_types="bare",
            resolved=False,
        )


def _sizes(rows: EncodedRows) -> Numbers:
    return lengths(rows.column("value"))
