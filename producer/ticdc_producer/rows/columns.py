"""The columns of a table: their Arrow types, the conversion of canonical values, and errors for other values.

A value in an event is canonical text (docs/design.md#values). A value that its type cannot hold, such as the
date 0000-00-00, is an error; the type ``string`` holds every value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ArgumentError, DecodeError, UnreadableValue
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.column_functions import Flags, decimals
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.shapes import BatchFunction, DecodedBatch
from ticdc_producer.protocols.arrow_text import map_distinct
from ticdc_producer.rows.origin import Origin

_MOST_DIGITS = 38
_UNSIGNED = pa.decimal128(20, 0)
T = MySQLType
_BY_NAME: dict[str, pa.DataType] = {
    "tinyint": pa.int8(), "tinyint unsigned": pa.int16(),
    "smallint": pa.int16(), "smallint unsigned": pa.int32(),
    "mediumint": pa.int32(), "mediumint unsigned": pa.int32(),
    "int": pa.int32(), "int unsigned": pa.int64(),
    "bigint": pa.int64(), "bigint unsigned": _UNSIGNED,
    "year": pa.int32(), "bit": _UNSIGNED, "enum": pa.int32(), "set": _UNSIGNED,
    "float": pa.float32(), "float unsigned": pa.float32(),
    "double": pa.float64(), "double unsigned": pa.float64(),
    "date": pa.date32(), "datetime": pa.timestamp("us"), "timestamp": pa.timestamp("us", "UTC"),
    "binary": pa.binary(), "varbinary": pa.binary(),
    "tinyblob": pa.binary(), "blob": pa.binary(), "mediumblob": pa.binary(), "longblob": pa.binary(),
}  # fmt: skip
"""By the type's name in events. The other types are strings: texts, TIME, JSON, vectors, and DECIMAL, whose
digits no message has."""


def type_of_name(name: str) -> pa.DataType:
    """Return the Arrow type of a column in events.

    :param name: SQL name without parameters, such as ``int unsigned``.
    """
    return _BY_NAME.get(name, pa.string())


def type_of_column(column: ColumnInfo) -> pa.DataType:
    """Return the Arrow type of a column whose definition is known."""
    if column.type == T.NEW_DECIMAL and 0 < column.length <= _MOST_DIGITS:
        return pa.decimal128(column.length, max(column.decimal, 0))
    if column.type in (T.ENUM, T.SET):
        return pa.string()
    return type_of_name(column.type_name)


_FROM_TEXT = (
    pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_boolean, pa.types.is_string,
)  # fmt: skip
Conversion = Callable[[pa.Array], pa.Array]
"""Converts canonical values, as binary, and raises ``pa.ArrowInvalid`` for one that does not fit."""


def conversion(name: str, kind: pa.DataType, zone: str, column: ColumnInfo | None = None) -> Conversion:
    """Return the conversion of a column's values to an Arrow type.

    :param name: the column's, for errors.
    :param zone: time zone of TIMESTAMP values, for the type with a zone.
    :param column: its definition, if it is known; then members of ENUM and SET become their texts.
    :raises ArgumentError: for a type that no column has.
    """
    if pa.types.is_binary(kind):
        return lambda values: values
    if column is not None and column.type in (T.ENUM, T.SET) and pa.types.is_string(kind):
        return lambda values: map_distinct(values, partial(_members, column)).cast(pa.string())
    if pa.types.is_decimal(kind) and kind.scale >= 0:
        return lambda values: decimals(values.cast(pa.string()), kind)
    if any(is_of(kind) for is_of in _FROM_TEXT):
        return lambda values: values.cast(pa.string()).cast(kind)
    if pa.types.is_timestamp(kind):
        return partial(_timestamps, kind, zone)
    what = f"column {name!r} cannot be read as {kind}"
    raise ArgumentError(
        what, argument="schema", hint="numbers, decimals, dates, timestamps, string or binary"
    )


def _timestamps(kind: pa.DataType, zone: str, values: pa.Array) -> pa.Array:
    local = values.cast(pa.string()).cast(pa.timestamp("us"))
    if kind.tz is None:
        return local
    return pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest").cast(kind)


def _members(column: ColumnInfo, value: bytes) -> bytes:
    """Return the text of an ENUM or SET."""
    number = int(value)
    if column.type == T.ENUM:
        return column.elements[number - 1].encode() if 0 < number <= len(column.elements) else b""
    return ",".join(text for bit, text in enumerate(column.elements) if number >> bit & 1).encode()


@dataclass(frozen=True)
class Converted:
    """Values in their type.

    :param values: NULL where a value does not fit.
    :param rejected: the rows whose value does not fit.
    """

    values: pa.Array
    rejected: tuple[int, ...] = ()


def converted(values: pa.Array, convert: Conversion) -> Converted:
    """Convert values; those that do not fit are searched by halves.

    >>> convert = lambda values: values.cast(pa.string()).cast(pa.int8())
    >>> converted(pa.array([b"1", b"x", None]), convert).rejected
    (1,)
    """
    try:
        return Converted(convert(values))
    except pa.ArrowInvalid:
        if len(values) == 1:
            return Converted(convert(pa.nulls(1, values.type)), (0,))
    half = len(values) // 2
    first, second = converted(values.slice(0, half), convert), converted(values.slice(half), convert)
    rejected = (*first.rejected, *(half + row for row in second.rejected))
    return Converted(pa.concat_arrays([first.values, second.values]), rejected)


_FORM = "SCHEMA.TABLE"
_DESCRIBED = ["name", "type", "flag"]


@dataclass(frozen=True)
class DescribedTable:
    """The columns of a table.

    :param columns: in the order of the messages, or of the table if its definition is known.
    :param key: those of the handle key; empty if they are not known.
    """

    columns: pa.Schema
    key: tuple[pa.Field, ...]


def table_name(text: str) -> tuple[str, str]:
    """Return schema and table of ``SCHEMA.TABLE``.

    :raises ArgumentError: for another text.
    """
    schema, _, table = text.partition(".")
    if not schema or not table:
        raise ArgumentError(f"{text!r} is not a table", argument="table", hint=_FORM)
    return schema, table


def table_schema(origin: Origin, schema: str, table: str) -> DescribedTable:
    """Return the columns of a table: those of its definition, else those of its first events.

    :raises ArgumentError: if no message has the table.
    """
    known = origin.tables.get(f"{schema}.{table}")
    if known is not None:
        columns = [pa.field(column.name, type_of_column(column)) for column in known.columns]
        return _with_key(columns, known.key)
    names: set[str] = set()
    for batch in _sampled(origin):
        of_table = _rows_of(batch, schema, table, names)
        if of_table.num_rows:
            described = of_table.column("columns").flatten().flatten()
            distinct = pa.table(described, _DESCRIBED).group_by(_DESCRIBED, use_threads=False)
            columns = distinct.aggregate([]).to_pylist()
            types = {column["name"]: type_of_name(column["type"]) for column in columns}
            key = {column["name"] for column in columns if column["flag"] & ColumnFlag.HANDLE_KEY}
            return _with_key([pa.field(name, kind) for name, kind in types.items()], key)
    hint = nearest(f"{schema}.{table}", names) if names else "name its columns with a schema"
    raise ArgumentError(f"no message has a row of the table {schema}.{table}", argument="table", hint=hint)


def _with_key(columns: Sequence[pa.Field], key: Collection[str]) -> DescribedTable:
    return DescribedTable(pa.schema([*columns]), tuple(column for column in columns if column.name in key))


def _sampled(origin: Origin) -> Iterator[pa.RecordBatch]:
    """Yield the first events of each part, and then all events."""
    sources = origin.events.sources
    yield from chain.from_iterable(islice(source(), 1) for source in sources)
    yield from chain.from_iterable(source() for source in sources)


def _rows_of(batch: pa.RecordBatch, schema: str, table: str, names: set[str]) -> pa.RecordBatch:
    """Return the row events of a table, and add the names of all tables."""
    rows = batch.filter(pc.equal(batch.column("kind"), "row"))
    full = pc.binary_join_element_wise(rows.column("schema"), rows.column("table"), ".")
    names.update(full.unique().to_pylist())
    return rows.filter(
        pc.and_(pc.equal(rows.column("schema"), schema), pc.equal(rows.column("table"), table))
    )


OnError: TypeAlias = Literal["fail", "rows"]
_POSITION = ("topic", "partition", "offset")


def damage(batch: DecodedBatch, on_error: OnError) -> Flags:
    """Return which rows of a batch are messages that did not decode.

    :param batch: decoded events (shape ``DECODED``).
    :raises DecodeError: for the first of them, if errors are not rows.
    """
    damaged: Flags = pc.equal(batch.column("kind"), "error").to_numpy(zero_copy_only=False)
    if on_error == "fail" and damaged.any():
        raise damage_error(batch, int(np.argmax(damaged)))
    return damaged


def damage_error(batch: pa.RecordBatch, row: int) -> DecodeError:
    """Return the error of a message that did not decode."""
    code, byte, text = (batch.column(name)[row].as_py() for name in ("error", "error_byte", "error_expected"))
    expected, _, part = text.rpartition(" (")
    error = DecodeError(code, expected, part=part.removesuffix(")"), byte=byte)
    return error.at(*_position(batch, row))


def undamaged(on_error: OnError) -> BatchFunction:
    """Return the function that returns events as they are, and stops at damage if errors are not rows."""

    def checked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            damage(batch, on_error)
            yield batch

    return checked


def rejected_value(batch: pa.RecordBatch, row: int, what: str, hint: str) -> UnreadableValue:
    """Return the error of an event whose row cannot be given.

    :param what: the reason.
    :param hint: how the caller can read it.
    """
    topic, partition, offset = _position(batch, row)
    return UnreadableValue(what, topic=topic, partition=partition, offset=offset, hint=hint)


def _position(batch: pa.RecordBatch, row: int) -> tuple[str, int, int]:
    topic, partition, offset = (batch.column(name)[row].as_py() for name in _POSITION)
    return topic, partition, offset
