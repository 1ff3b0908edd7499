"""Expressions as TiDB prints them, by recursive descent with TiDB's operator precedences.

TiDB prints the user's brackets, order of operands and function names, so no syntax tree is needed. sqlglot's
tree would lose printed details: a unary plus, ``!`` or ``NOT``, the position of ``NOT`` before ``IN``.
Rules: tidb ``pkg/parser/ast/expressions.go`` (``Restore``); ``parser.y`` (``Expression``, ``BitExpr``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.restore import functions, query
from ticdc_producer.scenario.sql.restore.grammar import production, read_expressions
from ticdc_producer.scenario.sql.restore.interval import is_unit, read_interval
from ticdc_producer.scenario.sql.restore.literal import read_literal
from ticdc_producer.scenario.sql.restore.names import (
    TARGET_NAMES,
    column_text,
    quote_string,
    string_with_charset,
)
from ticdc_producer.scenario.sql.restore.subquery_lookahead import starts_subquery
from ticdc_producer.scenario.sql.syntax.names import read_collation, read_column_name
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.dialect import TokenType

_COMPARISONS = ("=", ">=", ">", "<=", "<", "!=", "<>", "<=>")
_NEGATED = ("IN", "BETWEEN", "LIKE", "ILIKE", "REGEXP", "RLIKE")
_PRINTED_OPERATORS = {"<>": "!=", "MOD": "%", "DIV": " DIV "}
_PRECEDENCES = {
    "|": 1, "&": 2, "<<": 3, ">>": 3, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "DIV": 5, "MOD": 5, "^": 6,
}  # fmt: skip
_SUM = _PRECEDENCES["+"]
_TYPED_LITERALS = ("DATE", "TIME", "TIMESTAMP")
_ODBC_LITERALS = {"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}


@production
def read_expression(cursor: Cursor) -> str:
    """Read the expression that comes next.

    :raises UnsupportedSQL: for syntax that only TiDB supports, not this grammar: variables, MATCH … AGAINST.
    """
    text = _exclusive_or(cursor)
    while cursor.accept_any("OR", "||"):
        text += " OR " + _exclusive_or(cursor)
    return text


def _exclusive_or(cursor: Cursor) -> str:
    text = _conjunction(cursor)
    while cursor.accept("XOR"):
        text += " XOR " + _conjunction(cursor)
    return text


def _conjunction(cursor: Cursor) -> str:
    text = _negation(cursor)
    while cursor.accept_any("AND", "&&"):
        text += " AND " + _negation(cursor)
    return text


def _negation(cursor: Cursor) -> str:
    if cursor.word() == "NOT" and cursor.word(1) == "NOT":
        ahead = Cursor(cursor.statement, cursor.position + 2)
        if ahead.word() == "EXISTS":
            raise cursor.unsupported("NOT NOT EXISTS")  # TiDB simplifies it if nothing follows
    if cursor.accept("NOT"):
        return "NOT " + _negation(cursor)
    return _is_test(cursor)


def _is_test(cursor: Cursor) -> str:
    """Read ``IS [NOT] {TRUE | FALSE | NULL | UNKNOWN}``."""
    text = _comparison(cursor)
    while cursor.accept("IS"):
        text += " IS" + " NOT" * cursor.accept("NOT")
        word = cursor.accept_any("TRUE", "FALSE", "NULL", "UNKNOWN")
        if not word:
            raise cursor.error("expected NULL, TRUE or FALSE")
        text += " NULL" if word == "UNKNOWN" else " " + word
    return text


def _comparison(cursor: Cursor) -> str:
    text = _predicate(cursor)
    while operator := _accept_operator(cursor, _COMPARISONS):
        text += _operator_text(operator)
        if quantifier := cursor.accept_any("ANY", "SOME", "ALL"):
            text += ("ALL " if quantifier == "ALL" else "ANY ") + query.read_subquery(cursor)
        else:
            text += _predicate(cursor)
    return text


def _operator_text(operator: str) -> str:
    text = _PRINTED_OPERATORS.get(operator, operator)
    return f" {text.strip()} " if TARGET_NAMES.get() else text


def _accept_operator(cursor: Cursor, choices: tuple[str, ...]) -> str:
    """Step over one of the operators. The lexer may give one of two characters as two tokens."""
    for width in (2, 1):
        words = [cursor.word(ahead) for ahead in range(width)]
        operator = "".join(words)
        if all(words) and operator in choices and (width == 1 or not operator.isalpha()):
            cursor.position += width
            return operator
    return ""


def _predicate(cursor: Cursor) -> str:
    text = _bit_expression(cursor)
    negated = " NOT" * (cursor.word(1) in _NEGATED and cursor.accept("NOT"))
    if cursor.accept("IN"):
        return f"{text}{negated} IN {_in_list(cursor)}"
    if cursor.accept("BETWEEN"):
        low = _bit_expression(cursor)
        cursor.expect("AND")
        return f"{text}{negated} BETWEEN {low} AND {_predicate(cursor)}"
    if word := cursor.accept_any("LIKE", "ILIKE"):
        return f"{text}{negated} {word} {_simple_expression(cursor)}{_escape(cursor)}"
    if cursor.accept_any("REGEXP", "RLIKE"):
        return f"{text}{negated} REGEXP {_simple_expression(cursor)}"
    if cursor.accept("MEMBER", "OF"):
        return f"{text} MEMBER OF {_bracketed_expression(cursor)}"
    return text


def _in_list(cursor: Cursor) -> str:
    if starts_subquery(cursor, allow_nested=False):
        return query.read_subquery(cursor)
    cursor.expect("(")
    members = read_expressions(cursor)
    cursor.expect(")")
    return f"({','.join(members)})"


def _bracketed_expression(cursor: Cursor) -> str:
    cursor.expect("(")
    text = read_expression(cursor)
    cursor.expect(")")
    return f"({text})"


def _escape(cursor: Cursor) -> str:
    if not cursor.accept("ESCAPE"):
        return ""
    sign = cursor.string()
    return "" if sign == "\\" else " ESCAPE " + quote_string(sign)


def _bit_expression(cursor: Cursor, above: int = 0) -> str:
    """Read arithmetic (``BitExpr``) with operators of a higher precedence than ``above``."""
    text = _leading_interval(cursor) if _is_interval(cursor) else _simple_expression(cursor)
    while operator := _next_operator(cursor, above):
        if operator in "+-" and _is_interval(cursor):
            function = "DATE_ADD" if operator == "+" else "DATE_SUB"
            text = f"{function}({text}, {read_interval(cursor)})"
        else:
            text += _operator_text(operator) + _bit_expression(cursor, _PRECEDENCES[operator])
    return text


@production
def read_arithmetic(cursor: Cursor) -> str:
    """Read an expression without comparisons and logic."""
    return _bit_expression(cursor)


def _next_operator(cursor: Cursor, above: int) -> str:
    start = cursor.position
    operator = _accept_operator(cursor, tuple(_PRECEDENCES))
    if operator and _PRECEDENCES[operator] <= above:
        cursor.position = start
        return ""
    return operator


def _is_interval(cursor: Cursor) -> bool:
    """Return whether ``INTERVAL … unit`` comes next, and not the function INTERVAL()."""
    if cursor.word() != "INTERVAL":
        return False
    if cursor.word(1) != "(":
        return True
    depth, ahead = 1, 2
    while depth and cursor.position + ahead < len(cursor.statement.tokens):
        if depth == 1 and cursor.word(ahead) == ",":
            return False
        depth += (cursor.word(ahead) == "(") - (cursor.word(ahead) == ")")
        ahead += 1
    return is_unit(Cursor(cursor.statement, cursor.position + ahead))


def _leading_interval(cursor: Cursor) -> str:
    interval = read_interval(cursor)
    cursor.expect("+")
    return f"DATE_ADD({_bit_expression(cursor, _SUM)}, {interval})"


def _simple_expression(cursor: Cursor) -> str:
    text = _operand(cursor)
    while cursor.accept("COLLATE"):
        text += " COLLATE " + read_collation(cursor)
    return text


def _operand(cursor: Cursor) -> str:
    word = cursor.word()
    if word in ("-", "+", "~", "!"):
        cursor.position += 1
        return word + _simple_expression(cursor)
    if cursor.accept("BINARY"):
        return "BINARY " + _simple_expression(cursor)
    if word == "(":
        subquery = starts_subquery(cursor, allow_nested=False)
        return query.read_subquery(cursor) if subquery else _bracketed_or_row(cursor)
    if cursor.accept("EXISTS"):
        return "EXISTS " + query.read_subquery(cursor)
    if cursor.accept("CASE"):
        return _case(cursor)
    if word == "{":
        return _odbc_literal(cursor)
    return _typed_literal(cursor) or read_literal(cursor) or functions.read_call(cursor) or _column(cursor)


def _bracketed_or_row(cursor: Cursor) -> str:
    """Read one expression in brackets; several expressions are a ROW."""
    cursor.expect("(")
    expressions = read_expressions(cursor)
    cursor.expect(")")
    return f"{'ROW' if len(expressions) > 1 else ''}({','.join(expressions)})"


def _case(cursor: Cursor) -> str:
    text = "CASE" + ("" if cursor.word() == "WHEN" else " " + read_expression(cursor))
    while cursor.accept("WHEN"):
        text += " WHEN " + read_expression(cursor)
        cursor.expect("THEN")
        text += " THEN " + read_expression(cursor)
    if cursor.accept("ELSE"):
        text += " ELSE " + read_expression(cursor)
    cursor.expect("END")
    return text + " END"


def _typed_literal(cursor: Cursor) -> str:
    """Read ``DATE'…'``, ``TIME'…'`` or ``TIMESTAMP'…'``; empty for anything else. No charset is printed."""
    kind = cursor.word()
    if kind not in _TYPED_LITERALS or not Cursor(cursor.statement, cursor.position + 1).is_string():
        return ""
    cursor.position += 1
    return f"{kind} {quote_string(cursor.string())}"


def _odbc_literal(cursor: Cursor) -> str:
    """Read ``{d '…'}``, ``{t '…'}`` or ``{ts '…'}``."""
    cursor.expect("{")
    kind = _ODBC_LITERALS.get(cursor.accept_any(*_ODBC_LITERALS))
    if kind is None:
        raise cursor.unsupported("{…} that is not a date, time or timestamp")
    text = f"{kind} {quote_string(cursor.string())}"
    cursor.expect("}")
    return text


def _column(cursor: Cursor) -> str:
    token = cursor.token
    if token is not None and token.token_type in (TokenType.PARAMETER, TokenType.SESSION_PARAMETER):
        raise cursor.unsupported("a variable")
    if cursor.word() in _NOT_COLUMNS:
        raise cursor.error("expected an expression")
    start, names = cursor.position, read_column_name(cursor)
    text = column_text(names)
    if cursor.word() != "(":
        cursor.note("column", start, *names)
    if cursor.accept("->"):
        return f"JSON_EXTRACT({text}, {_json_path(cursor)})"
    if cursor.accept("->>"):
        return f"JSON_UNQUOTE(JSON_EXTRACT({text}, {_json_path(cursor)}))"
    if cursor.word() == "(":
        return f"{text}({', '.join(functions.read_arguments(cursor))})"
    return text


def _json_path(cursor: Cursor) -> str:
    return string_with_charset(cursor.string())


_NOT_COLUMNS = frozenset({
    "AND", "AS", "BETWEEN", "BY", "FROM", "GROUP", "HAVING", "IN", "IS", "JOIN", "LIKE", "LIMIT", "MATCH",
    "ON", "OR", "ORDER", "SELECT", "THEN", "UNION", "USING", "WHEN", "WHERE", "XOR",
})  # fmt: skip
"""Reserved words that cannot be columns; they often follow a missing operand."""
