"""DDL statements: the grammar's entry, and the statements about databases, tables and indexes.

Rules: tidb ``parser.y`` (``Statement``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.syntax.alter import AlterPart, Element, read_element, read_parts
from ticdc_producer.scenario.sql.syntax.key import Key, KeyKind, read_index_type, read_rest_of_key
from ticdc_producer.scenario.sql.syntax.names import (
    TableName,
    Temporary,
    accept_if_exists,
    accept_if_not_exists,
    read_bracketed_list,
    read_choice,
    read_list,
    read_table_name,
)
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy, read_partition_by
from ticdc_producer.scenario.sql.syntax.table_option import (
    TableOption,
    read_database_options,
    read_table_options,
)
from ticdc_producer.scenario.sql.syntax.unsent import Unsent, read_unsent
from ticdc_producer.scenario.sql.syntax.view import CreateView, read_create_view
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText
from ticdc_producer.scenario.sql.text.parse import missing_semicolon


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStatement:
    """``CREATE``, ``ALTER`` or ``DROP DATABASE``.

    :param name: empty for the current database, of ALTER.
    :param conditional: whether IF [NOT] EXISTS is written.
    """

    verb: Literal["CREATE", "ALTER", "DROP"]
    name: str
    options: tuple[TableOption, ...] = ()
    conditional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    """``CREATE TABLE``.

    :param like: the other table of ``LIKE``.
    :param elements: columns and keys, in the user's order; empty if there are no brackets.
    :param temporary: the kind of a temporary table; a global one is ``ON COMMIT DELETE ROWS``.
    """

    table: TableName
    like: TableName | None = None
    elements: tuple[Element, ...] = ()
    options: tuple[TableOption, ...] = ()
    partition_by: PartitionBy | None = None
    if_not_exists: bool = False
    temporary: Temporary = ""
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropObjects:
    """``DROP {[[GLOBAL] TEMPORARY] TABLE | VIEW | SEQUENCE}``."""

    kind: Literal["TABLE", "VIEW", "SEQUENCE"]
    names: tuple[TableName, ...]
    if_exists: bool = False
    temporary: Temporary = ""


@dataclass(frozen=True, slots=True)
class TruncateTable:
    """``TRUNCATE [TABLE]``."""

    table: TableName


@dataclass(frozen=True, slots=True)
class RenameTables:
    """``RENAME TABLE old TO new, …``."""

    pairs: tuple[tuple[TableName, TableName], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateIndex:
    """``CREATE … INDEX``.

    :param key: its name is never empty.
    :param settings: ALGORITHM and LOCK with their values.
    """

    key: Key
    table: TableName
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DropIndex:
    """``DROP INDEX``."""

    name: str
    table: TableName
    if_exists: bool = False
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable:
    """``ALTER TABLE``."""

    table: TableName
    parts: tuple[AlterPart, ...]
    if_exists: bool = False
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreTable:
    """``RECOVER TABLE`` and ``FLASHBACK TABLE``.

    :param table: None if a job is named.
    :param number: of the job, or among the jobs of the table; -1 without.
    :param target: the new name; empty without.
    """

    verb: Literal["RECOVER", "FLASHBACK"]
    table: TableName | None
    number: int = -1
    target: str = ""
    source: SourceText = field(compare=False, repr=False)


DDL: TypeAlias = (
    DatabaseStatement | CreateTable | DropObjects | TruncateTable | RenameTables | CreateIndex | DropIndex
    | AlterTable | CreateView | RestoreTable | Unsent
)  # fmt: skip


def parse_ddl(cursor: Cursor) -> DDL:
    """Read one DDL statement to its end.

    :raises ScenarioError: if it does not parse.
    :raises UnsupportedSQL: for a statement that this grammar does not support.
    """
    for words, read in STATEMENTS:
        if cursor.accept(*words):
            statement = read(cursor)
            cursor.end()
            return statement
    length = 3 if cursor.word(1) in _ADJECTIVES else 2
    name = " ".join(filter(None, (cursor.word(ahead) for ahead in range(length))))
    raise cursor.unsupported(name or "a statement of this kind")


_ADJECTIVES = ("TEMPORARY", "GLOBAL", "LOCAL", "HYPO", "RESOURCE", "MASKING")
"""Words that an error message repeats together with the next word."""
_OPTION_STARTS = ("DEFAULT", "CHARACTER", "CHAR", "CHARSET", "COLLATE", "PLACEMENT", "ENCRYPTION", "SET")
_KINDS: tuple[KeyKind, ...] = ("UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR", "COLUMNAR")
_QUERY_STARTS = ("AS", "SELECT", "WITH", "REPLACE", "IGNORE", "(")


def _create_database(cursor: Cursor) -> DatabaseStatement:
    conditional, name = accept_if_not_exists(cursor), cursor.identifier("a database name")
    return DatabaseStatement(
        verb="CREATE", name=name, options=read_database_options(cursor), conditional=conditional
    )


def _alter_database(cursor: Cursor) -> DatabaseStatement:
    name = "" if cursor.word() in _OPTION_STARTS else cursor.identifier("a database name")
    return DatabaseStatement(verb="ALTER", name=name, options=read_database_options(cursor))


def _drop_database(cursor: Cursor) -> DatabaseStatement:
    conditional, name = accept_if_exists(cursor), cursor.identifier("a database name")
    return DatabaseStatement(verb="DROP", name=name, conditional=conditional)


def _create_table(cursor: Cursor) -> CreateTable:
    start = cursor.position
    if_not_exists, table = accept_if_not_exists(cursor), read_table_name(cursor)
    in_brackets = cursor.accept("(", "LIKE")
    if in_brackets or cursor.accept("LIKE"):
        like = read_table_name(cursor)
        cursor.expect(*[")"] * in_brackets)
        return CreateTable(table=table, like=like, if_not_exists=if_not_exists, source=cursor.since(start))
    elements = read_bracketed_list(cursor, read_element) if cursor.word() == "(" else ()
    options = read_table_options(cursor)
    partition_by = read_partition_by(cursor) if cursor.word() == "PARTITION" else None
    options += read_table_options(cursor) if partition_by else ()
    if cursor.word() in _QUERY_STARTS:
        raise cursor.unsupported("CREATE TABLE … AS SELECT")
    if missing_semicolon(cursor.word()):
        raise cursor.error("unexpected text")
    if cursor.word()[:1].isalpha() and (cursor.word(), cursor.word(1)) != ("ON", "COMMIT"):
        raise cursor.unsupported(f"the table option {cursor.word()}")
    return CreateTable(
        table=table,
        elements=elements,
        options=options,
        partition_by=partition_by,
        if_not_exists=if_not_exists,
        source=cursor.since(start),
    )


def _create_temporary_table(kind: Temporary) -> Callable[[Cursor], CreateTable]:
    def read(cursor: Cursor) -> CreateTable:
        table = replace(_create_table(cursor), temporary=kind)
        if bool(cursor.accept("ON", "COMMIT")) is not (kind == "GLOBAL"):
            raise cursor.error("GLOBAL TEMPORARY and ON COMMIT DELETE ROWS must appear together")
        if kind == "GLOBAL":
            if cursor.accept("PRESERVE", "ROWS"):
                raise ScenarioError("TiDB doesn't support ON COMMIT PRESERVE ROWS for now")
            cursor.expect("DELETE", "ROWS")
        return table

    return read


def _drop_objects(
    kind: Literal["TABLE", "VIEW", "SEQUENCE"], *, temporary: Temporary = ""
) -> Callable[[Cursor], DropObjects]:
    def read(cursor: Cursor) -> DropObjects:
        if_exists, names = accept_if_exists(cursor), read_list(cursor, read_table_name)
        cursor.accept_any("RESTRICT", "CASCADE")
        return DropObjects(kind=kind, names=names, if_exists=if_exists, temporary=temporary)

    return read


def _truncate_table(cursor: Cursor) -> TruncateTable:
    cursor.accept("TABLE")
    return TruncateTable(read_table_name(cursor))


def _rename_tables(cursor: Cursor) -> RenameTables:
    return RenameTables(read_list(cursor, _rename_pair))


def _rename_pair(cursor: Cursor) -> tuple[TableName, TableName]:
    old = read_table_name(cursor)
    cursor.expect("TO")
    return old, read_table_name(cursor)


def _create_index(cursor: Cursor) -> CreateIndex:
    kind: KeyKind = next((kind for kind in _KINDS if cursor.accept(kind)), "INDEX")
    cursor.expect("INDEX")
    if_not_exists = accept_if_not_exists(cursor)
    start, name = cursor.position, cursor.identifier("an index name")
    before = read_index_type(cursor)
    cursor.expect("ON")
    table = read_table_name(cursor)
    key = read_rest_of_key(cursor, kind, name, start, if_not_exists=if_not_exists, before=before)
    return CreateIndex(key=key, table=table, settings=_settings(cursor))


def _settings(cursor: Cursor) -> tuple[tuple[str, str], ...]:
    settings = []
    while word := cursor.accept_any("ALGORITHM", "LOCK"):
        cursor.accept("=")
        settings.append((word, read_choice(cursor, word)))
    return tuple(settings)


def _drop_index(cursor: Cursor) -> DropIndex:
    if_exists, name = accept_if_exists(cursor), cursor.identifier("an index name")
    cursor.expect("ON")
    return DropIndex(
        name=name, table=read_table_name(cursor), if_exists=if_exists, settings=_settings(cursor)
    )


def _alter_table(cursor: Cursor) -> AlterTable:
    start, if_exists, table = cursor.position, accept_if_exists(cursor), read_table_name(cursor)
    parts = read_parts(cursor)
    return AlterTable(table=table, parts=parts, if_exists=if_exists, source=cursor.since(start))


def _restore_table(verb: Literal["RECOVER", "FLASHBACK"]) -> Callable[[Cursor], RestoreTable]:
    def read(cursor: Cursor) -> RestoreTable:
        start = cursor.position - 2
        if verb == "RECOVER" and cursor.accept("BY", "JOB"):
            number = cursor.integer()
            return RestoreTable(verb=verb, table=None, number=number, source=cursor.since(start))
        table = read_table_name(cursor)
        number = -1 if verb == "FLASHBACK" or cursor.at_end else cursor.integer()
        target = cursor.identifier() if verb == "FLASHBACK" and cursor.accept("TO") else ""
        source = cursor.since(start)
        return RestoreTable(verb=verb, table=table, number=number, target=target, source=source)

    return read


def _create(cursor: Cursor) -> DDL:
    """Read CREATE VIEW or CREATE INDEX, whose kind follows optional words."""
    if cursor.word() in ("OR", "ALGORITHM", "DEFINER", "SQL", "VIEW"):
        return read_create_view(cursor)
    if "INDEX" in (cursor.word(), cursor.word(1)) and cursor.word() in ("INDEX", *_KINDS):
        return _create_index(cursor)
    length = 2 if cursor.word() in _ADJECTIVES else 1
    name = " ".join(filter(None, ("CREATE", *(cursor.word(ahead) for ahead in range(length)))))
    raise cursor.unsupported(name)


STATEMENTS: tuple[tuple[tuple[str, ...], Callable[[Cursor], DDL]], ...] = (
    (("CREATE", "DATABASE"), _create_database),
    (("CREATE", "SCHEMA"), _create_database),
    (("ALTER", "DATABASE"), _alter_database),
    (("ALTER", "SCHEMA"), _alter_database),
    (("DROP", "DATABASE"), _drop_database),
    (("DROP", "SCHEMA"), _drop_database),
    (("CREATE", "TABLE"), _create_table),
    (("CREATE", "TEMPORARY", "TABLE"), _create_temporary_table("LOCAL")),
    (("CREATE", "GLOBAL", "TEMPORARY", "TABLE"), _create_temporary_table("GLOBAL")),
    (("ALTER", "TABLE"), _alter_table),
    (("ALTER", "IGNORE", "TABLE"), _alter_table),
    (("DROP", "TABLE"), _drop_objects("TABLE")),
    (("DROP", "TABLES"), _drop_objects("TABLE")),
    (("DROP", "TEMPORARY", "TABLE"), _drop_objects("TABLE", temporary="LOCAL")),
    (("DROP", "TEMPORARY", "TABLES"), _drop_objects("TABLE", temporary="LOCAL")),
    (("DROP", "GLOBAL", "TEMPORARY", "TABLE"), _drop_objects("TABLE", temporary="GLOBAL")),
    (("DROP", "GLOBAL", "TEMPORARY", "TABLES"), _drop_objects("TABLE", temporary="GLOBAL")),
    (("DROP", "VIEW"), _drop_objects("VIEW")),
    (("DROP", "SEQUENCE"), _drop_objects("SEQUENCE")),
    (("DROP", "INDEX"), _drop_index),
    (("TRUNCATE",), _truncate_table),
    (("RENAME", "TABLE"), _rename_tables),
    (("RENAME", "TABLES"), _rename_tables),
    (("RECOVER", "TABLE"), _restore_table("RECOVER")),
    (("FLASHBACK", "TABLE"), _restore_table("FLASHBACK")),
    (("CREATE", "SEQUENCE"), read_unsent("CREATE", "SEQUENCE")),
    (("ALTER", "SEQUENCE"), read_unsent("ALTER", "SEQUENCE")),
    (("CREATE", "PLACEMENT", "POLICY"), read_unsent("CREATE", "PLACEMENT POLICY")),
    (("ALTER", "PLACEMENT", "POLICY"), read_unsent("ALTER", "PLACEMENT POLICY")),
    (("DROP", "PLACEMENT", "POLICY"), read_unsent("DROP", "PLACEMENT POLICY")),
    (("CREATE",), _create),
)
