"""The clauses and modifiers of DML statements, by the words that users write."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.scenario.sql.text.parse import parse_dml
from ticdc_producer.scenario.sql.text.statements import Statement

_WORDS = {
    "joins": "JOIN", "alias": "an alias", "tables": "several tables", "with_": "WITH", "group": "GROUP BY",
    "locks": "FOR UPDATE", "windows": "WINDOW", "from_": "FROM", "laterals": "LATERAL",
    "pivots": "PIVOT", "catalog": "a catalog",
}  # fmt: skip


def clauses(node: exp.Expr) -> set[str]:
    """Return sqlglot's names of the clauses that a node has."""
    return {name for name, part in node.args.items() if part}


def named_table(node: exp.Expr) -> tuple[str, str]:
    """Return the database and the name of the table that a DML statement names.

    The database is empty if none is written.

    :raises UnsupportedSQL: for anything but one plain table.
    """
    table = node.this if isinstance(node, exp.Schema) else node
    if not isinstance(table, exp.Table):
        raise UnsupportedSQL("DML of anything but one plain table is not supported")
    refuse_other_clauses(table, "DML", "this", "db", "alias", "joins", "hints", "partition")
    return table.db, table.name


def is_star(node: exp.Expr) -> bool:
    """Return whether an item of a SELECT list is ``*`` or ``table.*``, and not a subquery of that."""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def partition_names(table: exp.Expr) -> list[str]:
    """Return the names in ``PARTITION (…)`` after a table; empty without the clause."""
    clause = table.args.get("partition")
    return [] if clause is None else [node.name for node in clause.expressions]


def check_index_hints(table: exp.Expr, indexes: Sequence[IndexInfo]) -> None:
    """Check that the indexes exist which USE, FORCE and IGNORE INDEX name; otherwise they have no effect.

    The start of a name is enough, if one index begins with it. Source: tidb ``getPathByIndexName``.

    :raises ScenarioError: for an index that the table does not have.
    """
    for hint in table.args.get("hints") or ():
        names = [index.name.lower() for index in indexes]
        for identifier in hint.expressions:
            name = identifier.name.lower()
            if name not in names and sum(index.startswith(name) for index in names) != 1:
                what = f"Key {identifier.name!r} doesn't exist in table {table.name!r}"
                raise ScenarioError(what, value=identifier.name)


def refuse_other_clauses(node: exp.Expr, statement: str, *known: str) -> None:
    """Check that a node has only known clauses.

    :raises UnsupportedSQL: for any other clause.
    """
    others = sorted(name for name, part in node.args.items() if part and name not in known)
    if others:
        word = _WORDS.get(others[0], others[0].upper())
        raise UnsupportedSQL(f"{statement} with {word} is not supported")


_BLANK = r"(?:\s|/\*(?:[^*]|\*(?!/))*\*/)+"
_PRIORITY = re.compile(
    rf"\A\s*(?:(?:INSERT|REPLACE)(?P<insert>(?:{_BLANK}(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED)\b)+)"
    rf"|DELETE(?P<delete>(?:{_BLANK}(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|QUICK|IGNORE)\b)+)"
    rf"|UPDATE(?P<update>(?:{_BLANK}(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED)\b)?(?:{_BLANK}IGNORE\b)?))",
    re.IGNORECASE,
)
"""The words about the order of work in a server, and an IGNORE that sqlglot does not know."""
_NAME = r"(?:`[^`]+`|[\w$]+)"
_DELETED = rf"{_NAME}(?:\s*\.\s*{_NAME})?(?:\s*\.\s*\*)?"
_DELETED_TABLES = re.compile(
    rf"\A\s*DELETE{_BLANK}(?:FROM{_BLANK})?(?P<tables>{_DELETED}(?:\s*,\s*{_DELETED})*)"
    rf"(?={_BLANK}(?:FROM|USING)\b)",
    re.IGNORECASE,
)
_ALL_COLUMNS = re.compile(r"\.\s*\*")
"""The suffix ``.*`` that a DELETE of several tables allows after their names; it has no effect."""


def parse_modified_dml(statement: Statement) -> tuple[str, exp.Expr]:
    """Parse a DML statement. Words about priority, and ``.*`` after the tables of a DELETE, have no effect.

    :return: the verb, and sqlglot's tree; with IGNORE the tree has the argument ``ignore``.
    :raises ScenarioError: if it does not parse.
    """
    sql, ignore = statement.sql, False
    priority = _PRIORITY.match(sql)
    if priority is not None:
        start, end = priority.span(priority.lastgroup or 0)
        words = re.sub(r"/\*.*?\*/", " ", priority[0], flags=re.DOTALL).upper().split()
        ignore = priority.lastgroup in ("update", "delete") and "IGNORE" in words
        sql = sql[:start] + " " * (end - start) + sql[end:]
    deleted = _DELETED_TABLES.match(sql)
    if deleted is not None:
        start, end = deleted.span("tables")
        tables = _ALL_COLUMNS.sub(lambda match: " " * len(match[0]), sql[start:end])
        sql = sql[:start] + tables + sql[end:]
    verb, tree = parse_dml(sql, statement.line)
    if ignore:
        tree.set("ignore", True)
    return verb, tree
