"""Canonical values of string, byte, ENUM, SET and JSON columns as Spark expressions.

A name must be written as in the definition, except for trailing spaces. SQL also accepts names that are equal
under the column's collation, and digits in text.

TiDB sorts members, writes a space after separators and has its own format of doubles, at every depth.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from itertools import groupby

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType, StringType

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import LOBS, MySQLType
from ticdc_producer.model.values.collation import in_charset, pads_space
from ticdc_producer.model.values.json_document import json_text
from ticdc_producer.model.values.sql_value import value_error
from ticdc_producer.spark.spark_errors import reject_value

T = MySQLType


def character_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """Check a value of CHAR, VARCHAR or the TEXT family: charset and length; CHAR loses its padding."""
    fitted = value
    too_long = F.lit(False)
    if column.length >= 0 and column.type in LOBS:
        too_long = F.octet_length(value) > column.length
    elif column.length >= 0:
        fitted = F.left(value, F.lit(column.length))
        # Spaces beyond the length are cut without an error.
        too_long = F.length(F.rtrim(value)) > column.length
    unit = "bytes" if column.type in LOBS else "characters"
    what = f"Data too long (at most {column.length} {unit})"
    return (
        F.when(~_in_charset(column, value), _wrong_charset(column, value))
        .when(too_long, reject_value(column, value, what))
        .otherwise(F.rtrim(fitted) if column.type == T.STRING else fitted)
    )


def byte_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """Check a value of BINARY, VARBINARY or the BLOB family; BINARY(n) is padded with zero bytes."""
    if column.length < 0:
        return value
    padded = F.rpad(value, F.lit(column.length), F.lit(b"\0")) if column.type == T.STRING else value
    what = f"Data too long (at most {column.length} bytes)"
    too_long = F.octet_length(value) > column.length
    return F.when(too_long, reject_value(column, F.lower(F.hex(value)), what)).otherwise(padded)


def _wrong_charset(column: ColumnInfo, value: Column) -> Column:
    return reject_value(column, F.make_valid_utf8(value), f"Incorrect string value ({column.charset})")


def _in_charset(column: ColumnInfo, value: Column) -> Column:
    valid = F.is_valid_utf8(value)
    members = _character_class(column.charset)
    return valid & value.rlike(f"^[{members}]*\\z") if members else valid


@lru_cache
def _character_class(charset: str) -> str:
    """Return a Java regex class of the characters of a charset; empty if no character needs to be checked.

    latin1 is not checked, as in TiDB; utf8 has up to three bytes per character.
    """
    if charset == "utf8":
        return r"\x{0}-\x{FFFF}"
    if charset not in ("ascii", "gbk"):
        return ""
    characters = (code for code in range(0x10000) if not 0xD800 <= code <= 0xDFFF)
    known = [code for code in characters if in_charset(chr(code), charset)]
    runs = [list(run) for _, run in groupby(enumerate(known), key=lambda numbered: numbered[1] - numbered[0])]
    return "".join(rf"\x{{{run[0][1]:X}}}-\x{{{run[-1][1]:X}}}" for run in runs)


def enum_text(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    """Convert a member's name, or its number from 1, to ENUM."""
    number = value
    if isinstance(kind, StringType):
        number = F.array_position(F.lit(list(column.elements)), _name(column, value))
    fits = number.between(1, len(column.elements))
    what = "Data truncated: no such ENUM member"
    return F.when(fits, number.cast("string")).otherwise(reject_value(column, value, what))


def set_text(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    """Convert names separated by commas, or the bits as a number, to SET."""
    if isinstance(kind, StringType):
        return _set_of_names(column, value)
    highest = F.lit(Decimal((1 << len(column.elements)) - 1))
    fits = value.between(F.lit(0), highest)
    what = "Data truncated: no such SET members"
    return F.when(fits, value.cast("string")).otherwise(reject_value(column, value, what))


def _set_of_names(column: ColumnInfo, value: Column) -> Column:
    none = F.lit([]).cast("array<string>")
    names = F.transform(
        F.when(value == "", none).otherwise(F.split(value, ",")), lambda name: _name(column, name)
    )
    bits = F.lit([Decimal(1 << index) for index in range(len(column.elements))])

    def with_member(sum_: Column, name: Column) -> Column:
        index = F.array_position(F.lit(list(column.elements)), name).cast("int") - 1
        return (sum_ + F.get(bits, index)).cast("decimal(20,0)")  # NULL for an unknown name

    number = F.aggregate(F.array_distinct(names), F.lit(0).cast("decimal(20,0)"), with_member)
    what = "Data truncated: no such SET member"
    return F.coalesce(number.cast("string"), reject_value(column, value, what))


def _name(column: ColumnInfo, value: Column) -> Column:
    return F.rtrim(value) if pads_space(column.collation) else value


def json_texts(documents: pa.Array, column: str = "") -> pa.Array:
    """Print documents as TiDB prints them, as binary.

    :param column: name of the column, for the message.
    :raises ScenarioError: for text that is not JSON.
    """
    return pa.array([_text(document, column) for document in documents.to_pylist()], pa.binary())


def json_column(document: Column, column: str) -> Column:
    """Apply ``json_texts`` as a Spark expression; ``document`` is a string."""

    def texts(documents: pa.Array) -> pa.Array:
        return json_texts(documents, column)

    return arrow_udf(texts, "binary")(document)  # type: ignore[call-overload,no-any-return]  # its stubs miss closures


def _text(document: str | None, column: str) -> bytes | None:
    if document is None:
        return None
    try:
        return json_text(document).encode()
    except ValueError as error:
        raise value_error(column, document, f"Invalid JSON text ({error})") from error
