"""Strict decoder of CSV: every malformed line raises a ``DecodeError`` with its byte offset.

A line of CSV contains no types: it is read with the schema file of its directory. A schema file does not
show which generated columns are virtual and therefore missing in the lines.
"""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import Event, EventColumn, Image, Op, RowEvent, Value
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType, type_names
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.csv.options import CSVField, CSVOptions, CSVRecords
from ticdc_producer.protocols.storage_files import SchemaFile
from ticdc_producer.protocols.value_parsers import parser_for

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
    """Return the columns of a schema file."""
    return tuple(_described(name, dict(members)) for name, members in file.columns)


def _described(name: str, members: Mapping[str, bytes]) -> CSVColumn:
    kind = str(json.loads(members["ColumnType"])).lower()
    return CSVColumn(name, kind, members.get("ColumnIsPk") == b'"true"')


def field_parser(column: CSVColumn, *, quotes: bool, binary_encoding: str) -> FieldParser:
    """Return the parser of a column's fields.

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
            raise BadValue("quotes around it" if quoted else "no quotes around it", "QUOTE")
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
            raise BadValue("ASCII", "VALUE") from None
        # Go writes an exponent as e+06; parser_for expects E6.
        return parse_typed(
            plain.replace("e+0", "E").replace("e+", "E").replace("e", "E") if floating else plain
        )

    return parse


def _base64(text: bytes) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise BadValue("Base64", "BASE64") from None


def _hex(text: bytes) -> bytes:
    try:
        return bytes.fromhex(text.decode("ascii"))
    except ValueError:
        raise BadValue("pairs of hexadecimal digits", "HEX") from None


_OPS = {b"I": Op.INSERT, b"U": Op.UPDATE, b"D": Op.DELETE}
_FLAGS = {b"true": True, b"false": False}
_PRIMARY = int(ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY)
_NAMES = 3


@dataclass(frozen=True, slots=True)
class _Table:
    columns: tuple[EventColumn, ...]
    parsers: tuple[FieldParser, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    op: Op
    table: str
    schema: str
    commit_ts: int
    of_update: bool
    image: Image


class CSVDecoder:
    """A decoder of lines to events.

    :param tables: version directory (``SCHEMA/TABLE/VERSION``) to the columns of its lines.
    """

    def __init__(self, options: CSVOptions, tables: Mapping[str, Sequence[CSVColumn]]) -> None:
        self._options, self._tables = options, tables
        self._records = CSVRecords(options)
        self._known: dict[bytes, _Table] = {}

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """Yield the events of consecutive lines, in order; with old values an update has two lines.

        :param key: the version directory.
        :raises DecodeError: if these are not lines of this format.
        """
        table = self._table(key or b"")
        lines = (self._line(record, table) for record in self._records.split(value or b""))
        for line in lines:
            old = None
            if self._options.output_old_value and line.of_update:
                old, new = line, next(lines, None)
                if old.op != Op.DELETE or new is None or new.op != Op.INSERT or not new.of_update:
                    raise _error("PAIR", "an update as D and I")
                line = new
            yield _event(line, old, table)

    def _table(self, key: bytes) -> _Table:
        known = self._known.get(key)
        if known is None:
            try:
                columns = self._tables.get(key.decode())
            except UnicodeDecodeError:
                columns = None
            if columns is None:
                raise DecodeError("CSV-TABLE", "a directory that a schema file describes", part="key", byte=0)
            known = self._known[key] = self._compile(columns)
        return known

    def _compile(self, columns: Sequence[CSVColumn]) -> _Table:
        options = self._options
        try:
            parsers = tuple(
                field_parser(
                    column, quotes=bool(options.quote), binary_encoding=options.binary_encoding_method
                )
                for column in columns
            )
        except BadValue as bad:
            raise DecodeError(f"CSV-{bad.code}", bad.expected, part="key", byte=0) from None
        event_columns = [
            EventColumn(column.name, column.type, _PRIMARY * column.primary) for column in columns
        ]
        return _Table(tuple(event_columns), parsers)

    def _line(self, record: bytes, table: _Table) -> _Line:
        fields, options = self._records.fields(record), self._options
        head = _NAMES + options.include_commit_ts + options.output_old_value + options.writes_handle
        if len(fields) != head + len(table.columns):
            raise _error("FIELDS", f"{head + len(table.columns)} fields")
        fields[:head] = map(self._records.present, fields[:head])
        op, name, schema = (self._name(field) for field in fields[:_NAMES])
        if op not in _OPS:
            raise _error("OP", "I, U or D")
        rest = iter(fields[_NAMES:head])
        commit_ts = _commit_ts(next(rest)) if options.include_commit_ts else 0
        of_update = _flag(next(rest)) if options.output_old_value else False
        return _Line(_OPS[op], _text(name), _text(schema), commit_ts, of_update, _image(fields[head:], table))

    def _name(self, field: CSVField) -> bytes:
        if field.text is None or field.quoted != bool(self._options.quote):
            raise _error("NAME", "a text")
        return field.text


def _event(line: _Line, old: _Line | None, table: _Table) -> RowEvent:
    return RowEvent(
        commit_ts=line.commit_ts,
        schema=line.schema,
        table=line.table,
        op=line.op if old is None else Op.UPDATE,
        columns=table.columns,
        before=line.image if line.op == Op.DELETE else None if old is None else old.image,
        after=None if line.op == Op.DELETE else line.image,
    )


def _image(fields: Sequence[CSVField], table: _Table) -> Image:
    image = {}
    for column, parse, field in zip(table.columns, table.parsers, fields, strict=True):
        try:
            image[column.name] = parse(field)
        except BadValue as bad:
            raise _error(bad.code, f"{bad.expected} in column {column.name!r}") from None
    return image


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise _error("NAME", "UTF-8") from None


def _commit_ts(field: CSVField) -> int:
    text = field.text or b""
    if field.quoted or not text.isdigit() or len(text) > len(str(MAX_TS)) or int(text) > MAX_TS:
        raise _error("TS", "a TSO")
    return int(text)


def _flag(field: CSVField) -> bool:
    if field.quoted or field.text not in _FLAGS:
        raise _error("FLAG", "true or false")
    return _FLAGS[field.text]


def _error(code: str, expected: str) -> DecodeError:
    return DecodeError(f"CSV-{code}", expected, part="value", byte=0)
