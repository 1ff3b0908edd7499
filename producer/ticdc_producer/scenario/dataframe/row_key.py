"""The row key and the integer handle of a DataFrame's rows, as Spark expressions.

Every function takes a canonical value and returns hexadecimal text, which can be concatenated; ``row_key``
converts the whole text to bytes.

A DataFrame has no hidden row ids. If a table has no clustered primary key, its handle key identifies the row,
in the same encoding, and the integer handle is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import CHARSET_BEARING, INTEGERS, NUMBERED, TYPES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import compares_bytes, pads_space, sort_key

_BYTES, _INT, _UINT, _FLOAT, _DECIMAL, _DURATION = "01", "03", "04", "05", "06", "07"
_GENERAL_CI = {"utf8mb4_general_ci", "utf8_general_ci"}
_SIGN, _TWO_64, _TWO_32 = -(1 << 63), Decimal(1 << 64), Decimal(1 << 32)
_DIGITS, _COMPLEMENTS = "0123456789ABCDEFabcdef", "FEDCBA9876543210543210"
_DOUBLE = r"0x([01])\.([0-9a-f]+)p(-?\d+)"
_LONGEST_DECIMAL = 38


def int_key(number: Column) -> Column:
    """Encode a long with its sign bit flipped, so that the bytes sort like the numbers."""
    return _eight_bytes(number.bitwiseXOR(F.lit(_SIGN)))


def as_signed_long(column: ColumnInfo, value: Column) -> Column:
    """Convert a canonical integer to a long; unsigned values above the signed range become negative."""
    if not (column.unsigned or column.type in NUMBERED):
        return value.cast("string").cast("long")
    number = value.cast("string").cast("decimal(20,0)")
    return F.when(number >= F.lit(Decimal(-_SIGN)), number - F.lit(_TWO_64)).otherwise(number).cast("long")


def encode_part(column: ColumnInfo, value: Column) -> Column:
    """Encode one column of a key.

    :raises UnsupportedSQL: for a column whose sort order is not implemented in Spark.
    """
    text = value.cast("string")
    match TYPES[column.type].key:
        case "integer":
            number = as_signed_long(column, value)
            if column.unsigned or column.type in NUMBERED:
                return _with_flag(_UINT, _eight_bytes(number))
            return _with_flag(_INT, int_key(number))
        case "double":
            return _with_flag(_FLOAT, _ordered_double(text.cast("double")))
        case "decimal":
            return _with_flag(_DECIMAL, _ordered_decimal(column, text))
        case "duration":
            return _with_flag(_DURATION, int_key(_microseconds(text)))
        case "text":
            if column.type in CHARSET_BEARING and column.charset != "binary":
                return _with_flag(_BYTES, memcomparable(_weights(column, text)))
            return _with_flag(_BYTES, memcomparable(value))


def memcomparable(data: Column) -> Column:
    """Encode bytes in groups of 8, each followed by a marker of its padding.

    Source: tidb ``codec.EncodeBytes``.
    """
    rest = F.octet_length(data) % 8
    digits = F.hex(data)
    full = F.left(digits, (F.octet_length(data) - rest) * 2)
    groups = F.regexp_replace(full, "(.{16})", "$1FF")
    return F.concat(groups, F.rpad(F.right(digits, rest * 2), 16, "0"), F.hex(rest + 247))


def _with_flag(flag: str, digits: Column) -> Column:
    return F.concat(F.lit(flag), digits)


def _eight_bytes(number: Column) -> Column:
    # Hot path: Spark's lpad scans characters, and negative numbers have 16 digits already.
    return F.when(number < 0, F.hex(number)).otherwise(F.lpad(F.hex(number), 16, "0"))


def _ordered_double(number: Column) -> Column:
    """Encode the bits of a double in sort order: sign bit set if positive, all bits flipped if negative.

    Java's format ``%a`` is the only way in Spark SQL to get the bits.
    """
    hex_float = F.format_string("%a", number)
    subnormal = F.regexp_extract(hex_float, _DOUBLE, 1) == "0"
    exponent = F.when(subnormal, 0).otherwise(F.regexp_extract(hex_float, _DOUBLE, 3).try_cast("int") + 1023)
    mantissa = F.rpad(F.regexp_extract(hex_float, _DOUBLE, 2), 13, "0")
    positive = F.concat(F.hex(exponent + 2048), mantissa)
    negative = F.concat(F.lpad(F.hex(F.lit(2047) - exponent), 3, "0"), _complement(mantissa))
    return F.when(number < 0, negative).otherwise(positive)


def _ordered_decimal(column: ColumnInfo, text: Column) -> Column:
    """Encode 28 bytes; the last 16 contain the digits, which is enough for Spark's decimals."""
    if column.length > _LONGEST_DECIMAL:
        what = f"DECIMAL with more than {_LONGEST_DECIMAL} digits in a key is not supported in DataFrames"
        raise UnsupportedSQL(what, column=column.name)
    digits = F.replace(text, F.lit("."), F.lit("")).cast("decimal(38,0)")
    positive = F.concat(F.lit("80" + "00" * 11), _sixteen_bytes(digits))
    negative = F.concat(F.lit("7F" + "FF" * 11), _complement(_sixteen_bytes(F.lit(Decimal(-1)) - digits)))
    return F.when(digits < 0, negative).otherwise(positive)


def _sixteen_bytes(number: Column) -> Column:
    limbs: list[Column] = []
    for _ in range(4):
        limb = number % F.lit(_TWO_32)
        limbs.insert(0, F.lpad(F.hex(limb.cast("long")), 8, "0"))
        number = ((number - limb) / F.lit(_TWO_32)).cast("decimal(38,0)")  # an exact division
    return F.concat(*limbs)


def _complement(digits: Column) -> Column:
    return F.translate(digits, _DIGITS, _COMPLEMENTS)


def _microseconds(text: Column) -> Column:
    hours, minutes, seconds = (F.get(F.split(F.ltrim(text, F.lit("-")), ":"), part) for part in range(3))
    whole = (hours.cast("long") * 3600 + minutes.cast("long") * 60) * 1_000_000
    total = whole + (seconds.cast("decimal(8,6)") * 1_000_000).cast("long")
    return F.when(F.startswith(text, F.lit("-")), -total).otherwise(total)


def _weights(column: ColumnInfo, text: Column) -> Column:
    collation = column.collation
    if not (compares_bytes(collation) or collation in _GENERAL_CI):
        return _computed_weights(collation, text)
    stripped = F.rtrim(text) if pads_space(collation) else text
    if compares_bytes(collation):
        return stripped.cast("binary")
    folded = F.translate(stripped, *_general_ci_folding())
    # All characters beyond the BMP are equal.
    return F.encode(F.regexp_replace(folded, r"[\x{10000}-\x{10FFFF}]", "\ufffd"), "UTF-16BE")


def _computed_weights(collation: str, text: Column) -> Column:
    """Compute the sort key in Python: the tables of these collations are too large for an expression."""

    def keys(texts: pa.Array) -> pa.Array:
        weights = (None if text is None else sort_key(text.encode(), collation) for text in texts.to_pylist())
        return pa.array(weights, pa.binary())

    return arrow_udf(keys, "binary")(text)  # type: ignore[call-overload,no-any-return]  # its stubs miss closures


@lru_cache
def _general_ci_folding() -> tuple[str, str]:
    """Return the characters whose weight is another character, and their weights, for ``translate``."""
    characters = [chr(code) for code in range(0x10000) if not 0xD800 <= code <= 0xDFFF]
    weights = {
        character: sort_key(character.encode(), "utf8mb4_general_ci").decode("utf-16-be")
        for character in characters
        if character != " "
    }
    folded = [(character, weight) for character, weight in weights.items() if character != weight]
    return "".join(pair[0] for pair in folded), "".join(pair[1] for pair in folded)


@dataclass(frozen=True, slots=True)
class StoredKey:
    """The key that identifies a row.

    :param integer: whether the key is an integer handle: a clustered primary key of one integer column.
    """

    table: TableInfo
    index: IndexInfo
    integer: bool

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets of its columns."""
        return self.index.offsets

    def row_key(self, values: Mapping[int, Column]) -> Column:
        """Encode the row key, as binary, as ``model.row_key`` does.

        :param values: canonical values by offset.
        :raises UnsupportedSQL: for a key that has no encoding in the JVM.
        """
        if self.integer:
            return F.unhex(int_key(self.row_id(values)))
        lengths = self.index.lengths or (-1,) * len(self.offsets)
        columns = self.table.columns
        parts = [
            encode_part(columns[offset], _prefix(columns[offset], values[offset], length))
            for offset, length in zip(self.offsets, lengths, strict=True)
        ]
        return F.unhex(F.concat(*parts))

    def row_id(self, values: Mapping[int, Column]) -> Column:
        """Return the integer handle, 0 if there is none; a BIGINT UNSIGNED may become negative."""
        first = self.offsets[0]
        return (
            as_signed_long(self.table.columns[first], values[first])
            if self.integer
            else F.lit(0).cast("long")
        )


def stored_key(table: TableInfo) -> StoredKey:
    """Return the key of a table's rows.

    :raises ScenarioError: if the table has no key.
    """
    index = table.clustered_key or table.handle_index
    if index is None:
        what = f"table {table.qualified_name} has no primary key and no unique index without NULLs"
        raise ScenarioError(what, hint="rows of a DataFrame are identified by their key")
    first = table.columns[index.offsets[0]]
    integer = index is table.clustered_key and len(index.offsets) == 1 and first.type in INTEGERS
    return StoredKey(table, index, integer)


def _prefix(column: ColumnInfo, value: Column, length: int) -> Column:
    """Return the part of a value that a prefix index stores: characters of text, bytes of other values."""
    if length < 0:
        return value
    whole = value if column.charset == "binary" else value.cast("string")
    return F.substring(whole, 1, length).cast("binary")
