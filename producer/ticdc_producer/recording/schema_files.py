"""The DDLs and the tables in the schema files of a storage sink."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import MySQLType, types_by_name
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.storage_files import SchemaFile
from ticdc_producer.recording.definitions import CreatedNames, EarlierTable
from ticdc_producer.recording.selection import Accepts
from ticdc_producer.recording.summary import TableName
from ticdc_producer.replica.stream_ddl import StreamDDL
from ticdc_producer.scenario.sql.definition.create_text import create_table_text

_MEMBERS = (MySQLType.ENUM, MySQLType.SET)


def file_ddls(files: Iterable[SchemaFile], accepts: Accepts, until: int) -> list[StreamDDL]:
    """Return the DDLs in schema files, in their order.

    :param until: the last commit-ts.
    """
    ddls = {
        StreamDDL(commit_ts=file.version, order=(), schema=file.schema, table=file.table, query=file.query)
        for file in files
        if file.query and file.version <= until and accepts(file.schema, file.table)
    }
    return sorted(ddls)


def file_tables(files: Iterable[SchemaFile], accepts: Accepts, created: CreatedNames) -> list[EarlierTable]:
    """Return the tables that existed before the first DDL: schema files without a DDL describe them.

    :param created: tables that the DDLs create.
    """
    first: dict[TableName, SchemaFile] = {}
    for file in sorted(files, key=lambda file: file.version):
        name = file.schema, file.table
        if file.table and accepts(*name) and name not in created:
            first.setdefault(name, file)
    tables = {name: _table(file) for name, file in first.items() if not file.query}
    return [
        EarlierTable(*name, create_table_text(table)) for name, table in tables.items() if table is not None
    ]


def _table(file: SchemaFile) -> TableInfo | None:
    """Return the table; None if the file does not describe it completely."""
    columns = [_column(name, dict(members)) for name, members in file.columns]
    if not all(columns):
        return None
    primary = (dict(members).get("ColumnIsPk") == b'"true"' for _, members in file.columns)
    key = tuple(offset for offset, is_primary in enumerate(primary) if is_primary)
    index = IndexInfo(id=1, name="PRIMARY", offsets=key, unique=True, primary=True, clustered=True)
    return TableInfo(
        schema=file.schema,
        name=file.table,
        table_id=0,
        columns=tuple(filter(None, columns)),
        indexes=(index,) if key else (),
    )


def _column(name: str, members: Mapping[str, bytes]) -> ColumnInfo | None:
    """Return a column; None if its type or its members are not known."""
    known = types_by_name().get(str(json.loads(members["ColumnType"])).lower())
    elements = tuple(map(str, json.loads(members.get("ColumnElems", b"[]"))))
    if known is None or (known[0] in _MEMBERS and not elements):
        return None
    code, binary, unsigned = known
    return ColumnInfo(
        name=name,
        type=code,
        unsigned=unsigned,
        charset="binary" if binary else "utf8mb4",
        collation="binary" if binary else "utf8mb4_bin",
        length=_number(members, "ColumnPrecision"),
        decimal=_number(members, "ColumnScale"),
        nullable="ColumnNullable" not in members,
        elements=elements,
    )


def _number(members: Mapping[str, bytes], name: str) -> int:
    text = str(json.loads(members.get(name, b'""')))
    return int(text) if text.isdecimal() and len(text) < 10 else -1
