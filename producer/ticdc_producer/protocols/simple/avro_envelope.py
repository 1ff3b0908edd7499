"""Parses messages in Simple's Avro encoding to the envelope of the JSON encoding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeVar, cast

from ticdc_producer.model.mysql_type import INTEGERS, LOBS, NUMBERED, STRINGS, MySQLType, type_names
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols.avro.field_reader import AvroCursor
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.simple import envelope as layout
from ticdc_producer.protocols.simple.envelope import (
    BOOTSTRAP,
    VERSION,
    WATERMARK,
    ChecksumJSON,
    DataType,
    IndexJSON,
    RowJSON,
    SchemaColumnJSON,
    SimpleEnvelope,
    TableSchema,
)
from ticdc_producer.protocols.spans import ImageName
from ticdc_producer.protocols.value_parsers import Parser

_TEXTS = type_names(STRINGS | LOBS, binary=False)
_BYTES = type_names(STRINGS | LOBS, binary=True)
_LONGS = type_names(INTEGERS | NUMBERED)
_UINT64 = (1 << 64) - 1


class AvroCell(NamedTuple):
    """A value and its branch in the union. A TIMESTAMP is a pair of time zone and text."""

    branch: int
    value: int | float | bytes | tuple[str, str]


def cell_text(kind: str, cell: AvroCell, read: Parser) -> bytes:
    """Return the canonical text of a value.

    :param kind: SQL type name of the column.
    :param read: parses the text that the JSON encoding has for the value.
    :raises BadValue: for a value that the column cannot hold.
    """
    if cell.branch != _branch_of(kind):
        raise BadValue("the branch of its type", "VALUE")
    match cell.value:
        case bytes():
            return _of_bytes(kind, cell.value, read)
        case (str(), str() as text):
            return read(text)
        case float():
            return _of_float(kind, cell.value)
        case int():
            wraps = kind in ("bigint unsigned", "bit", "set")
            return read(str(cell.value & _UINT64 if wraps else cell.value))
    raise BadValue("a value", "VALUE")


def _branch_of(kind: str) -> int:
    bare = kind.removesuffix(" unsigned")
    if kind == "bigint unsigned":
        return layout.UNSIGNED_BIGINT
    if bare in _LONGS:
        return layout.LONG
    if bare in _BYTES:
        return layout.BYTES
    others = {"float": layout.FLOAT, "double": layout.DOUBLE, "timestamp": layout.TIMESTAMP}
    return others.get(bare, layout.STRING)


def _of_bytes(kind: str, content: bytes, read: Parser) -> bytes:
    if kind in _BYTES or kind in _TEXTS:  # text may contain bytes that are not UTF-8
        return content
    try:
        return read(content.decode())
    except UnicodeDecodeError:
        raise BadValue("UTF-8", "VALUE") from None


def _of_float(kind: str, number: float) -> bytes:
    if not math.isfinite(number):
        raise BadValue("a finite number", "VALUE")
    return plain_text(number, MySQLType.FLOAT if kind.startswith("float") else MySQLType.DOUBLE)


T = TypeVar("T")


def is_avro(value: bytes) -> bool:
    """Return whether a value is Avro-encoded: no JSON starts with the same byte."""
    return value.startswith(layout.MESSAGE)


def parse_avro_envelope(value: bytes) -> SimpleEnvelope:
    """Parse a message value.

    :raises DecodeError: if it is not a message of this protocol.
    """
    cursor, kind = _payload(value)
    message = _PAYLOADS[kind](cursor)
    cursor.end()
    return message


def _payload(value: bytes) -> tuple[AvroCursor, int]:
    """Return the payload of a message, and the number of its type."""
    cursor = AvroCursor(value, "value", len(layout.MESSAGE), "SIMPLE")
    kind = _member(cursor, 4)
    if cursor.long() != kind:
        raise cursor.error("TYPE", "the payload of the message's type")
    if cursor.long() != VERSION:
        raise cursor.error("VERSION", f"version {VERSION}")
    return cursor, kind


def column_ranges(value: bytes) -> Iterator[tuple[ImageName, str, int, int]]:
    """Yield image, column, first byte and end of each value of a row event, up to an error.

    :raises DecodeError: at the error.
    """
    cursor, kind = _payload(value)
    if _PAYLOADS[kind] is not _dml:
        return
    _dml_head(cursor)
    images: tuple[ImageName, ...] = ("after", "before")
    for image in images:
        yield from _optional(cursor, partial(_ranges, image)) or ()


def _ranges(image: ImageName, cursor: AvroCursor) -> list[tuple[ImageName, str, int, int]]:
    def range_of(source: AvroCursor) -> tuple[ImageName, str, int, int]:
        name, start = source.text(), source.position
        source.long()
        first = source.position
        source.position = start
        _cell(source)
        return image, name, first, source.position

    return [entry for entry in _block_items(cursor, range_of) if entry[2] < entry[3]]


def _watermark(cursor: AvroCursor) -> SimpleEnvelope:
    ts = _tso(cursor)
    cursor.long()
    return SimpleEnvelope(version=VERSION, type=WATERMARK, commit_ts=ts)


def _bootstrap(cursor: AvroCursor) -> SimpleEnvelope:
    cursor.long()
    return SimpleEnvelope(version=VERSION, type=BOOTSTRAP, commit_ts=0, table_schema=_table(cursor))


def _ddl(cursor: AvroCursor) -> SimpleEnvelope:
    ddl_type, sql = layout.DDL_TYPES[_member(cursor, len(layout.DDL_TYPES))], cursor.text()
    ts = _tso(cursor)
    cursor.long()
    after, before = _optional(cursor, _table), _optional(cursor, _table)
    return SimpleEnvelope(
        version=VERSION, type=ddl_type, commit_ts=ts, sql=sql, table_schema=after, pre_table_schema=before
    )


def _dml_head(cursor: AvroCursor) -> SimpleEnvelope:
    database, table, table_id = cursor.text(), cursor.text(), cursor.long()
    op_name, ts = layout.OP_NAMES[_member(cursor, len(layout.OP_NAMES))], _tso(cursor)
    cursor.long()
    version = _tso(cursor)
    location, handle_key_only = _optional(cursor, AvroCursor.text), _optional(cursor, _boolean)
    checksum = _optional(cursor, _checksum)
    return SimpleEnvelope(
        version=VERSION,
        type=op_name,
        commit_ts=ts,
        database=database,
        table=table,
        table_id=table_id,
        schema_version=version,
        claim_check_location=location or "",
        handle_key_only=bool(handle_key_only),
        checksum=checksum,
    )


def _dml(cursor: AvroCursor) -> SimpleEnvelope:
    head = _dml_head(cursor)
    head.data, head.old = _optional(cursor, _row), _optional(cursor, _row)
    return head


def _checksum(cursor: AvroCursor) -> ChecksumJSON:
    version, corrupted = cursor.long(), _boolean(cursor)
    current, previous = cursor.long(), cursor.long()
    if not (0 <= current < 1 << 32 and 0 <= previous < 1 << 32):
        raise cursor.error("CHECKSUM", "checksums of 32 bits")
    return ChecksumJSON(version, corrupted, current, previous)


_PAYLOADS = (_watermark, _bootstrap, _ddl, _dml)


def _member(cursor: AvroCursor, count: int) -> int:
    number = cursor.long()
    if not 0 <= number < count:
        raise cursor.error("TYPE", f"one of {count} members")
    return number


def _tso(cursor: AvroCursor) -> int:
    number = cursor.long()
    if not 0 <= number <= MAX_TS:
        raise cursor.error("TSO", "a time stamp of 0 … 2^63-1")
    return number


def _boolean(cursor: AvroCursor) -> bool:
    content = cursor.take(1)
    if content > b"\x01":
        raise cursor.error("BOOLEAN", "a byte 0 or 1")
    return content == b"\x01"


def _optional(cursor: AvroCursor, read: Callable[[AvroCursor], T]) -> T | None:
    return read(cursor) if cursor.branch() else None


def _block_items(cursor: AvroCursor, read: Callable[[AvroCursor], T]) -> list[T]:
    """Read blocks of items up to the empty block. Each item has at least one byte."""
    items: list[T] = []
    while count := cursor.long():
        if not 0 < count <= len(cursor.data) - cursor.position:
            raise cursor.error("BLOCK", "a number of items that the message can hold")
        items += [read(cursor) for _ in range(count)]
    return items


def _row(cursor: AvroCursor) -> RowJSON:
    """Read an image, sorted by column name as in JSON. TiCDC writes the columns in random order."""
    entries = _block_items(cursor, lambda source: (source.text(), _cell(source)))
    row = dict(sorted(entries, key=lambda entry: entry[0].encode()))
    if len(row) < len(entries):
        raise cursor.error("COLUMN", "each column once")
    return cast(RowJSON, row)  # TableReader converts the cells by the type of their column


def _cell(cursor: AvroCursor) -> AvroCell | None:
    branch = cursor.long()
    match branch:
        case 0:
            return None
        case layout.LONG | layout.UNSIGNED_BIGINT:
            return AvroCell(branch, cursor.long())
        case layout.FLOAT:
            return AvroCell(branch, cursor.binary32())
        case layout.DOUBLE:
            return AvroCell(branch, cursor.binary64())
        case layout.STRING | layout.BYTES:
            return AvroCell(branch, cursor.length_prefixed())
        case layout.TIMESTAMP:
            return AvroCell(branch, (cursor.text(), cursor.text()))
    raise cursor.error("UNION", "a branch of 0 … 7")


def _table(cursor: AvroCursor) -> TableSchema:
    schema, table, table_id = cursor.text(), cursor.text(), cursor.long()
    del table_id
    version = _tso(cursor)
    return TableSchema(
        schema=schema,
        table=table,
        version=version,
        columns=_block_items(cursor, _column),
        indexes=_block_items(cursor, _index),
    )


def _column(cursor: AvroCursor) -> SchemaColumnJSON:
    name, kind, charset, collate = (cursor.text() for _ in range(4))
    data_type = DataType(
        mysql_type=kind,
        charset=charset,
        collate=collate,
        length=cursor.long(),
        decimal=_optional(cursor, AvroCursor.long) or 0,
        elements=_optional(cursor, lambda source: _block_items(source, AvroCursor.text)),
        unsigned=bool(_optional(cursor, _boolean)),
        zerofill=bool(_optional(cursor, _boolean)),
    )
    nullable, default = _boolean(cursor), _optional(cursor, AvroCursor.length_prefixed)
    return SchemaColumnJSON(name=name, data_type=data_type, nullable=nullable, default=default)


def _index(cursor: AvroCursor) -> IndexJSON:
    name = cursor.text()
    unique, primary, nullable = _boolean(cursor), _boolean(cursor), _boolean(cursor)
    columns = _block_items(cursor, AvroCursor.text)
    return IndexJSON(name=name, unique=unique, primary=primary, nullable=nullable, columns=columns)
