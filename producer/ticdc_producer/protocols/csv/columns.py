"""The columns that a schema file describes, and the parsers of their fields.

A line of CSV contains no types: it is read with the schema file of its directory. A schema file does not
show which generated columns are virtual and therefore missing in the lines.
"""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType, type_names
from ticdc_producer.protocols.csv.records import CSVField
from ticdc_producer.protocols.storage.schema_file import SchemaFile
from ticdc_producer.protocols.value_parsers import BadValue, parser_for

T = MySQLType
_UNQUOTED = type_names(INTEGERS | FLOATS | {T.BIT, T.YEAR})
_BYTES = type_names(STRINGS | LOBS, binary=True)
_TEXTS = type_names(STRINGS | LOBS | {T.ENUM, T.SET, T.JSON}, binary=False)
FieldParser: TypeAlias = Callable[[CSVField], Value]
"""Turns a field into the canonical value; raises ``BadValue``."""


@dataclass(frozen=True, slots=True)
class CSVColumn:
    """One column.

    :param type: SQL type without parameters, for example ``int unsigned``.
    :param primary: whether it belongs to the primary key.
    """

    name: str
    type: str
    primary: bool = False


def described_columns(file: SchemaFile) -> tuple[CSVColumn, ...]:
    """The columns of a schema file."""
    return tuple(_described(name, dict(members)) for name, members in file.columns)


def _described(name: str, members: Mapping[str, bytes]) -> CSVColumn:
    kind = str(json.loads(members["ColumnType"])).lower()
    return CSVColumn(name, kind, members.get("ColumnIsPk") == b'"true"')


def field_parser(column: CSVColumn, *, quotes: bool, binary_encoding: str) -> FieldParser:
    """The parser of a column's fields.

    :param quotes: whether texts are quoted.
    :param binary_encoding: ``base64`` or ``hex``.
    :raises BadValue: for an unknown type.
    """
    name = column.type.split(" ")[0]
    quoted = quotes and name not in _UNQUOTED
    parse = _text_parser(name, column.type, binary_encoding)

    def value(field: CSVField) -> Value:
        if field.text is None:
            return None
        if field.quoted != quoted:
            raise BadValue("QUOTE", "quotes around it" if quoted else "no quotes around it")
        return parse(field.text)

    return value


def _text_parser(name: str, kind: str, binary_encoding: str) -> Callable[[bytes], bytes]:
    if name in _TEXTS:
        return lambda text: text
    if name in _BYTES:
        return _base64 if binary_encoding == "base64" else _hex
    parse_typed = parser_for(name if name in ("bit", "year") else kind)
    floating = name in ("float", "double")

    def parse(text: bytes) -> bytes:
        try:
            plain = text.decode("ascii")
        except UnicodeDecodeError:
            raise BadValue("VALUE", "ASCII") from None
        # Go writes an exponent as e+06; parser_for expects E6.
        return parse_typed(
            plain.replace("e+0", "E").replace("e+", "E").replace("e", "E") if floating else plain
        )

    return parse


def _base64(text: bytes) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise BadValue("BASE64", "Base64") from None


def _hex(text: bytes) -> bytes:
    try:
        return bytes.fromhex(text.decode("ascii"))
    except ValueError:
        raise BadValue("HEX", "pairs of hexadecimal digits") from None
