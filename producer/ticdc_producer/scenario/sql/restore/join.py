"""Tables and joins as TiDB prints them: a join inside a join is in brackets.

Rules: tidb ``pkg/parser/ast/dml.go`` (``Join``, ``NewCrossJoin``, ``TableSource``, ``IndexHint``);
``parser.y`` (``TableRefs``, ``JoinTable``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ticdc_producer.scenario.sql.restore import grammar
from ticdc_producer.scenario.sql.restore.names import read_name, table_text
from ticdc_producer.scenario.sql.restore.subquery_lookahead import starts_subquery
from ticdc_producer.scenario.sql.syntax.names import read_bracketed_list, read_list, read_table_name
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.spelling import quoted_name

_AFTER_TABLE = frozenset({
    ",", ")", "JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "NATURAL", "STRAIGHT_JOIN", "ON", "USING", "WHERE",
    "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "FOR", "LOCK", "INTO", "UNION", "EXCEPT", "INTERSECT",
    "USE", "FORCE", "IGNORE", "WITH", "FETCH",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableFactor:
    """A table, or a subquery in FROM.

    :param derived: whether it is a subquery.
    """

    text: str
    derived: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """A join; without a right side, a single table in brackets or in a comma list.

    :param kind: `` LEFT``, `` NATURAL RIGHT`` … before the word JOIN.
    :param straight: whether it is a STRAIGHT_JOIN.
    :param condition: `` ON …`` or `` USING …``.
    :param in_brackets: whether the user wrote brackets around it; TiDB does not regroup across them.
    """

    left: Join | TableFactor
    right: Join | TableFactor | None = None
    kind: str = ""
    straight: bool = False
    condition: str = ""
    in_brackets: bool = False

    @property
    def text(self) -> str:
        if self.right is None:
            return self.left.text
        left = self.left.text
        comma = False
        if isinstance(self.left, Join):
            comma = (
                self.left.right is None and isinstance(self.left.left, TableFactor) and self.left.left.derived
            )
            left = left if comma else f"({left})"
        word = " STRAIGHT_JOIN " if self.straight else ", " if comma else " JOIN "
        right = f"({self.right.text})" if isinstance(self.right, Join) else self.right.text
        return left + self.kind + word + right + self.condition


def read_tables(cursor: Cursor) -> str:
    """Read the tables of FROM."""
    return _tables(cursor).text


def _tables(cursor: Cursor) -> Join:
    first = _table_reference(cursor)
    tables = first if isinstance(first, Join) else Join(first)
    while cursor.accept(","):
        tables = Join(tables, _table_reference(cursor))
    return tables


def _table_reference(cursor: Cursor) -> Join | TableFactor:
    """Read tables joined without commas.

    An ON belongs to the last two tables that have no condition yet.
    """
    pending: list[tuple[Join | TableFactor, str]] = []
    last = _table_factor(cursor)
    while True:
        kind = _join_words(cursor)
        if kind is None:
            break
        if kind.startswith(" NATURAL"):
            cursor.note("merged columns", cursor.position)
            last = Join(last, _table_factor(cursor), kind)
        elif kind == " STRAIGHT":
            right = _table_factor(cursor)
            last = Join(last, right, straight=True, condition=_condition(cursor))
        else:
            pending.append((last, kind))
            last = _table_factor(cursor)
            while pending and (condition := _condition(cursor)):
                left, kind = pending.pop()
                last = Join(left, last, kind, condition=condition)
    for left, kind in reversed(pending):
        if kind:
            raise cursor.error("expected ON or USING")
        last = _cross_join(cursor, left, last)
    return last


def _cross_join(cursor: Cursor, left: Join | TableFactor, right: Join | TableFactor) -> Join:
    """Join without a condition; TiDB moves such a join to the innermost left of its right side."""
    if not isinstance(right, Join) or right.right is None or right.in_brackets:
        return Join(left, right)
    return _innermost_left(cursor, left, right)


def _innermost_left(cursor: Cursor, left: Join | TableFactor, right: Join) -> Join:
    if right.in_brackets and "RIGHT" in right.kind:
        raise cursor.unsupported("a RIGHT JOIN in brackets that TiDB regroups")
    if isinstance(right.left, Join) and right.left.right is not None:
        return replace(right, left=_innermost_left(cursor, left, right.left))
    return replace(right, left=Join(left, right.left))


def _join_words(cursor: Cursor) -> str | None:
    """Step over ``[INNER | CROSS] JOIN`` and the like; None if no join follows."""
    if cursor.accept("STRAIGHT_JOIN"):
        return " STRAIGHT"
    if cursor.accept("JOIN"):
        return ""
    if cursor.accept_any("INNER", "CROSS"):
        cursor.expect("JOIN")
        return ""
    natural = " NATURAL" * cursor.accept("NATURAL")
    side = cursor.accept_any("LEFT", "RIGHT")
    if not natural and not side:
        return None
    if side:
        cursor.accept("OUTER")
    cursor.expect("JOIN")
    return natural + (f" {side}" if side else "")


def _condition(cursor: Cursor) -> str:
    if cursor.accept("ON"):
        return " ON " + grammar.read_expression(cursor)
    if cursor.accept("USING"):
        cursor.note("merged columns", cursor.position)
        return f" USING ({','.join(read_bracketed_list(cursor, read_name))})"
    return ""


def _table_factor(cursor: Cursor) -> Join | TableFactor:
    if starts_subquery(cursor):
        start = cursor.position
        text = grammar.read_subquery(cursor)
        cursor.accept("AS")
        alias = cursor.identifier()
        cursor.note("derived table", start, alias)
        return TableFactor(f"{text} AS {quoted_name(alias)}", derived=True)
    if cursor.accept("("):
        inside = replace(_tables(cursor), in_brackets=True)
        cursor.expect(")")
        return inside
    if cursor.word() == "LATERAL":
        raise cursor.unsupported("LATERAL")
    return _table(cursor)


def _table(cursor: Cursor) -> TableFactor:
    start, table, alias = cursor.position, read_table_name(cursor), ""
    text = table_text(table)
    if cursor.accept("PARTITION"):
        text += f" PARTITION({', '.join(read_bracketed_list(cursor, read_name))})"
    if cursor.word() == "TABLESAMPLE" or (cursor.word() == "AS" and cursor.word(1) == "OF"):
        raise cursor.unsupported("AS OF TIMESTAMP or TABLESAMPLE")
    if cursor.accept("AS") or not (cursor.at_end or cursor.word() in _AFTER_TABLE):
        alias = cursor.string() if cursor.is_string() else cursor.identifier()
        text += f" AS {quoted_name(alias)}"
    cursor.note("table", start, table.schema, table.name, alias)
    while word := cursor.accept_any("USE", "IGNORE", "FORCE"):
        text += f" {word} {_index_hint(cursor)}"
    return TableFactor(text)


def _index_hint(cursor: Cursor) -> str:
    if not cursor.accept_any("INDEX", "KEY"):
        raise cursor.error("expected INDEX")
    scope = ""
    if cursor.accept("FOR"):
        scope = " FOR JOIN" if cursor.accept("JOIN") else f" FOR {_order_or_group_by(cursor)}"
    cursor.expect("(")
    names = [] if cursor.word() == ")" else read_list(cursor, _index_name)
    cursor.expect(")")
    return f"INDEX{scope} ({', '.join(names)})"


def _index_name(cursor: Cursor) -> str:
    """Read the name of an index, which may be PRIMARY."""
    return quoted_name(cursor.word_or_name("an index name"))


def _order_or_group_by(cursor: Cursor) -> str:
    word = cursor.accept_any("ORDER", "GROUP")
    cursor.expect("BY")
    return f"{word} BY"
