"""The tables of frames: with plain types, of which each value has one form, and with columns by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pyarrow as pa

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table in one chunk, without the metadata of its library, and with plain types.

    :raises ScenarioError: for a time with more digits than TiDB's types have, and for a type without values
        of TiDB.
    """
    schema = pa.schema([pa.field(field.name, _plain_type(field.type)) for field in table.schema])
    try:
        columns = [_with_plain_dictionary(column) for column in table.columns]
        return pa.table(columns, table.column_names).cast(schema).combine_chunks()
    except pa.ArrowNotImplementedError as error:  # a type that Arrow cannot cast, such as a union
        raise ScenarioError(f"the DataFrame has a column that cannot be read: {error}") from None
    except pa.ArrowInvalid as error:
        what = f"a time has more than 6 fractional digits: {error}"
        raise ScenarioError(what, hint="round it to microseconds") from None


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return a type with microseconds in place of nanoseconds, and without views and dictionaries, at every
    depth of structs.
    """
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return pa.time64("us")
    if pa.types.is_duration(kind) and kind.unit == "ns":
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
        values: list[object] = self._table.column(self._names[name.lower()]).to_pylist()
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
