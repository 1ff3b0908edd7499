"""Tables of any library as tables of plain types, of which each value has one form."""

from __future__ import annotations

import pyarrow as pa

from ticdc_producer.errors import ScenarioError


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
