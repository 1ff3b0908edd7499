"""The tables of frames: with plain types, of which each value has one form, and with columns by name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import cast

import pyarrow as pa

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.values.coerce import STRICT, sql_value
from ticdc_producer.model.values.sql_value import DateTimeValue, SQLValue


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table in one chunk, without the metadata of its library, and with plain types.

    :raises ScenarioError: for a time that microseconds do not hold, for an unknown time zone, and for a type
        that Arrow cannot convert.
    """
    schema = plain_schema(table.schema)
    try:
        columns = [_with_plain_dictionary(column) for column in table.columns]
        return pa.table(columns, table.column_names).cast(schema).combine_chunks()
    except pa.ArrowNotImplementedError as error:  # a type that Arrow cannot cast, such as a union
        raise ScenarioError(f"the DataFrame has a column that cannot be read: {error}") from None
    except pa.ArrowInvalid as error:
        what = f"a time is out of range, or has more than 6 fractional digits: {error}"
        raise ScenarioError(what, hint="round it to microseconds") from None


def with_empty_nulls(table: pa.Table) -> pa.Table:
    """Return a table without the values that Arrow's arrays may have behind a NULL, and Parquet has not.

    :param table: a result of ``plain_table``.
    """
    return pa.table([_with_empty_nulls(column.combine_chunks()) for column in table.columns], table.schema)


def _with_empty_nulls(values: pa.Array) -> pa.Array:
    """Return an array whose NULLs are empty, at every depth of structs.

    >>> hidden = pa.StructArray.from_arrays([pa.array([1, 2])], ["a"], mask=pa.array([False, True]))
    >>> _with_empty_nulls(hidden).field("a").to_pylist()
    [1, None]
    """
    if not values.null_count and not pa.types.is_struct(values.type):
        return values
    if pa.types.is_struct(values.type) and values.type.num_fields:
        members = [_with_empty_nulls(member) for member in values.flatten()]
        return pa.StructArray.from_arrays(members, fields=[*values.type], mask=values.is_null())
    return values.take(pa.array(range(len(values)), pa.int64()))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return columns without metadata, and with plain types.

    :raises ScenarioError: for an unknown time zone, and for values of several types in a column.
    """
    for field in schema:
        if _has_union(field.type):
            what = f"column {field.name!r} has values of several types: {field.type}"
            raise ScenarioError(what, column=field.name, hint="give each column values of one type")
    plain = pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])
    for field in plain:
        if pa.types.is_timestamp(field.type) and field.type.tz:
            _check_zone(field)
    return plain


def _has_union(kind: pa.DataType) -> bool:
    """Return whether a type is a union, at any depth: Arrow's functions end the process for some."""
    parts = (kind.field(number).type for number in range(kind.num_fields))
    return bool(pa.types.is_union(kind)) or (pa.types.is_nested(kind) and any(map(_has_union, parts)))


def _check_zone(field: pa.Field) -> None:
    try:
        pa.scalar(0, field.type).as_py()
    except LookupError:
        what = f"column {field.name!r} has an unknown time zone: {field.type.tz!r}"
        raise ScenarioError(what, column=field.name, hint="such as UTC, Asia/Tokyo or +09:00") from None


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return a type with times in microseconds, and without views and dictionaries, at every depth of structs
    and maps.
    """
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_time64(kind):
        return pa.time64("us")
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        return pa.struct([pa.field(field.name, _plain_type(field.type)) for field in fields])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_field, kind.item_field.with_type(_plain_type(kind.item_type)))
    return kind


def _with_plain_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose dictionary has no views: Arrow cannot decode those of Polars."""
    if not pa.types.is_dictionary(column.type):
        return column
    values = _plain_type(column.type.value_type)
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(values))
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, values))


def python_values(values: pa.Array | pa.ChunkedArray, name: str, *, numbered: bool = True) -> list[object]:
    """Return the values of a column as those of Python; dates of the year 0 as SQL values.

    :param name: of the column, for errors.
    :param numbered: whether a position in ``values`` is the number of a row.
    :raises ScenarioError: for the first value that Python does not have, such as a time after the year 9999.
    """
    with suppress(*_NOT_OF_PYTHON):
        return cast(list[object], values.to_pylist())
    cells: list[object] = []
    try:
        for value in values:
            cells.append(_python_value(value))
    except _NOT_OF_PYTHON as error:
        row = f", in row {len(cells)}"
        what = f"column {name!r} has a value that cannot be read{row if numbered else ''}: {error}"
        raise ScenarioError(what, column=name) from None
    return cells


_NOT_OF_PYTHON = (ArithmeticError, LookupError, ValueError, pa.ArrowException)


def _python_value(value: pa.Scalar) -> object:
    """Return a value, at any depth of structs and maps."""
    kind = value.type
    if not value.is_valid:
        return None
    if pa.types.is_struct(kind):
        return {name: _python_value(member) for name, member in value.items()}
    if pa.types.is_map(kind):
        return [tuple(map(_python_value, entry.values())) for entry in value.values]
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _date(value)
    return value.as_py()


def _date(value: pa.Scalar) -> object:
    try:
        return value.as_py()
    except _NOT_OF_PYTHON:
        first = _of_year_0(value)
        if first is None:
            raise
        return first


def _of_year_0(value: pa.Scalar) -> SQLValue:
    """Return a date of the year 0, which Python does not have; None for other dates.

    The calendar repeats itself after 400 years. A time zone can move the date into the year 1.
    """
    number = value.value + _DAYS_OF_400_YEARS * _UNITS_OF_A_DAY.get(value.type, _MICROSECONDS_OF_A_DAY)
    with suppress(*_NOT_OF_PYTHON):
        later = pa.scalar(number, value.type).as_py()
        clock = later.replace(tzinfo=None) if isinstance(later, datetime) else later
        if clock.year in (400, 401):
            return replace(cast(DateTimeValue, sql_value(clock, STRICT)), year=clock.year - 400)
    return None


_DAYS_OF_400_YEARS = 146_097
_MICROSECONDS_OF_A_DAY = 86_400_000_000
_UNITS_OF_A_DAY = {pa.date32(): 1, pa.date64(): 86_400_000}


def _is_of_python(value: pa.Scalar) -> bool:
    try:
        value.as_py()
    except _NOT_OF_PYTHON:
        return False
    return True


def values_of_row(row: pa.RecordBatch) -> dict[str, object]:
    """Return the values of a batch of one row, for messages, without those that Python does not have."""
    cells = ((name, column[0]) for name, column in zip(row.schema.names, row.columns, strict=True))
    return {name: cell.as_py() for name, cell in cells if _is_of_python(cell)}


class FrameColumns:
    """The columns of a frame, which are found by their names without case.

    :raises ScenarioError: for two columns with one name.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._names: dict[str, str] = {}
        for name in table.column_names:
            if name.lower() in self._names:
                raise ScenarioError(f"column {name!r} is not unique", column=name)
            self._names[name.lower()] = name

    def has(self, name: str) -> bool:
        return name.lower() in self._names

    def check_names(self, known: Sequence[str]) -> None:
        """Refuse a column that is none of the known ones."""
        for lower, name in self._names.items():
            if lower not in known:
                what = f"column {name!r} of the DataFrame is unknown"
                raise ScenarioError(what, column=name, hint=nearest(name, known))

    def values(self, name: str) -> list[object]:
        if not self.has(name):
            what = f"the DataFrame has no column {name!r}"
            raise ScenarioError(what, column=name, hint=nearest(name, self._table.column_names))
        return python_values(self._table.column(self._names[name.lower()]), name)

    def images(self, name: str) -> list[object]:
        """Return the images of a column: structs, maps or JSON texts."""
        values, kind = self.values(name), self._table.schema.field(self._names[name.lower()]).type
        has_names = pa.types.is_struct(kind) or (pa.types.is_map(kind) and _is_text(kind.key_type))
        if pa.types.is_nested(kind) and not has_names:
            raise ScenarioError(f"{name!r} is a struct, a map or a JSON text, not {kind}", column=name)
        return values

    def texts(self, name: str) -> list[object]:
        values, kind = self.values(name), self._table.schema.field(self._names[name.lower()]).type
        if not (_is_text(kind) or pa.types.is_null(kind)):
            raise ScenarioError(f"the operation must be text, not {kind}", column=name)
        return values

    def integers(self, name: str) -> list[int]:
        """Return the numbers of a column; NULL is refused."""
        values, kind = self.values(name), self._table.schema.field(self._names[name.lower()]).type
        if not pa.types.is_integer(kind):
            raise ScenarioError(f"order column {name!r} must be an integer column, not {kind}", column=name)
        if None in values:
            raise ScenarioError(f"{name!r} is NULL, in row {values.index(None)}", column=name)
        return cast(list[int], values)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
