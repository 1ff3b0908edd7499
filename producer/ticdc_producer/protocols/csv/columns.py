"""Columns of a table as its schema file describes them, and how their fields read.

A line of CSV tells no types: it is read with the schema file of its directory. That does not tell which
generated columns are stored nowhere, and so in no line.
"""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.model.event import Value
from ticdc_producer.protocols.csv.records import CSVField
from ticdc_producer.protocols.storage.schema_file import SchemaFile
from ticdc_producer.protocols.value_parsers import BadValue, reader_of

_UNQUOTED = ("tinyint", "smallint", "mediumint", "int", "bigint", "float", "double", "bit", "year")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json")
FieldReader: TypeAlias = Callable[[CSVField], Value]
"""A field to the canonical value; raises ``BadValue``."""


@dataclass(frozen=True, slots=True)
class CSVColumn:
    """One column.

    :param type: SQL type without parameters, as ``int unsigned``.
    :param primary: whether it is of the primary key.
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


def field_reader(column: CSVColumn, *, quotes: bool, binary_encoding: str) -> FieldReader:
    """How fields of a column read.

    :param quotes: whether texts are quoted.
    :param binary_encoding: ``base64`` or ``hex``.
    :raises BadValue: for a type that is none.
    """
    name = column.type.split(" ")[0]
    quoted = quotes and name not in _UNQUOTED
    read = _reader(name, column.type, binary_encoding)

    def value(field: CSVField) -> Value:
        if field.text is None:
            return None
        if field.quoted != quoted:
            raise BadValue("QUOTE", "quotes around it" if quoted else "no quotes around it")
        return read(field.text)

    return value


def _reader(name: str, kind: str, binary_encoding: str) -> Callable[[bytes], bytes]:
    if name in _TEXTS:
        return lambda text: text
    if name in _BYTES:
        return _base64 if binary_encoding == "base64" else _hex
    typed = reader_of(name if name in ("bit", "year") else kind)
    floating = name in ("float", "double")

    def read(text: bytes) -> bytes:
        try:
            plain = text.decode("ascii")
        except UnicodeDecodeError:
            raise BadValue("VALUE", "ASCII") from None
        # Go writes an exponent as e+06, and our reader of numbers takes E6.
        return typed(plain.replace("e+0", "E").replace("e+", "E").replace("e", "E") if floating else plain)

    return read


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
