"""The statements of a large frame: DDLs, whose tables the rows of the frame can follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.key_columns import stored_key
from ticdc_producer.scenario.columns.row_images import check_alteration
from ticdc_producer.scenario.frames.frame_rows import Statement
from ticdc_producer.scenario.sql.ddl import is_ddl
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.syntax.alter import RenameTo
from ticdc_producer.scenario.sql.syntax.names import TableName
from ticdc_producer.scenario.sql.syntax.statement import AlterTable, RenameTables
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.statements import split_statements

NumberedStatement: TypeAlias = tuple[int, list[str], str]
"""Number of a statement, the texts of its DDL, and its database."""
_MOVES_ROWS = frozenset({
    Action.EXCHANGE_TABLE_PARTITION, Action.REORGANIZE_PARTITION, Action.ALTER_TABLE_PARTITIONING,
    Action.REMOVE_PARTITIONING,
})  # fmt: skip
"""DDLs that move rows between partitions or tables."""


def renamed_tables(text: str) -> Iterator[tuple[TableName, TableName]]:
    """Yield the former and the new name of each table that a statement renames, the last one first."""
    try:
        statements = [parse_ddl(Cursor(statement)) for statement in split_statements(text)]
    except ScenarioError:  # the session reports it when the statement runs
        return
    for statement in statements:
        if isinstance(statement, RenameTables):
            yield from reversed(statement.pairs)
        elif isinstance(statement, AlterTable):
            yield from (
                (statement.table, part.table) for part in statement.parts if isinstance(part, RenameTo)
            )


def check_jobs(text: str, jobs: int) -> None:
    """Check that a statement with a commit-ts is one DDL job at most."""
    if jobs > 1:
        what = f"a statement of a large DataFrame with commit_ts is one DDL job, and {text!r} is {jobs}"
        raise UnsupportedSQL(what, hint="write one statement for each table")


def in_order(statements: list[Statement], several: bool) -> list[NumberedStatement]:
    """Return the statements in their order: number, texts and database.

    :param several: whether the events of one DDL job may have the same number.
    """
    ordered: list[NumberedStatement] = []
    for number, _, text, schema in sorted(statements):
        if ordered and ordered[-1][0] == number and not several:
            what = f"two statements of a large DataFrame have the number {number}"
            raise ScenarioError(what, value=text, hint="a DDL is a transaction of its own")
        if ordered and ordered[-1][0] == number:
            ordered[-1][1].append(text)
        else:
            ordered.append((number, [text], schema))
    return ordered


def check_statement(text: str) -> None:
    """Check that a statement changes no rows: the session does not hold those of the frame."""
    statements = split_statements(text)
    if not statements:
        raise ScenarioError("the statement is not SQL text")
    for statement in statements:
        if not is_ddl(statement.verb) and statement.verb != "USE":
            what = f"{statement.verb or 'this'} is not possible in a DataFrame of more than 100,000 rows"
            raise UnsupportedSQL(what, hint="its statements are DDL; give the changes of rows as rows")


def check_table(old: TableInfo | None, new: TableInfo, action: int) -> None:
    """Check that a large frame can change the rows of a table, and that they can follow its DDL.

    :param old: the table before the DDL; None: it is new.
    """
    if action in _MOVES_ROWS:
        what = f"the rows of {new.qualified_name} come from a large DataFrame, and this DDL moves them"
        raise UnsupportedSQL(f"{what}: not supported", hint="partitions may be added, dropped and truncated")
    stored_key(new)
    if old is not None:
        check_alteration(old, new)
