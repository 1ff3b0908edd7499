"""The SELECT of a view as TiDB prints it.

Rules: tidb ``pkg/parser/ast/dml.go`` (``SelectStmt``, ``SetOprStmt``, ``WithClause``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.restore import grammar, join, window
from ticdc_producer.scenario.sql.restore.grammar import production
from ticdc_producer.scenario.sql.restore.names import read_name
from ticdc_producer.scenario.sql.restore.ordering import read_order, read_order_item
from ticdc_producer.scenario.sql.restore.subquery_lookahead import SET_OPERATORS
from ticdc_producer.scenario.sql.syntax.names import read_bracketed_list, read_list
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.spelling import quoted_name

_OPTIONS = (  # in TiDB's order; SQL_CACHE is not printed
    "SQL_SMALL_RESULT", "SQL_BIG_RESULT", "SQL_BUFFER_RESULT", "SQL_NO_CACHE", "SQL_CALC_FOUND_ROWS",
    "DISTINCT", "ALL", "STRAIGHT_JOIN",
)  # fmt: skip
_AFTER_FIELDS = frozenset({
    ",", ")", "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "FOR", "LOCK", "INTO", "WITH",
    *SET_OPERATORS,
})  # fmt: skip


@production
def read_subquery(cursor: Cursor) -> str:
    """Read a query in one or several pairs of brackets."""
    cursor.expect("(")
    text = _with(cursor) + _term(cursor)
    if text.startswith("(") and cursor.accept(")"):
        return text
    text = _set_operation(cursor, text)
    cursor.expect(")")
    return f"({text})"


def read_query(cursor: Cursor) -> str:
    """Read one SELECT, or several with set operators, and their ORDER BY and LIMIT."""
    return _set_operation(cursor, _with(cursor) + _term(cursor))


def _set_operation(cursor: Cursor, text: str) -> str:
    while operator := cursor.accept_any(*SET_OPERATORS):
        all_rows = cursor.accept_any("ALL", "DISTINCT") == "ALL"
        text += f" {operator}{' ALL' * all_rows} {_term(cursor)}"
    return text + _order_and_limit(cursor)


def _order_and_limit(cursor: Cursor) -> str:
    text = read_order(cursor) + _limit(cursor)
    if cursor.word() in ("FOR", "LOCK", "INTO", "FETCH"):
        raise cursor.unsupported(f"SELECT … {cursor.word()}")
    return text


def _limit(cursor: Cursor) -> str:
    if not cursor.accept("LIMIT"):
        return ""
    count, offset = cursor.integer(), 0
    paged = cursor.word() in (",", "OFFSET")
    if cursor.accept(","):
        count, offset = cursor.integer(), count
    elif cursor.accept("OFFSET"):
        offset = cursor.integer()
    return f" LIMIT {offset},{count}" if paged else f" LIMIT {count}"


def _with(cursor: Cursor) -> str:
    if not cursor.accept("WITH"):
        return ""
    recursive = "RECURSIVE " * cursor.accept("RECURSIVE")
    return f"WITH {recursive}{', '.join(read_list(cursor, _common_table))} "


def _common_table(cursor: Cursor) -> str:
    start = cursor.position
    name = cursor.identifier()
    cursor.note("common table", start, name)
    text = quoted_name(name)
    if cursor.word() == "(":
        text += f" ({', '.join(read_bracketed_list(cursor, read_name))})"
    cursor.expect("AS")
    return f"{text} AS {read_subquery(cursor)}"


def _term(cursor: Cursor) -> str:
    if cursor.word() == "(":
        return read_subquery(cursor)
    if cursor.word() in ("TABLE", "VALUES"):
        raise cursor.unsupported(f"{cursor.word()} as a query")
    return _select(cursor)


def _select(cursor: Cursor) -> str:
    _reject_hints(cursor)
    cursor.note("SELECT", cursor.position)
    cursor.expect("SELECT")
    text = "SELECT " + _options(cursor) + ",".join(read_list(cursor, _field))
    text += _from(cursor)
    if cursor.accept("GROUP"):
        cursor.expect("BY")
        text += " GROUP BY " + ",".join(read_list(cursor, _group_item))
        text += " WITH ROLLUP" * cursor.accept("WITH", "ROLLUP")
    if cursor.accept("HAVING"):
        text += " HAVING " + grammar.read_expression(cursor)
    if cursor.accept("WINDOW"):
        text += " WINDOW " + ",".join(read_list(cursor, window.read_named_window))
    text += _order_and_limit(cursor)
    cursor.note("end of SELECT", cursor.position)
    return text


def _group_item(cursor: Cursor) -> str:
    start = cursor.position
    text = read_order_item(cursor)
    cursor.note("group", start)
    return text


def _reject_hints(cursor: Cursor) -> None:
    """Reject optimizer hints: TiDB prints them, but the tokenizer drops them as comments.

    :raises UnsupportedSQL: if a hint follows SELECT.
    """
    tokens = cursor.statement.tokens[cursor.position : cursor.position + 2]
    if len(tokens) > 1 and "/*+" in cursor.statement.sql[tokens[0].end + 1 : tokens[1].start]:
        raise cursor.unsupported("an optimizer hint")


def _options(cursor: Cursor) -> str:
    words = set()
    while word := cursor.accept_any(*_OPTIONS, "DISTINCTROW", "SQL_CACHE"):
        words.add("DISTINCT" if word == "DISTINCTROW" else word)
    return "".join(f"{word} " for word in _OPTIONS if word in words)


def _from(cursor: Cursor) -> str:
    """Read FROM and WHERE. TiDB prints DUAL only for a condition without a table."""
    tables = ""
    if cursor.accept("FROM") and not cursor.accept("DUAL"):
        tables = " FROM " + join.read_tables(cursor)
    if not cursor.accept("WHERE"):
        return tables
    return f"{tables or ' FROM DUAL'} WHERE {grammar.read_expression(cursor)}"


def _field(cursor: Cursor) -> str:
    start, alias = cursor.position, ""
    text = _star(cursor)
    if not text:
        text = grammar.read_expression(cursor)
        cursor.note("field expression", start)
        if cursor.accept("AS") or not (cursor.at_end or cursor.word() in _AFTER_FIELDS):
            alias = cursor.string() if cursor.is_string() else cursor.identifier()
            text += f" AS {quoted_name(alias)}"
    cursor.note("field", start, alias)
    return text


def _star(cursor: Cursor) -> str:
    """Read ``*``, ``table.*`` or ``database.table.*``; empty for anything else."""
    for dots in range(3):
        if cursor.word(2 * dots) == "*" and all(cursor.word(2 * dot + 1) == "." for dot in range(dots)):
            start, qualifiers = cursor.position, list[str]()
            for _ in range(dots):
                qualifiers.append(cursor.identifier())
                cursor.expect(".")
            cursor.expect("*")
            cursor.note("star", start, *qualifiers)
            return ".".join([*map(quoted_name, qualifiers), "*"])
    return ""
