"""Canonical values of string and byte columns as Spark expressions, by the rules of ``model.coerce_text``."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from ticdc_producer.model.collation import in_charset
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import LOBS, MySQLType
from ticdc_producer.scenario.dataframe.refusal import reject_value

T = MySQLType


def character_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """CHAR, VARCHAR and the TEXT family: checked against charset and length; CHAR loses its padding."""
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
    """BINARY, VARBINARY and the BLOB family; BINARY(n) is padded with zero bytes."""
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
    """A Java regex class of the characters of a charset; empty if no character needs to be checked.

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
