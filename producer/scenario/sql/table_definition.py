"""CREATE TABLE read into a draft, and a draft made into a ``TableInfo``.

Rules: tidb ``pkg/ddl/create_table.go`` (``BuildTableInfo``): which keys there are, in which order their
ids are given, which primary key rows are stored under.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from producer.errors import ScenarioError
from producer.model.collation import DEFAULT_COLLATIONS, charset_of
from producer.model.mysql_type import INTEGERS, LOBS, MySQLType
from producer.model.sql_mode import SQLMode
from producer.model.table import ColumnInfo, IndexInfo, TableInfo
from producer.scenario.sql.column_definition import (
    ColumnDraft,
    make_column,
    read_charset,
    read_clustered,
    read_collation,
    read_column,
)
from producer.scenario.sql.cursor import Cursor

_IGNORED_OPTIONS = (
    "ENGINE", "ROW_FORMAT", "AVG_ROW_LENGTH", "CHECKSUM", "COMPRESSION", "DELAY_KEY_WRITE", "MAX_ROWS",
    "MIN_ROWS", "KEY_BLOCK_SIZE", "STATS_PERSISTENT", "STATS_AUTO_RECALC", "PACK_KEYS",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyDraft:
    """A key as read.

    :param parts: column names with prefix lengths, -1 for the whole column.
    :param clustered: None where a primary key does not say.
    """

    kind: str
    name: str
    parts: tuple[tuple[str, int], ...]
    line: int
    clustered: bool | None = None


@dataclass(slots=True, kw_only=True)
class TableDraft:
    """A CREATE TABLE as read."""

    columns: list[ColumnDraft] = field(default_factory=list)
    keys: list[KeyDraft] = field(default_factory=list)
    charset: str = ""
    collation: str = ""
    comment: str = ""
    auto_increment: int = 0


def read_table(cursor: Cursor) -> TableDraft:
    """What stands from the opening bracket on to the end of the statement."""
    draft = TableDraft()
    if cursor.word() in ("LIKE", "SELECT", "AS"):
        raise cursor.unsupported(f"CREATE TABLE … {cursor.word()}")
    cursor.expect("(")
    if cursor.word() == "LIKE":
        raise cursor.unsupported("CREATE TABLE … LIKE")
    _read_element(cursor, draft)
    while cursor.accept(","):
        _read_element(cursor, draft)
    cursor.expect(")")
    while not cursor.at_end:
        cursor.accept(",")
        _read_option(cursor, draft)
    return draft


def _read_element(cursor: Cursor, draft: TableDraft) -> None:
    name = ""
    if cursor.accept("CONSTRAINT") and cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        name = cursor.identifier("a constraint name")
    if cursor.word() in ("FOREIGN", "CHECK", "FULLTEXT", "SPATIAL", "VECTOR"):
        raise cursor.unsupported(f"{cursor.word()} in CREATE TABLE")
    key = read_key(cursor, name)
    if key is not None:
        draft.keys.append(key)
        return
    if name:
        raise cursor.error("expected PRIMARY KEY or UNIQUE")
    column = read_column(cursor)
    draft.columns.append(column)


def read_key(cursor: Cursor, name: str = "") -> KeyDraft | None:
    """A key definition, if one stands here.

    :param name: from ``CONSTRAINT name`` before it.
    """
    line = cursor.line
    if cursor.accept("PRIMARY", "KEY"):
        kind = "primary"
    elif cursor.accept("UNIQUE"):
        kind = "unique"
        cursor.accept_any("KEY", "INDEX")
    elif cursor.word() in ("KEY", "INDEX"):
        kind = "index"
        cursor.accept(cursor.word())
    else:
        return None
    if cursor.word() not in ("(", "USING", "TYPE"):
        name = cursor.identifier("an index name")
    _read_index_options(cursor)
    parts = _read_parts(cursor)
    _read_index_options(cursor)
    clustered = read_clustered(cursor)
    _read_index_options(cursor)
    return KeyDraft(kind=kind, name=name, parts=parts, line=line, clustered=clustered)


def _read_index_options(cursor: Cursor) -> None:
    while True:
        if cursor.accept_any("USING", "TYPE"):
            cursor.identifier("an index type")
        elif cursor.accept("COMMENT"):
            cursor.string()
        elif not cursor.accept_any("VISIBLE", "INVISIBLE"):
            return


def _read_parts(cursor: Cursor) -> tuple[tuple[str, int], ...]:
    cursor.expect("(")
    parts = [_read_part(cursor)]
    while cursor.accept(","):
        parts.append(_read_part(cursor))
    cursor.expect(")")
    return tuple(parts)


def _read_part(cursor: Cursor) -> tuple[str, int]:
    if cursor.word() == "(":
        raise cursor.unsupported("an index on an expression")
    name, length = cursor.identifier("a column name"), -1
    if cursor.accept("("):
        length = cursor.integer()
        cursor.expect(")")
    cursor.accept_any("ASC", "DESC")
    return name, length


def _read_option(cursor: Cursor, draft: TableDraft) -> None:
    default = cursor.accept("DEFAULT")
    if cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET"):
        cursor.accept("=")
        draft.charset = read_charset(cursor)
    elif cursor.accept("COLLATE"):
        cursor.accept("=")
        draft.collation = read_collation(cursor)
    elif default:
        raise cursor.error("expected CHARSET or COLLATE")
    elif cursor.accept("COMMENT"):
        cursor.accept("=")
        draft.comment = cursor.string()
    elif cursor.accept("AUTO_INCREMENT"):
        cursor.accept("=")
        draft.auto_increment = cursor.integer()
    elif cursor.accept_any(*_IGNORED_OPTIONS):
        cursor.accept("=")
        cursor.place += 1
    else:
        raise cursor.unsupported(f"the table option {cursor.word() or 'here'}")


def make_table(
    draft: TableDraft, schema: str, name: str, charset: tuple[str, str], mode: SQLMode, line: int
) -> TableInfo:
    """The table, without its ids.

    :param charset: the database's charset and collation.
    :raises ScenarioError: for columns or keys that contradict each other.
    """
    table_charset, table_collation = table_charset_of(draft.charset, draft.collation, charset)
    keys = [*draft.keys, *_inline_keys(draft.columns)]
    columns = [make_column(column, table_charset, table_collation, mode) for column in draft.columns]
    _check_names(columns, line)
    for key in keys:
        if key.kind == "primary":
            columns = _never_null(columns, key)
    info = TableInfo(
        schema=schema,
        name=name,
        table_id=0,
        columns=tuple(columns),
        indexes=make_indexes(columns, keys, line),
        charset=table_charset,
        collation=table_collation,
        comment=draft.comment,
    )
    _check_auto_increment(info, line)
    return info


def table_charset_of(charset: str, collation: str, inherited: tuple[str, str]) -> tuple[str, str]:
    """Charset and collation of a database or table that may name one, both or neither."""
    if collation:
        return charset_of(collation), collation
    return (charset, DEFAULT_COLLATIONS[charset]) if charset else inherited


def _inline_keys(columns: list[ColumnDraft]) -> list[KeyDraft]:
    return [
        KeyDraft(
            kind=kind,
            name="",
            parts=((column.name, -1),),
            line=column.line,
            clustered=column.clustered if kind == "primary" else None,
        )
        for column in columns
        for kind in column.keys
    ]


def _check_names(columns: list[ColumnInfo], line: int) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name.lower() in seen:
            raise ScenarioError(f"Duplicate column name {column.name!r}", line=line, column=column.name)
        seen.add(column.name.lower())


def _never_null(columns: list[ColumnInfo], key: KeyDraft) -> list[ColumnInfo]:
    names = {name.lower() for name, _ in key.parts}
    return [replace(c, nullable=False) if c.name.lower() in names else c for c in columns]


def make_indexes(columns: list[ColumnInfo], keys: list[KeyDraft], line: int) -> tuple[IndexInfo, ...]:
    """The indexes in order of creation: table-level keys first, then those of the columns.

    An integer primary key that rows are stored under has no index entry in TiDB; it gets id 0 here.
    """
    if sum(key.kind == "primary" for key in keys) > 1:
        raise ScenarioError("Multiple primary keys defined", line=line)
    indexes: list[IndexInfo] = []
    next_id = 1
    for key in keys:
        offsets, lengths = _resolve_parts(columns, key)
        primary = key.kind == "primary"
        clustered = primary and key.clustered is not False
        is_handle = clustered and len(offsets) == 1 and columns[offsets[0]].type in INTEGERS
        indexes.append(
            IndexInfo(
                id=0 if is_handle else next_id,
                name="PRIMARY"
                if primary
                else key.name or _free_name(columns[offsets[0]].name, keys, indexes),
                offsets=offsets,
                lengths=lengths,
                unique=key.kind != "index",
                primary=primary,
                clustered=clustered,
            )
        )
        next_id += not is_handle
    _check_index_names(indexes, line)
    return tuple(indexes)


def _resolve_parts(columns: list[ColumnInfo], key: KeyDraft) -> tuple[tuple[int, ...], tuple[int, ...]]:
    places = {column.name.lower(): offset for offset, column in enumerate(columns)}
    offsets, lengths = [], []
    for name, length in key.parts:
        if name.lower() not in places:
            raise ScenarioError(f"Key column {name!r} doesn't exist in table", line=key.line, column=name)
        column = columns[places[name.lower()]]
        if column.type == MySQLType.JSON:
            raise ScenarioError(f"JSON column {name!r} cannot be used in a key", line=key.line, column=name)
        if column.type in LOBS and length < 0:
            what = f"BLOB/TEXT column {name!r} used in key specification without a key length"
            raise ScenarioError(what, line=key.line, column=name)
        offsets.append(places[name.lower()])
        lengths.append(-1 if length == column.length else length)
    return tuple(offsets), tuple(lengths)


def _index_name(key: KeyDraft, column: str, keys: list[KeyDraft], indexes: list[IndexInfo]) -> str:
    if key.kind == "primary":
        return "PRIMARY"
    return key.name or _free_name(column, keys, indexes)


def _free_name(base: str, keys: list[KeyDraft], indexes: list[IndexInfo]) -> str:
    """The first column's name, with ``_2``, ``_3``… where that is taken."""
    taken = {key.name.lower() for key in keys} | {index.name.lower() for index in indexes}
    name, number = base, 2
    while name.lower() in taken or name.lower() == "primary":
        name, number = f"{base}_{number}", number + 1
    return name


def _check_index_names(indexes: list[IndexInfo], line: int) -> None:
    seen: set[str] = set()
    for index in indexes:
        if index.name.lower() in seen:
            raise ScenarioError(f"Duplicate key name {index.name!r}", line=line)
        seen.add(index.name.lower())


def _check_auto_increment(info: TableInfo, line: int) -> None:
    counters = [offset for offset, column in enumerate(info.columns) if column.auto_increment]
    if not counters:
        return
    keyed = {index.offsets[0] for index in info.indexes}
    if len(counters) > 1 or counters[0] not in keyed:
        what = "Incorrect table definition; there can be only one auto column and it must be defined as a key"
        raise ScenarioError(what, line=line, column=info.columns[counters[0]].name)
