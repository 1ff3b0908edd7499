"""Reads CREATE TABLE into a draft, and builds a ``TableInfo`` from a draft.

Rules: tidb ``pkg/ddl/create_table.go`` (``BuildTableInfo``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.collation import DEFAULT_COLLATIONS, charset_of
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.column_definition import (
    ColumnDraft,
    make_column,
    read_charset,
    read_collation,
    read_column,
)
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.foreign_key import ForeignKey, missing_index, read_foreign_key
from ticdc_producer.scenario.sql.generated import check_generated
from ticdc_producer.scenario.sql.key_definition import (
    KeyDraft,
    add_keys,
    inline_keys,
    never_null,
    read_key,
    read_key_parts,
)
from ticdc_producer.scenario.sql.partition_definition import PartitioningDraft, read_partition_by

_IGNORED_OPTIONS = (
    "ENGINE", "ROW_FORMAT", "AVG_ROW_LENGTH", "CHECKSUM", "COMPRESSION", "DELAY_KEY_WRITE", "MAX_ROWS",
    "MIN_ROWS", "KEY_BLOCK_SIZE", "STATS_PERSISTENT", "STATS_AUTO_RECALC", "PACK_KEYS", "AUTO_RANDOM_BASE",
    "PRE_SPLIT_REGIONS", "TTL_ENABLE", "TTL_JOB_INTERVAL", "STATS_SAMPLE_PAGES", "INSERT_METHOD",
    "ENCRYPTION", "TABLESPACE",
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class TableDraft:
    """A parsed CREATE TABLE.

    :param cache: AUTO_ID_CACHE; 0 if it is not given.
    """

    columns: list[ColumnDraft] = field(default_factory=list)
    keys: list[KeyDraft] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    charset: str = ""
    collation: str = ""
    comment: str = ""
    auto_increment: int = 0
    cache: int = 0
    partitioning: PartitioningDraft | None = None


def read_table(cursor: Cursor, database: str) -> TableDraft:
    """Read a table definition from its opening bracket to the end of the statement.

    :param database: the database of the table.
    """
    draft = TableDraft()
    if cursor.word() in ("SELECT", "AS"):
        raise cursor.unsupported("CREATE TABLE … AS SELECT")
    cursor.expect("(")
    _read_element(cursor, draft, database)
    while cursor.accept(","):
        _read_element(cursor, draft, database)
    cursor.expect(")")
    while not cursor.at_end:
        cursor.accept(",")
        if cursor.accept("PARTITION", "BY"):
            draft.partitioning = read_partition_by(cursor)
        else:
            read_option(cursor, draft)
    return draft


def _read_element(cursor: Cursor, draft: TableDraft, database: str) -> None:
    name = ""
    if cursor.accept("CONSTRAINT") and cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        name = cursor.identifier("a constraint name")
    if cursor.word() == "FULLTEXT" and not name:
        skip_fulltext(cursor)
        return
    if cursor.word() in ("SPATIAL", "VECTOR") and cursor.word(1) in ("KEY", "INDEX"):
        raise cursor.unsupported(f"a {cursor.word()} index")
    if cursor.accept("FOREIGN", "KEY"):
        draft.foreign_keys.append(read_foreign_key(cursor, name, database))
        return
    if cursor.word() == "CHECK" and cursor.word(1) == "(":
        read_check(cursor)
        return
    key = read_key(cursor, name)
    if key is not None:
        draft.keys.append(key)
        return
    if name:
        raise cursor.error("expected PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK")
    draft.columns.append(read_column(cursor))


def read_check(cursor: Cursor) -> None:
    """Step over a CHECK: TiDB ignores it unless ``tidb_enable_check_constraint`` is on."""
    cursor.expect("CHECK", "(")
    cursor.expression_source()
    cursor.expect(")")
    cursor.accept("NOT")
    cursor.accept("ENFORCED")


def skip_fulltext(cursor: Cursor) -> None:
    """Step over a FULLTEXT key: TiDB warns that it does not have these, and creates the table without it."""
    cursor.expect("FULLTEXT")
    cursor.accept_any("KEY", "INDEX")
    name = "" if cursor.word() == "(" else cursor.identifier("an index name")
    read_key_parts(cursor, "index", name, cursor.line)
    if cursor.accept("WITH", "PARSER"):
        cursor.identifier("a parser")


def read_option(cursor: Cursor, draft: TableDraft) -> None:
    """Read one table option."""
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
    elif cursor.accept("AUTO_ID_CACHE"):
        cursor.accept("=")
        draft.cache = cursor.integer()
    else:
        skip_option(cursor)


def skip_option(cursor: Cursor) -> None:
    """Step over an option that does not change what a consumer receives.

    :raises UnsupportedSQL: for any other option.
    """
    if cursor.accept("TTL"):
        cursor.accept("=")
        cursor.expression_source(until=frozenset({"TTL_ENABLE", "TTL_JOB_INTERVAL", "COMMENT"}))
    elif cursor.accept("PLACEMENT", "POLICY") or cursor.accept_any(*_IGNORED_OPTIONS):
        cursor.accept("=")
        cursor.position += 1
    elif cursor.word() in ("AS", "SELECT"):
        raise cursor.unsupported("CREATE TABLE … AS SELECT")
    else:
        raise cursor.unsupported(f"the table option {cursor.word() or 'here'}")


def make_table(
    draft: TableDraft, schema: str, name: str, charset: tuple[str, str], mode: SQLMode, line: int
) -> tuple[TableInfo, int]:
    """Build a table from its draft.

    :param charset: the database's charset and collation.
    :return: the table without its ids and partitions, and the next free index id.
    :raises ScenarioError: for columns or keys that contradict each other.
    """
    table_charset, table_collation = table_charset_of(draft.charset, draft.collation, charset)
    keys = [*draft.keys, *inline_keys(draft.columns)]
    columns = [make_column(column, table_charset, table_collation, mode) for column in draft.columns]
    check_names(columns, line)
    for key in keys:
        if key.kind == "primary":
            columns = never_null(columns, key)
    info = TableInfo(
        schema=schema,
        name=name,
        table_id=0,
        columns=tuple(columns),
        charset=table_charset,
        collation=table_collation,
        comment=draft.comment,
    )
    info, next_id = add_keys(info, keys, 1)
    for foreign in draft.foreign_keys:
        index = missing_index(info, foreign)
        if index is not None:
            info, next_id = add_keys(info, [replace(index, implicit=True)], next_id)
    check_generated(info, mode, line)
    check_auto_increment(info, line)
    _check_auto_random(info, line)
    return info, next_id


def table_charset_of(charset: str, collation: str, inherited: tuple[str, str]) -> tuple[str, str]:
    """Charset and collation of a database or table whose definition gives one, both or neither."""
    if collation:
        return charset_of(collation), collation
    return (charset, DEFAULT_COLLATIONS[charset]) if charset else inherited


def check_names(columns: Sequence[ColumnInfo], line: int) -> None:
    """:raises ScenarioError: if two columns have the same name, or one has a reserved name."""
    seen: set[str] = set()
    for column in columns:
        if column.name.lower() in seen:
            raise ScenarioError(f"Duplicate column name {column.name!r}", line=line, column=column.name)
        if column.name.lower() == "_tidb_rowid":
            raise ScenarioError(f"Incorrect column name {column.name!r}", line=line, column=column.name)
        seen.add(column.name.lower())


def _check_auto_random(info: TableInfo, line: int) -> None:
    """Source: tidb ``pkg/ddl/create_table.go`` (``setTableAutoRandomBits``)."""
    for offset, column in enumerate(info.columns):
        if not column.auto_random:
            continue
        what = ""
        if column.type != MySQLType.LONGLONG:
            what = "auto_random option must be defined on `bigint` column"
        elif info.clustered_key is None or info.clustered_key.offsets[0] != offset:
            what = f"column {column.name} is not the integer primary key, or the primary key is nonclustered"
        elif column.auto_increment or column.has_default:
            what = "auto_random is incompatible with auto_increment and default"
        if what:
            raise ScenarioError(f"Invalid auto random: {what}", line=line, column=column.name)


def check_auto_increment(info: TableInfo, line: int) -> None:
    """:raises ScenarioError: for two AUTO_INCREMENT columns, or one that is not the first column of a key."""
    counters = [offset for offset, column in enumerate(info.columns) if column.auto_increment]
    if not counters:
        return
    keyed = {index.offsets[0] for index in info.indexes}
    if len(counters) > 1 or counters[0] not in keyed:
        what = "Incorrect table definition; there can be only one auto column and it must be defined as a key"
        raise ScenarioError(what, line=line, column=info.columns[counters[0]].name)
