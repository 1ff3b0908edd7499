"""Encodes messages as JSON: rows with one compiled form per operation and set of columns, and all others.

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``encodeValue``, ``newTableSchema``, ``newColumnSchema``,
``newDDLMessage``, ``newResolvedMessage``, ``newBootstrapMessage``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, Op
from ticdc_producer.model.mysql_type import FLOATS, LOBS, MySQLType, bare_name
from ticdc_producer.model.mysql_type import STRINGS as STRING_TYPES
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import (
    NULL,
    Fragment,
    Fragments,
    Renderer,
    base64_texts,
    concat,
    integers,
    quoted,
    surrounded,
)
from ticdc_producer.protocols.avro.row_checksum import CHECKSUM_VERSION, RowChecksums
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.member_text import stored_default
from ticdc_producer.protocols.row_options import SimpleOptions
from ticdc_producer.protocols.simple.envelope import (
    BOOTSTRAP,
    WATERMARK,
    ddl_pre_table,
    ddl_schema_table,
    ddl_type_name,
    listed_columns,
    listed_indexes,
)

T = MySQLType


location_text = STRINGS.literal
"""Encodes the location of a claim-check object."""


def watermark(ts: int, options: SimpleOptions) -> bytes:
    """Return the value of a WATERMARK message: all events up to ``ts`` were sent."""
    return b'{"version":1,"type":"%b","commitTs":%d,"buildTs":%d}' % (
        WATERMARK.encode(),
        ts,
        options.build_ts(ts),
    )


def bootstrap(table: TableInfo, ts: int, options: SimpleOptions) -> bytes:
    """Return the value of a BOOTSTRAP message, which contains the schema of a table.

    :param ts: commit-ts of the row before which it is sent; it sets ``buildTs`` only.
    """
    return b'{"version":1,"type":"%b","commitTs":0,"buildTs":%d,"tableSchema":%b}' % (
        BOOTSTRAP.encode(),
        options.build_ts(ts),
        _table_schema(table, options.profile),
    )


def ddl(event: DDLEvent, table: TableInfo | None, before: TableInfo | None, options: SimpleOptions) -> bytes:
    """Return the value of a DDL event.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    schemas = []
    described = ddl_schema_table(event, table, before)
    if described is not None:
        schemas.append(b',"tableSchema":' + _table_schema(described, options.profile))
    previous = ddl_pre_table(event, before, options.profile)
    if previous is not None:
        schemas.append(b',"preTableSchema":' + _table_schema(previous, options.profile))
    return b'{"version":1,"type":"%b","sql":%b,"commitTs":%d,"buildTs":%d%b}' % (
        ddl_type_name(event.ddl_type, options.profile).encode(),
        STRINGS.literal(event.query),
        event.commit_ts,
        options.build_ts(event.commit_ts),
        b"".join(schemas),
    )


def _table_schema(table: TableInfo, profile: Profile) -> bytes:
    """Return the JSON object of a table version."""
    return b'{"schema":%b,"table":%b,"tableID":%d,"version":%d,"columns":%b,"indexes":%b}' % (
        STRINGS.literal(table.schema),
        STRINGS.literal(table.name),
        table.table_id,
        table.update_ts,
        _array(map(_column, listed_columns(table, profile))),
        _array(_index(table, *listed) for listed in listed_indexes(table)),
    )


def _array(items: Iterable[bytes]) -> bytes:
    return b"[%b]" % b",".join(items)


def _column(column: ColumnInfo) -> bytes:
    return b'{"name":%b,"dataType":{%b},"nullable":%b,"default":%b}' % (
        STRINGS.literal(column.name),
        b",".join(_data_type(column)),
        _boolean(column.nullable),
        _default(column),
    )


def _boolean(value: bool) -> bytes:
    return b"true" if value else b"false"


def _data_type(column: ColumnInfo) -> Iterator[bytes]:
    """Yield the members of ``dataType``; Go omits zero values."""
    if column.type == T.UNSPECIFIED:  # columns of a view
        yield b'"mysqlType":"unspecified","charset":"","collate":""'
        return
    yield b'"mysqlType":%b' % STRINGS.literal(bare_name(column.type, binary=column.binary, unsigned=False))
    yield b'"charset":%b,"collate":%b' % (STRINGS.literal(column.charset), STRINGS.literal(column.collation))
    if column.length:
        yield b'"length":%d' % column.length
    if column.decimal and column.type not in FLOATS:
        yield b'"decimal":%d' % column.decimal
    if column.elements:
        yield b'"elements":' + _array(map(STRINGS.literal, column.elements))
    if column.unsigned:
        yield b'"unsigned":true'
    if column.zerofill:
        yield b'"zerofill":true'


def _default(column: ColumnInfo) -> bytes:
    """Return the DEFAULT as text, or as number for BIT; null if there is none."""
    if column.type == T.BIT and column.default is not None and not column.default_expression:
        return column.default
    text = stored_default(column)
    return NULL if text is None else STRINGS.literal(text)


def _index(table: TableInfo, index: IndexInfo, name: str, primary: bool) -> bytes:
    columns = [table.columns[offset] for offset in index.offsets]
    return b'{"name":%b,"unique":%b,"primary":%b,"nullable":%b,"columns":%b}' % (
        STRINGS.literal(name),
        _boolean(index.unique),
        _boolean(primary),
        _boolean(any(column.nullable for column in columns)),
        _array(STRINGS.literal(column.name) for column in columns),
    )


@dataclass(frozen=True, slots=True)
class SimpleColumnPlan:
    """One column of a table version.

    :param index: index into the row image.
    :param name: the column's name as JSON.
    :param render: renders values to JSON.
    """

    index: int
    name: bytes
    render: Renderer
    handle_key: bool


def column_plans(table: TableInfo, time_zone: str) -> tuple[SimpleColumnPlan, ...]:
    """Return the columns in the order in which Go prints a map: by the bytes of their names."""
    columns = enumerate(zip(table.sent_columns, table.sent_flags, strict=True))
    ordered = sorted(columns, key=lambda described: described[1][0].name.encode())
    return tuple(
        SimpleColumnPlan(
            index=index,
            name=STRINGS.literal(column.name),
            render=_renderer(column, time_zone),
            handle_key=bool(flag & ColumnFlag.HANDLE_KEY),
        )
        for index, (column, flag) in ordered
    )


def _renderer(column: ColumnInfo, time_zone: str) -> Renderer:
    if column.type in STRING_TYPES | LOBS:
        return _base64 if column.binary else STRINGS.literals
    if column.type == T.TIMESTAMP:
        return partial(_timestamps, b'{"location":%b,"value":"' % STRINGS.literal(time_zone))
    return STRINGS.literals if column.type == T.JSON else quoted


def _base64(values: pa.Array) -> Fragments:
    return quoted(base64_texts(values))


def _timestamps(start: bytes, values: pa.Array) -> Fragments:
    return surrounded(start, values, b'"}')


@dataclass(frozen=True, slots=True)
class SimpleRowForm:
    """The compiled form of the rows of one operation.

    :param head: the text of the message before the table id.
    :param version: the schema version of the table.
    :param columns: the columns in the message, sorted by name.
    :param large: whether the rows exceeded the size limit and are sent with only their handle key.
    """

    head: bytes
    version: int
    op: Op
    columns: tuple[SimpleColumnPlan, ...]
    table: TableInfo
    options: SimpleOptions
    large: bool

    def texts(self, batch: RowBatch, locations: pa.Array | None = None) -> pa.Array:
        """Return one message per row.

        :param batch: rows with the operation of this form.
        :param locations: locations of their claim-check objects as JSON, if they have one.
        """
        built = self.options.build_ts_ms
        fragments = [
            self.head, integers(batch.table_id), b',"type":"%b","commitTs":' % self.op.name.encode(),
            integers(batch.commit_ts), b',"buildTs":',
            integers(pc.shift_right(batch.commit_ts, LOGICAL_BITS)) if built is None else b"%d" % built,
            b',"schemaVersion":%d' % self.version,
            *self._large_members(locations), *self._checksums(batch), *self._images(batch), b"}",
        ]  # fmt: skip
        return concat(fragments, len(batch))

    def _large_members(self, locations: pa.Array | None) -> Iterator[Fragment]:
        if locations is not None:
            yield from (b',"claimCheckLocation":', locations)
        if self.large:
            yield b',"handleKeyOnly":true'

    def _checksums(self, batch: RowBatch) -> Fragments:
        """Return the checksums of the whole rows, also if the message has only the handle key."""
        if not self.options.has_checksums:
            return ()
        checksums = RowChecksums.of(self.table, batch, self.options.profile, self.options.time_zone)
        current, previous = (integers(pa.array(of)) for of in (checksums.current, checksums.previous))
        head = b',"checksum":{"version":%d,"corrupted":false,"current":' % CHECKSUM_VERSION
        member = concat((head, current, b',"previous":', previous, b"}"), len(batch))
        return (pc.if_else(pa.array(checksums.present), member, pa.scalar(b"", pa.binary())),)

    def _images(self, batch: RowBatch) -> Iterator[Fragment]:
        if batch.after:
            yield from (b',"data":{', *self._members(batch.after), b"}")
        if batch.before:
            yield from (b',"old":{', *self._members(batch.before), b"}")

    def _members(self, image: Sequence[pa.Array]) -> Iterator[Fragment]:
        for position, column in enumerate(self.columns):
            yield b"," * bool(position) + column.name + b":"
            yield from column.render(image[column.index])


Forms: TypeAlias = Mapping[tuple[Op, bool], SimpleRowForm]
"""Forms by operation, and by whether the row exceeded the size limit and is sent with only its handle key."""


def table_forms(table: TableInfo, options: SimpleOptions) -> Forms:
    """Compile all forms of one table version."""
    columns = column_plans(table, options.time_zone)
    key = tuple(column for column in columns if column.handle_key)
    names = (STRINGS.literal(table.schema), STRINGS.literal(table.name))
    head = b'{"version":1,"database":%b,"table":%b,"tableID":' % names
    return {
        (op, large): SimpleRowForm(
            head, table.update_ts, op, key if large else columns, table, options, large
        )
        for op in Op
        for large in (False, True)
    }
