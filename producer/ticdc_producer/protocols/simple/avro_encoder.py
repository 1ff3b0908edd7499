"""Encodes messages in Simple's Avro encoding; rows with one compiled form per operation.

Source: tiflow ``pkg/sink/codec/simple/avro.go`` (``newTableSchemaMap``, ``newDDLMessageMap``,
``newResolvedMessageMap``, ``newBootstrapMessageMap``).

A row is an Avro map. TiCDC writes its columns in random order; here they are sorted by name, as in JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, Op
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType, bare_name
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Fragment, Fragments, as_int64, concat
from ticdc_producer.protocols.avro import plan
from ticdc_producer.protocols.avro.row_checksum import CHECKSUM_VERSION, RowChecksums
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.craft.wire import varint
from ticdc_producer.protocols.member_text import stored_bits, stored_default
from ticdc_producer.protocols.row_options import SimpleOptions
from ticdc_producer.protocols.simple import envelope as layout
from ticdc_producer.protocols.simple.envelope import (
    ddl_pre_table,
    ddl_schema_table,
    ddl_type_name,
    listed_columns,
    listed_indexes,
)

T = MySQLType
_VERSION = varint(1)
_NUMERIC = INTEGERS | FLOATS | {T.NEW_DECIMAL, T.BIT, T.YEAR}
"""Types whose schema has the members UNSIGNED and ZEROFILL."""


def _head(kind: int) -> bytes:
    """Return the start of a message, up to and including its version."""
    return layout.MESSAGE + varint(kind) + varint(kind) + _VERSION


def _text(text: str) -> bytes:
    """Return a text, preceded by its length in bytes."""
    content = text.encode()
    return varint(len(content)) + content


location_text = _text
"""Encodes the location of a claim-check object."""


def watermark(ts: int, options: SimpleOptions) -> bytes:
    """Return the value of a WATERMARK message: all events up to ``ts`` were sent."""
    return _head(layout.AVRO_WATERMARK) + varint(ts) + varint(options.build_ts(ts))


def bootstrap(table: TableInfo, ts: int, options: SimpleOptions) -> bytes:
    """Return the value of a BOOTSTRAP message, which contains the schema of a table.

    :param ts: commit-ts of the row before which it is sent; it sets ``buildTs`` only.
    """
    return _head(layout.AVRO_BOOTSTRAP) + varint(options.build_ts(ts)) + _table(table, options.profile)


def ddl(event: DDLEvent, table: TableInfo | None, before: TableInfo | None, options: SimpleOptions) -> bytes:
    """Return the value of a DDL event.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    type_name = ddl_type_name(event.ddl_type, options.profile)
    previous = ddl_pre_table(event, before, options.profile)
    return b"".join((
        _head(layout.DDL), varint(layout.DDL_TYPES.index(type_name)), _text(event.query),
        varint(event.commit_ts), varint(options.build_ts(event.commit_ts)),
        _optional(ddl_schema_table(event, table, before), options.profile),
        _optional(previous, options.profile),
    ))  # fmt: skip


def _optional(table: TableInfo | None, profile: Profile) -> bytes:
    return layout.NULL if table is None else layout.PRESENT + _table(table, profile)


def _table(table: TableInfo, profile: Profile) -> bytes:
    return b"".join((
        _text(table.schema), _text(table.name), varint(table.table_id), varint(table.update_ts),
        _array(_column(column) for column in listed_columns(table, profile)),
        _array(_index(table, *listed) for listed in listed_indexes(table)),
    ))  # fmt: skip


def _array(items: Iterable[bytes]) -> bytes:
    """Return one block of items, and the empty block that ends an array."""
    listed = list(items)
    return varint(len(listed)) + b"".join(listed) + varint(0) if listed else varint(0)


def _boolean(value: bool) -> bytes:
    return b"\x01" if value else b"\x00"


def _column(column: ColumnInfo) -> bytes:
    default = _default(column)
    optional_default = layout.NULL if default is None else layout.PRESENT + varint(len(default)) + default
    return _text(column.name) + _data_type(column) + _boolean(column.nullable) + optional_default


def _data_type(column: ColumnInfo) -> bytes:
    if column.type == T.UNSPECIFIED:  # columns of a view
        return _text("unspecified") + _text("") * 2 + varint(0) + layout.NULL * 4
    name = bare_name(column.type, binary=column.binary, unsigned=False)
    parts = [
        _text(name),
        _text(column.charset),
        _text(column.collation),
        varint(column.length),
    ]
    decimal = layout.PRESENT + varint(column.decimal) if column.type == T.NEW_DECIMAL else layout.NULL
    elements = layout.PRESENT + _array(map(_text, column.elements)) if column.elements else layout.NULL
    parts += [decimal, elements]
    for flag in (column.unsigned, column.zerofill):
        parts.append(layout.PRESENT + _boolean(flag) if column.type in _NUMERIC else layout.NULL)
    return b"".join(parts)


def _default(column: ColumnInfo) -> bytes | None:
    """Return the DEFAULT as TiDB stores it; the DEFAULT of a BIT column as bytes."""
    if column.type == T.BIT and column.default is not None and not column.default_expression:
        return stored_bits(column)
    text = stored_default(column)
    return None if text is None else text.encode()


def _index(table: TableInfo, index: IndexInfo, name: str, primary: bool) -> bytes:
    columns = [table.columns[offset] for offset in index.offsets]
    flags = (index.unique, primary, any(column.nullable for column in columns))
    names = _array([_text(column.name) for column in columns])
    return _text(name) + b"".join(map(_boolean, flags)) + names


_PLAIN = (INTEGERS | {T.YEAR, T.ENUM}) - {T.LONGLONG}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A column as an entry of the map.

    :param index: index into the row image.
    :param name: the name, preceded by its length.
    :param written: encodes values, each preceded by its union branch.
    """

    index: int
    name: bytes
    written: Callable[[pa.Array], Fragments]


@dataclass(frozen=True, slots=True)
class AvroRowForm:
    """The compiled form of the rows of one operation.

    :param start: the bytes of the message before the table id.
    :param entries: the columns in the message, sorted by name.
    :param large: whether the rows exceeded the size limit and are sent with only their handle key.
    """

    start: bytes
    table: TableInfo
    op: Op
    entries: tuple[_Entry, ...]
    options: SimpleOptions
    large: bool

    def texts(self, batch: RowBatch, locations: pa.Array | None = None) -> pa.Array:
        """Return one message per row.

        :param locations: locations of their claim-check objects as ``location_text``, if they have one.
        """
        commits, built = as_int64(batch.commit_ts), self.options.build_ts_ms
        fragments = [
            self.start, plan.longs(as_int64(batch.table_id)),
            varint(layout.OP_NAMES.index(self.op.name)), plan.longs(commits),
            plan.longs(commits >> LOGICAL_BITS) if built is None else varint(built),
            varint(self.table.update_ts),
            *((layout.NULL,) if locations is None else (layout.PRESENT, locations)),
            layout.PRESENT + _boolean(True) if self.large else layout.NULL,
            *self._checksums(batch),
            *self._image(batch.after), *self._image(batch.before),
        ]  # fmt: skip
        return concat(fragments, len(batch))

    def _checksums(self, batch: RowBatch) -> Fragments:
        """Encode the checksums of the whole rows, also if the message has only the handle key."""
        if not self.options.has_checksums:
            return (layout.NULL,)
        checksums = RowChecksums.of(self.table, batch, self.options.profile, self.options.time_zone)
        head = layout.PRESENT + varint(CHECKSUM_VERSION) + _boolean(False)
        numbers = (plan.longs(of.astype(np.int64)) for of in (checksums.current, checksums.previous))
        record = concat((head, *numbers), len(batch))
        return (pc.if_else(pa.array(checksums.present), record, pa.scalar(layout.NULL, pa.binary())),)

    def _image(self, image: Sequence[pa.Array]) -> Iterator[Fragment]:
        if not image:
            yield layout.NULL
            return
        yield layout.PRESENT + (varint(len(self.entries)) if self.entries else b"")
        for entry in self.entries:
            yield entry.name
            yield from entry.written(image[entry.index])
        yield varint(0)


def table_forms(table: TableInfo, options: SimpleOptions) -> dict[tuple[Op, bool], AvroRowForm]:
    """Compile all forms of one table version."""
    start = _head(layout.DML) + _text(table.schema) + _text(table.name)
    ordered = sorted(enumerate(table.sent_columns), key=lambda column: column[1].name.encode())
    entries = tuple(
        _Entry(index, _text(column.name), _written(column, options.time_zone)) for index, column in ordered
    )
    key = tuple(entry for entry in entries if table.sent_flags[entry.index] & ColumnFlag.HANDLE_KEY)
    return {
        (op, large): AvroRowForm(start, table, op, key if large else entries, options, large)
        for op in Op
        for large in (False, True)
    }


def _written(column: ColumnInfo, time_zone: str) -> Callable[[pa.Array], Fragments]:
    branch, writer = _branch(column, time_zone)
    return partial(plan.nullable, written=writer, null=layout.NULL, other=varint(branch))


def _branch(column: ColumnInfo, time_zone: str) -> tuple[int, Callable[[pa.Array], Fragments]]:
    """Return the union branch of the values of a column that are not NULL, and their encoding."""
    match column.type:
        case T.LONGLONG:
            return (layout.UNSIGNED_BIGINT, plan.unsigned) if column.unsigned else (layout.LONG, plan.signed)
        case T.BIT | T.SET:
            return layout.LONG, plan.unsigned
        case T.FLOAT:
            return layout.FLOAT, plan.floats
        case T.DOUBLE:
            return layout.DOUBLE, plan.doubles
        case T.TIMESTAMP:
            zone = _text(time_zone)
            return layout.TIMESTAMP, lambda values: (zone, *plan.length_prefixed(values))
    if column.type in _PLAIN:
        return layout.LONG, plan.signed
    if column.type in STRINGS | LOBS and column.binary:
        return layout.BYTES, plan.length_prefixed
    return layout.STRING, plan.length_prefixed
