"""Prints a DDL statement as current TiCDC does before it sends the DDL.

TiCDC parses the text and prints the syntax tree: keywords in upper case, names in back quotes, strings in
single quotes, TiDB's own features in comments, without placement, and with TTL disabled. Rules: tiflow
``cdc/owner/ddl_sink.go`` (``addSpecialComment``); tidb ``pkg/parser/ast/ddl.go``.
"""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.restore.alter import print_alter, print_elements
from ticdc_producer.scenario.sql.restore.grammar import printed
from ticdc_producer.scenario.sql.restore.key import print_index_options, print_parts
from ticdc_producer.scenario.sql.restore.names import (
    IF_EXISTS,
    IF_NOT_EXISTS,
    TARGET_NAMES,
    TargetNames,
    table_text,
)
from ticdc_producer.scenario.sql.restore.option import print_database_options, print_options
from ticdc_producer.scenario.sql.restore.partition import print_partition_by
from ticdc_producer.scenario.sql.restore.query import read_query
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.syntax.statement import (
    DDL,
    AlterTable,
    CreateIndex,
    CreateTable,
    DatabaseStatement,
    DropIndex,
    DropObjects,
    RenameTables,
    RestoreTable,
    TruncateTable,
)
from ticdc_producer.scenario.sql.syntax.unsent import Unsent
from ticdc_producer.scenario.sql.syntax.view import CreateView
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.spelling import quoted_name
from ticdc_producer.scenario.sql.text.statements import split_statements


def print_ddl(query: str) -> str:
    """Print a DDL as current TiCDC sends it.

    :param query: one statement.
    :raises UnsupportedSQL: for a construct that this tool does not print; the error names it.
    :raises ScenarioError: if the statement does not parse.

    >>> print_ddl("alter table d.t add b varchar(9) default 'x' first")
    "ALTER TABLE `d`.`t` ADD COLUMN `b` VARCHAR(9) DEFAULT _UTF8MB4'x' FIRST"
    """
    statements = list(split_statements(query))
    if len(statements) != 1:
        raise ScenarioError("SQL does not parse: expected one statement", value=query[:80])
    try:
        return print_statement(parse_ddl(Cursor(statements[0])))
    except RecursionError:
        raise ScenarioError("SQL is nested too deeply", line=statements[0].line) from None


def print_ddl_with_targets(query: str, database: str, target: Callable[[str, str], tuple[str, str]]) -> str:
    """Return a DDL with the names under which its tables are sent; the same text if none of them changes.

    Source: ticdc ``pkg/routing/ddl_query_rewriter.go``.

    :param query: one statement, as TiCDC receives it.
    :param database: of tables that the statement does not qualify.
    :param target: database and name upstream to those that are sent.
    :raises UnsupportedSQL: for a construct that this tool does not print.
    :raises ScenarioError: if the statement does not parse.

    >>> print_ddl_with_targets("ALTER TABLE t ADD CHECK (a>1)", "d", lambda _, table: ("x", f"{table}_r"))
    'ALTER TABLE `x`.`t_r` ADD CHECK(`a` > 1) ENFORCED'
    """
    names = TargetNames(database, target)
    token = TARGET_NAMES.set(names)
    try:
        print_ddl(query)  # columns may have the name of a table that follows
        text = print_ddl(query)
    finally:
        TARGET_NAMES.reset(token)
    return text if names.changed else query


def print_statement(statement: DDL) -> str:
    """Print the text of a syntax tree.

    :raises UnsupportedSQL: for a statement that TiDB does not print, or this tool does not.
    :raises ScenarioError: for an expression that does not parse.
    """
    match statement:
        case DatabaseStatement():
            return _database(statement)
        case CreateTable():
            return _create_table(statement)
        case DropObjects(kind=kind, names=names, if_exists=if_exists, temporary=temporary):
            words = f"DROP {_TEMPORARY[temporary]}{kind} {'IF EXISTS ' * if_exists}"
            return words + ", ".join(map(table_text, names))
        case TruncateTable(table=table):
            return f"TRUNCATE TABLE {table_text(table)}"
        case RenameTables(pairs=pairs):
            return "RENAME TABLE " + ", ".join(
                f"{table_text(old)} TO {table_text(new)}" for old, new in pairs
            )
        case CreateIndex():
            return _create_index(statement)
        case DropIndex():
            text = f"DROP INDEX {IF_EXISTS * statement.if_exists}{quoted_name(statement.name)}"
            return f"{text} ON {table_text(statement.table)}{_settings(statement.settings)}"
        case AlterTable():
            return print_alter(statement)
        case CreateView():
            return _create_view(statement)
        case RestoreTable():
            return _restore_table(statement)
        case Unsent(verb=verb, kind=kind):
            raise statement.source.unsupported(f"re-printing {verb} {kind}")


def _database(statement: DatabaseStatement) -> str:
    """Print a statement about a database.

    TiDB prints an empty text if placement is the only option of ALTER.
    """
    options = print_database_options(statement.options)
    if statement.verb == "ALTER" and not options.strip():
        return ""
    condition = "IF EXISTS" if statement.verb == "DROP" else "IF NOT EXISTS"
    words = [f"{statement.verb} DATABASE", *[condition] * statement.conditional]
    targets = TARGET_NAMES.get()
    name = statement.name if targets is None else targets.of_database(statement.name)
    return " ".join([*words, *[quoted_name(name)] * bool(name)]) + options


_TEMPORARY = {"": "", "LOCAL": "TEMPORARY ", "GLOBAL": "GLOBAL TEMPORARY "}


def _create_table(statement: CreateTable) -> str:
    kind = f"{_TEMPORARY[statement.temporary]}TABLE"
    text = f"CREATE {kind} {'IF NOT EXISTS ' * statement.if_not_exists}{table_text(statement.table)}"
    if statement.like is not None:
        text += f" LIKE {table_text(statement.like)}"
    if statement.elements:
        text += f" ({','.join(print_elements(statement.elements))})"
    text += "".join(f" {option}" for option in print_options(statement.options))
    if statement.partition_by is not None:
        text += f" {print_partition_by(statement.partition_by)}"
    return text + " ON COMMIT DELETE ROWS" * (statement.temporary == "GLOBAL")


def _create_index(statement: CreateIndex) -> str:
    key = statement.key
    kind = "" if key.kind == "INDEX" else f"{key.kind} "
    name = IF_NOT_EXISTS * key.if_not_exists + quoted_name(key.name)
    text = f"CREATE {kind}INDEX {name} ON {table_text(statement.table)} ({print_parts(key.parts)})"
    options = print_index_options(key.options)
    return text + (f" {options}" if options else "") + _settings(statement.settings)


def _settings(settings: tuple[tuple[str, str], ...]) -> str:
    """Print ALGORITHM, then LOCK; the last of each counts, and the value DEFAULT is not printed."""
    values = dict(settings)
    return "".join(
        f" {word} = {values[word]}"
        for word in ("ALGORITHM", "LOCK")
        if values.get(word, "DEFAULT") != "DEFAULT"
    )


def _create_view(statement: CreateView) -> str:
    """Print ``CREATE VIEW``.

    TiDB prints all default options, but not CASCADED, which is the default of the check option.
    """
    definer = "@".join(map(quoted_name, statement.definer)) or "CURRENT_USER"
    text = f"CREATE {'OR REPLACE ' * statement.replacing}ALGORITHM = {statement.algorithm}"
    text += f" DEFINER = {definer} SQL SECURITY {statement.security} VIEW {table_text(statement.view)}"
    if statement.columns:
        text += f" ({','.join(map(quoted_name, statement.columns))})"
    check = " WITH LOCAL CHECK OPTION" * (statement.check == "LOCAL")
    return f"{text} AS {printed(statement.query, read_query)}{check}"


def _restore_table(statement: RestoreTable) -> str:
    verb = f"{statement.verb} TABLE"
    if statement.table is None:
        return f"{verb} BY JOB {statement.number}"
    text = f"{verb} {table_text(statement.table)}"
    text += f" {statement.number}" if statement.number >= 0 else ""
    return text + (f" TO {quoted_name(statement.target)}" if statement.target else "")
