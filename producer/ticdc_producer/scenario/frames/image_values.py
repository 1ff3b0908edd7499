"""The values of ``before`` and ``after``: structs, maps or JSON texts, as canonical columns of a table.

A value is converted as an INSERT converts it. Arrow's functions convert the types that they convert alike;
the other values are converted one by one, equal ones once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from types import NoneType
from typing import Any, cast

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags, Numbers, all_match
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import PythonValue, coerce, sql_value
from ticdc_producer.model.values.sql_value import DateTimeValue, SQLMode, SQLValue, value_error
from ticdc_producer.scenario.columns.canonical_values import stored_values
from ticdc_producer.scenario.columns.row_images import Values
from ticdc_producer.scenario.columns.value_columns import canonical_column
from ticdc_producer.scenario.frames.map_columns import ImageColumn, map_columns
from ticdc_producer.scenario.frames.plain_table import python_values

T = MySQLType


def frame_value(column: ColumnInfo, value: object, mode: SQLMode) -> SQLValue:
    """Return the SQL value of a value of a frame.

    A TIMESTAMP without a time zone is in UTC. A DATETIME has the wall clock of the value's own time zone.
    Bytes of a JSON column are its text in UTF-8.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise value_error(column.name, value, "Out of range value")
    if isinstance(value, dict | list) and column.type == T.JSON:
        return _json(column, value)
    if isinstance(value, dict | list):
        raise value_error(column.name, value, "A nested value is not supported")
    if isinstance(value, bytes) and column.type == T.JSON:
        return _text(column, value)
    if isinstance(value, datetime):
        if column.type == T.TIMESTAMP and value.tzinfo is None:
            value = value.replace(tzinfo=UTC)
        elif column.type != T.TIMESTAMP:
            value = value.replace(tzinfo=None)
    if not isinstance(value, _OF_COLUMNS):
        raise value_error(column.name, value, f"A value of type {type(value).__name__} is not supported")
    return sql_value(cast("PythonValue", value), mode)


_OF_COLUMNS = (int, float, str, bytes, Decimal, date, time, timedelta, DateTimeValue, NoneType)
"""The types of Python whose values a column of TiDB may hold; those of bool and datetime are among them, and
``DateTimeValue`` for dates of the year 0, which Python does not have."""


def _text(column: ColumnInfo, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise value_error(column.name, value, "Invalid JSON (no UTF-8)") from None


def _json(column: ColumnInfo, value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise value_error(column.name, value, f"Invalid JSON ({error})") from None


@dataclass(frozen=True)
class ImageValues:
    """The canonical values of row images.

    :param values: by the offset of the column; NULL where there is no image.
    :param missing: by the offset of a column, the images that lack it; no entry if none does.
    """

    values: Values
    missing: dict[int, Flags]

    def take(self, rows: pa.Array) -> ImageValues:
        """Return the values of some rows."""
        numbers = rows.to_numpy()
        missing = {offset: flags[numbers] for offset, flags in self.missing.items()}
        return ImageValues({offset: column.take(rows) for offset, column in self.values.items()}, missing)


def image_values(
    table: TableInfo,
    images: pa.Array,
    mode: SQLMode,
    only: Collection[int] | None = None,
    rows: Numbers | None = None,
) -> ImageValues:
    """Return the values of images of one table; columns that no image has are not in ``values``.

    :param images: structs, maps or JSON texts; NULL: there is no image.
    :param only: offsets of the columns that are read; None: all.
    :param rows: the numbers of the images that are read; None: all.
    :raises ScenarioError: for a column that the table does not have, and for a value that does not fit.
    """
    return _image_values(table, images, partial(_frame_column, mode=mode), only, rows)


def canonical_values(
    table: TableInfo,
    images: pa.Array,
    mode: SQLMode,
    only: Collection[int] | None = None,
    rows: Numbers | None = None,
) -> ImageValues:
    """Return the values of images of one table, which have canonical values.

    :param images: maps from the names of columns to their values.
    :param mode: with the time zone of TIMESTAMP values.
    :param only: as of ``image_values``, like ``rows``.
    :raises ScenarioError: as ``image_values``.
    """
    return _image_values(table, images, partial(_canonical_column, mode=mode), only, rows)


def _canonical_column(column: ColumnInfo, values: Any, mode: SQLMode) -> pa.Array:
    """Return canonical values of a frame as they are stored; columns of NULL alone may have any type."""
    is_array = isinstance(values, pa.Array)
    if is_array and values.null_count == len(values):
        return pa.nulls(len(values), pa.binary())
    if not is_array or not any(is_bytes(values.type) for is_bytes in _BYTES):
        raise ScenarioError(f"the value of column {column.name!r} is not bytes", column=column.name)
    return stored_values(column, values.cast(pa.binary()), mode)


_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)


def _image_values(
    table: TableInfo,
    images: pa.Array,
    convert: Callable[[ColumnInfo, Any], pa.Array],
    only: Collection[int] | None,
    rows: Numbers | None,
) -> ImageValues:
    offsets = table.visible_offsets
    values: dict[int, pa.Array] = {}
    missing: dict[int, Flags] = {}
    exists = images.is_valid().to_numpy(zero_copy_only=False)
    if rows is not None:
        exists = exists[rows]
    for name, column, has in _columns(images, rows):
        offset = offsets.get(name.lower())
        if offset is None:
            if column.null_count < len(exists):
                what = f"table {table.qualified_name} has no column {name!r}"
                raise ScenarioError(what, column=name, hint=nearest(name, offsets))
            continue
        if only is not None and offset not in only:
            continue
        if offset in values:
            raise ScenarioError(f"two columns for one: {name!r}", column=name)
        values[offset] = convert(table.columns[offset], column)
        if has is not None and (exists & ~has).any():
            missing[offset] = exists & ~has
    for offset in offsets.values():
        if offset not in values and exists.any():
            missing[offset] = exists
    return ImageValues(values, missing)


def _columns(images: pa.Array, rows: Numbers | None) -> Sequence[ImageColumn]:
    """Return the columns of images.

    :param rows: the numbers of the images that are read; None: all.
    """
    kind = images.type
    if pa.types.is_map(kind):
        return map_columns(images, rows)
    if rows is not None:
        images = images.take(pa.array(rows))
    if pa.types.is_struct(kind):
        columns = (
            (kind.field(index).name, pc.struct_field(images, index)) for index in range(kind.num_fields)
        )
        return [(name, column, None) for name, column in columns]
    if pa.types.is_null(kind) or images.null_count == len(images):
        return []  # Spark reads a column of NULLs in a Parquet file as INT
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _json_columns(images.cast(pa.string()))
    raise ScenarioError(f"before and after are structs, maps or JSON texts, not {kind}")


_DECODER = msgspec.json.Decoder(dict[str, Any] | None, float_hook=Decimal)
_ABSENT = object()


def _json_columns(images: pa.StringArray) -> Sequence[ImageColumn]:
    texts = pc.fill_null(images, "null").cast(pa.binary()).to_pylist()
    documents = [_document(text) for text in texts]
    names = {name: None for document in documents if document for name in document}
    columns = []
    for name in names:
        cells = [_ABSENT if document is None else document.get(name, _ABSENT) for document in documents]
        has = np.fromiter((cell is not _ABSENT for cell in cells), bool, len(cells))
        columns.append((name, _Cells([None if cell is _ABSENT else cell for cell in cells]), has))
    return columns


def _document(text: bytes) -> dict[str, Any] | None:
    try:
        document: dict[str, Any] | None = _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        cut = text[:300].decode("utf-8", "replace")
        raise ScenarioError(f"an image is no JSON object: {error}: {cut!r}", value=cut) from None
    return document


class _Cells:
    """Values of JSON documents, which have no common type."""

    def __init__(self, cells: list[Any]) -> None:
        self.cells = cells
        self.null_count = sum(cell is None for cell in cells)


def _frame_column(column: ColumnInfo, values: Any, mode: SQLMode) -> pa.Array:
    """Convert a column of a frame to canonical values, as INSERT does; NULL remains NULL.

    :param values: an array of any type, or the cells of JSON documents.
    :raises ScenarioError: for a value that the column rejects.
    """

    def convert(value: object) -> Value:
        return coerce(column, frame_value(column, value, mode), mode)

    if isinstance(values, _Cells):
        return _each_cell(values.cells, convert)
    if pa.types.is_null(values.type) or values.null_count == len(values):
        return pa.nulls(len(values), pa.binary())
    if mode.strict and _is_converted_alike(column, values.type):
        return canonical_column(column, values)
    if mode.strict and pa.types.is_string(values.type):
        numbers = _numbers(column, values)
        if numbers is not None:
            return canonical_column(column, numbers)
    if pa.types.is_nested(values.type) or isinstance(values.type, pa.BaseExtensionType):
        return _each_cell(python_values(values, column.name, numbered=False), convert)
    coded = values.dictionary_encode()
    cells = python_values(coded.dictionary, column.name, numbered=False)
    distinct = pa.array([convert(value) for value in cells], pa.binary())
    return distinct.take(coded.indices)


def _is_converted_alike(column: ColumnInfo, kind: pa.DataType) -> bool:
    """Return whether Arrow's conversion of a type equals that of ``coerce``."""
    code, accepted = column.type, list[bool]()
    if code in INTEGERS:
        accepted = [pa.types.is_integer(kind)]
    elif code == T.NEW_DECIMAL:
        accepted = [pa.types.is_integer(kind), pa.types.is_decimal(kind)]
    elif code in FLOATS:
        accepted = [pa.types.is_integer(kind), pa.types.is_floating(kind)]
    elif code in STRINGS or code in LOBS:
        is_text = pa.types.is_string(kind)
        accepted = [pa.types.is_binary(kind) if column.charset == "binary" else is_text]
    elif code in (T.DATETIME, T.TIMESTAMP):
        accepted = [pa.types.is_timestamp(kind)]
    elif code == T.DATE:
        accepted = [pa.types.is_date32(kind)]
    return any(accepted)


_INTEGER_TEXT = r"^(?:0|-?[1-9][0-9]{0,17})$"
_DECIMAL_TEXT = r"^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?$"


def _numbers(column: ColumnInfo, texts: pa.StringArray) -> pa.Array | None:
    """Return texts as numbers, if all of them are plain ones and the column is one of exact numbers."""
    if column.type in INTEGERS and all_match(texts, _INTEGER_TEXT):
        return texts.cast(pa.int64())
    if column.type == T.NEW_DECIMAL and all_match(texts, _DECIMAL_TEXT):
        return texts.cast(pa.decimal128(38, 18))
    return None


def _each_cell(cells: Sequence[Any], convert: Callable[[object], Value]) -> pa.Array:
    """Convert values one by one, equal ones of one type once."""
    known: dict[tuple[type, object], Value] = {}
    converted: list[Value] = []
    for cell in cells:
        if cell is None:
            converted.append(None)
            continue
        key = (type(cell), cell if isinstance(cell, str | int) else repr(cell))
        if key not in known:
            known[key] = convert(_flat(cell))
        converted.append(known[key])
    return pa.array(converted, pa.binary())


def _flat(cell: object) -> object:
    try:
        return _plain(cell)
    except RecursionError:
        raise ScenarioError("a value of a JSON document is nested too deeply") from None


def _plain(cell: Any) -> Any:
    """Return a cell whose nested numbers are floats: JSON documents have no others."""
    if isinstance(cell, dict):
        return {name: _inner(value) for name, value in cell.items()}
    return [_inner(value) for value in cell] if isinstance(cell, list) else cell


def _inner(cell: Any) -> Any:
    return float(cell) if isinstance(cell, Decimal) else _plain(cell)
