"""The files of TiCDC's storage sink: their paths below the sink's folder, and the content of schema files.

A schema file has the definition of a table after a DDL, and the DDL. Source: tiflow
``pkg/sink/cloudstorage/path.go``, ``pkg/sink/cloudstorage/table_definition.go``, ticdc
``pkg/cloudstorage/generator.go``, ``pkg/cloudstorage/schema_file.go``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

import pyarrow as pa

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    WITH_FSP,
    MySQLType,
    bare_name,
    default_length,
)
from ticdc_producer.model.mysql_type import STRINGS as TEXTS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.member_text import stored_bits, stored_default

T = MySQLType
_FORMAT = 1
MAX_COLUMNS = 4096
"""TiDB's maximum number of columns in a table."""
_WITH_LENGTH = INTEGERS | TEXTS | LOBS | {T.BIT, T.YEAR}
_OWN_NAMES = {T.UNSPECIFIED: "UNSPECIFIED", T.VAR_STRING: "VAR_STRING"}
"""Types of view columns and of indexed expressions; their names do not depend on the charset."""
Members = list[tuple[str, bytes]]
"""Members of a JSON object: name, and value as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """One schema file.

    :param schema: the database.
    :param table: the table; empty for DDL of a database.
    :param version: TSO of the DDL; names the directory of the rows after it.
    :param query: text of the DDL; empty if the file is written only because of data.
    :param type: TiDB's action code of the DDL; 0 if the file is written only because of data.
    :param columns: name and JSON members of each column, in table order, including virtual and hidden ones.
    """

    schema: str
    table: str
    version: int
    query: str = ""
    type: int = 0
    columns: tuple[tuple[str, Members], ...] = ()

    @property
    def content(self) -> bytes:
        """The text of the file."""
        return _indented(
            [
                *self._names(),
                ("Version", b"%d" % _FORMAT),
                ("TableVersion", b"%d" % self.version),
                ("Query", STRINGS.literal(self.query)),
                ("Type", b"%d" % self.type),
                *_columns_members(self.columns, b"null"),
            ]
        )

    @property
    def checksum(self) -> int:
        """CRC-32 of the table without the DDL, columns sorted by name: equal if a DDL changes no column."""
        by_name = sorted(self.columns, key=lambda column: column[0].encode())
        # Without columns, Go marshals an empty list here, but a nil list in the file.
        return crc32(_indented([*self._names(), ("Version", b"0"), *_columns_members(by_name, b"[]")]))

    def _names(self) -> Members:
        return [("Table", STRINGS.literal(self.table)), ("Schema", STRINGS.literal(self.schema))]


def _columns_members(columns: Sequence[tuple[str, Members]], none: bytes) -> Members:
    """Return the members that describe the columns.

    :param none: text of a list without columns.
    """
    listed = array([_indented(members, 2) for _, members in columns], 1) or none
    return [("TableColumns", listed), ("TableColumnsTotal", b"%d" % len(columns))]


def schema_file(
    table: TableInfo, version: int, query: str = "", ddl_type: int = 0, *, column_ids: bool = False
) -> SchemaFile:
    """Return the schema file of a table version.

    :param version: TSO of the DDL that created or dropped it.
    :param column_ids: whether columns contain their ids (``output-column-id``).
    """
    described = zip(table.columns, table.flags, strict=True)
    elements = table.profile == "new"
    columns = tuple(
        (column.name, list(_members(column, flag, column_ids=column_ids, elements=elements)))
        for column, flag in described
    )
    return SchemaFile(
        schema=table.schema, table=table.name, version=version, query=query, type=ddl_type, columns=columns
    )


def _members(
    column: ColumnInfo, flag: int, *, column_ids: bool, elements: bool
) -> Iterator[tuple[str, bytes]]:
    """Yield the members of a column; Go omits empty ones."""
    if column_ids:
        yield "ColumnId", b'"%d"' % column.id
    yield "ColumnName", STRINGS.literal(column.name)
    yield "ColumnType", STRINGS.literal(column_type(column))
    default = _default(column)
    if default is not None:
        yield "ColumnDefault", default
    length = default_length(column.type) if column.length < 0 else column.length
    if column.type in _WITH_LENGTH | FLOATS | {T.NEW_DECIMAL}:
        yield "ColumnPrecision", b'"%d"' % length
    if column.type == T.NEW_DECIMAL or (column.type in WITH_FSP | FLOATS and column.decimal > 0):
        yield "ColumnScale", b'"%d"' % max(column.decimal, 0)
    if not column.nullable:
        yield "ColumnNullable", b'"false"'
    if flag & ColumnFlag.PRIMARY_KEY:
        yield "ColumnIsPk", b'"true"'
    if elements and column.elements:
        yield "ColumnElems", array([STRINGS.literal(element) for element in column.elements], 3)


def column_type(column: ColumnInfo) -> str:
    """Return a column's type without parameters, in capitals; BIT and YEAR are UNSIGNED, as in TiDB."""
    if column.type in _OWN_NAMES:
        return _OWN_NAMES[column.type]
    name = bare_name(column.type, binary=column.binary, unsigned=False).upper()
    return f"{name} UNSIGNED" if column.unsigned else name


def _default(column: ColumnInfo) -> bytes | None:
    if column.type == T.BIT and column.default is not None:
        return b'"%b"' % STRINGS.escaped(pa.array([stored_bits(column)], pa.binary()))[0].as_py()
    text = stored_default(column)
    return None if text is None else STRINGS.literal(text)


def _indented(members: Members, depth: int = 0) -> bytes:
    """Return an object as Go's ``MarshalIndent`` writes it with four spaces."""
    pad = b"    " * (depth + 1)
    lines = [b'%b"%b": %b' % (pad, name.encode(), value) for name, value in members]
    return b"{\n%b\n%b}" % (b",\n".join(lines), b"    " * depth)


def array(items: Sequence[bytes], depth: int) -> bytes:
    """Return a list as Go indents it; an empty text for a list without items."""
    pad = b"    " * (depth + 1)
    return b"[\n%b\n%b]" % (b",\n".join(pad + item for item in items), b"    " * depth) if items else b""


_REPLACEMENT = "\ufffd".encode()
_NAMES = {
    "Table": str, "Schema": str, "TableVersion": int, "Query": str, "Type": int, "TableColumnsTotal": int,
}  # fmt: skip


def read_schema_file(content: bytes) -> SchemaFile:
    """Parse a schema file.

    :raises DecodeError: if this is not a schema file, or ``TableColumnsTotal`` is wrong.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise _error("JSON") from None
    if not isinstance(document, dict):
        raise _error("a JSON object")
    for name, kind in _NAMES.items():
        value = document.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise _error(f"{name} as {kind.__name__}")
        if kind is str:
            _text(value)
    columns = document.get("TableColumns") or []
    if not isinstance(columns, list) or len(columns) != document["TableColumnsTotal"]:
        raise _error("as many TableColumns as TableColumnsTotal says")
    if len(columns) > MAX_COLUMNS or not 0 <= document["TableVersion"] <= MAX_TS:
        raise _error(f"up to {MAX_COLUMNS} columns, and a TSO")
    return SchemaFile(
        schema=document["Schema"],
        table=document["Table"],
        version=document["TableVersion"],
        query=document["Query"],
        type=document["Type"],
        columns=tuple(map(_column, columns)),
    )


def _column(column: object) -> tuple[str, Members]:
    if not isinstance(column, dict) or not isinstance(column.get("ColumnName"), str):
        raise _error("a ColumnName in each of TableColumns")
    if not isinstance(column.get("ColumnType"), str):
        raise _error(f"the ColumnType of {column['ColumnName']!r}")
    for name in column:
        _text(name)
    members = [(name, _member(value)) for name, value in column.items()]
    if column["ColumnType"].startswith("BIT"):  # its DEFAULT is bytes, and U+FFFD represents an invalid one
        members = [(name, value.replace(_REPLACEMENT, b"\\ufffd")) for name, value in members]
    return column["ColumnName"], members


def _member(value: object) -> bytes:
    if isinstance(value, list):
        return array([_text(element) for element in value], 3)
    return _text(value)


def _text(value: object) -> bytes:
    if not isinstance(value, str):
        raise _error("texts in columns")
    try:
        return STRINGS.literal(value)
    except UnicodeEncodeError:
        raise _error("texts of whole characters") from None


def _error(expected: str) -> DecodeError:
    return DecodeError("SCHEMA-FILE", expected, part="value", byte=0)


METADATA = "metadata"
"""The file that contains the commit-ts up to which all rows have been written."""
_DATA = re.compile(r"CDC(?:_(.+)_)?([0-9]{6,20})\.[a-z]{1,10}")
_SCHEMA = re.compile(r"schema_([0-9]{1,20})_([0-9]{10})\.json")


@dataclass(frozen=True, slots=True)
class SchemaName:
    """The version and checksum in the name of a schema file."""

    version: int
    checksum: int


@dataclass(frozen=True, slots=True)
class DataName:
    """The parts of the name of a data file.

    :param dispatcher: id of the dispatcher that wrote it; empty unless ``enable-table-across-nodes`` is on.
    :param number: counted from 1 in each directory, for each dispatcher.
    """

    dispatcher: str
    number: int


def schema_path(file: SchemaFile, folder: str = "") -> str:
    """Return ``SCHEMA/meta/…`` for DDL of a database, otherwise ``SCHEMA/TABLE/meta/…``.

    :param folder: the directory of the table, if it is another one.
    """
    own = f"{file.schema}/{file.table}" if file.table else file.schema
    return f"{folder or own}/meta/schema_{file.version}_{file.checksum:010}.json"


def dispatcher_id(table: str) -> str:
    """Return the id of the dispatcher of a table in the form of TiCDC's random ids: two numbers of 64 bits.

    :param table: the directory of the table, and of its partition.
    """
    digest = sha256(table.encode()).digest()
    return "".join(str(int.from_bytes(digest[start : start + 8], "big")) for start in (0, 8))


def data_name(number: int, width: int, extension: str, dispatcher: str = "") -> str:
    """Return the name of a data file.

    :param number: counted from 1 in each directory.
    :param width: minimum number of digits.
    :param extension: with its dot.
    :param dispatcher: id of the dispatcher, if names contain it.
    """
    return f"CDC{dispatcher and f'_{dispatcher}_'}{number:0{width}}{extension}"


def parse_data_name(name: str) -> DataName | None:
    """Return the parts of a data file's name; None for other files."""
    match = _DATA.fullmatch(name)
    return DataName(match[1] or "", int(match[2])) if match else None


def index_path(dispatcher: str = "") -> str:
    """Return the path, in a directory of data files, of the file with the name of the last one.

    :param dispatcher: id of the dispatcher, if names contain it.
    """
    return f"meta/CDC{dispatcher and f'_{dispatcher}'}.index"


def schema_name(name: str) -> SchemaName | None:
    """Return the version and checksum from a schema file's name; None for other files."""
    match = _SCHEMA.fullmatch(name)
    return SchemaName(int(match[1]), int(match[2])) if match else None


def metadata(checkpoint_ts: int) -> bytes:
    """Return the content of ``metadata``."""
    return b'{"checkpoint-ts":%d}' % checkpoint_ts
