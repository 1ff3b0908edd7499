"""Calls of functions as TiDB prints them.

Rules: tidb ``pkg/parser/ast/functions.go`` (``Restore``); ``parser.y`` (``FunctionCallKeyword``,
``FunctionCallNonKeyword``, ``SumExpr``).
"""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.scenario.sql.restore import grammar, window
from ticdc_producer.scenario.sql.restore.cast import read_cast_type
from ticdc_producer.scenario.sql.restore.interval import read_interval, read_unit
from ticdc_producer.scenario.sql.restore.names import (
    quote_string,
    read_column_name,
    read_table_name,
    string_with_charset,
)
from ticdc_producer.scenario.sql.restore.ordering import read_order
from ticdc_producer.scenario.sql.syntax.names import read_charset
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.dialect import WITHOUT_BRACKETS, TokenType

_PRINTED_NAMES = {
    "STD": "STDDEV_POP", "STDDEV": "STDDEV_POP", "VARIANCE": "VAR_POP", "INSERT": "INSERT_FUNC",
}  # fmt: skip


def read_call(cursor: Cursor) -> str:
    """Read the function call that comes next; empty for anything else."""
    if cursor.accept("NEXT", "VALUE", "FOR"):
        return f"NEXTVAL({read_table_name(cursor)})"
    token = cursor.token
    if (
        token is None
        or token.token_type == TokenType.STRING
        or not (token.text[:1].isalpha() or token.text[:1] == "_")
    ):
        return ""
    word = str(token.text).upper()
    ahead = Cursor(cursor.statement, cursor.position + 1)
    if not ahead.accept("("):
        if cursor.word() not in WITHOUT_BRACKETS:
            return ""
        cursor.position += 1
        return word + "()"
    cursor.position = ahead.position
    text = _READERS.get(word, _any_call)(cursor, _PRINTED_NAMES.get(word, word))
    return text + window.read_window_call(cursor, word)


def read_arguments(cursor: Cursor) -> tuple[str, ...]:
    """Read ``([argument, …])``."""
    cursor.expect("(")
    return _remaining_arguments(cursor)


def _remaining_arguments(cursor: Cursor) -> tuple[str, ...]:
    """Read the arguments up to the closing bracket."""
    if cursor.accept(")"):
        return ()
    arguments = grammar.read_expressions(cursor)
    cursor.expect(")")
    return arguments


def _any_call(cursor: Cursor, word: str) -> str:
    """Read arguments with commas.

    Aggregates may start with DISTINCT, or with ALL, which is not printed.
    """
    distinct = "DISTINCT " * bool(cursor.accept_any("DISTINCT", "DISTINCTROW"))
    cursor.accept("ALL")
    return f"{word}({distinct}{', '.join(_remaining_arguments(cursor))})"


def _last_argument(cursor: Cursor) -> str:
    text = grammar.read_expression(cursor)
    cursor.expect(")")
    return text


def _count(cursor: Cursor, word: str) -> str:
    if cursor.accept("*", ")"):
        return "COUNT(1)"
    return _any_call(cursor, word)


def _modulo(cursor: Cursor, _: str) -> str:
    left = grammar.read_expression(cursor)
    cursor.expect(",")
    return f"{left}%{_last_argument(cursor)}"


def _row(cursor: Cursor, _: str) -> str:
    return f"ROW({','.join(_remaining_arguments(cursor))})"


def _char(cursor: Cursor, _: str) -> str:
    """Read CHAR(), which TiDB prints under its internal name, with the charset as the last argument."""
    codes = grammar.read_expressions(cursor)
    charset = quote_string(read_charset(cursor)) if cursor.accept("USING") else "NULL"
    cursor.expect(")")
    return f"CHAR_FUNC({', '.join(codes)}, {charset})"


def _cast(cursor: Cursor, _: str) -> str:
    value = grammar.read_expression(cursor)
    cursor.expect("AS")
    kind = read_cast_type(cursor) + " ARRAY" * cursor.accept("ARRAY")
    cursor.expect(")")
    return f"CAST({value} AS {kind})"


def _convert(cursor: Cursor, _: str) -> str:
    value = grammar.read_expression(cursor)
    if cursor.accept("USING"):
        text = f"CONVERT({value} USING {quote_string(read_charset(cursor))})"
    else:
        cursor.expect(",")
        text = f"CONVERT({value}, {read_cast_type(cursor)})"
    cursor.expect(")")
    return text


def _extract(cursor: Cursor, _: str) -> str:
    unit = read_unit(cursor)
    cursor.expect("FROM")
    return f"EXTRACT({unit} FROM {_last_argument(cursor)})"


def _position(cursor: Cursor, _: str) -> str:
    part = grammar.read_arithmetic(cursor)
    cursor.expect("IN")
    return f"POSITION({part} IN {_last_argument(cursor)})"


def _trim(cursor: Cursor, _: str) -> str:
    side = cursor.accept_any("BOTH", "LEADING", "TRAILING")
    if side and cursor.accept("FROM"):
        return f"TRIM({side} {string_with_charset(' ')} FROM {_last_argument(cursor)})"
    text = (side + " " if side else "") + grammar.read_expression(cursor)
    if cursor.accept("FROM"):
        return f"TRIM({text} FROM {_last_argument(cursor)})"
    cursor.expect(")")
    return f"TRIM({text})"


def _substring(cursor: Cursor, word: str) -> str:
    """Read SUBSTRING(); TiDB prints ``SUBSTRING(x FROM y FOR z)`` with commas."""
    arguments = [grammar.read_expression(cursor)]
    if not cursor.accept("FROM"):
        cursor.expect(",")
        return f"{word}({', '.join((*arguments, *_remaining_arguments(cursor)))})"
    arguments.append(grammar.read_expression(cursor))
    if cursor.accept("FOR"):
        arguments.append(grammar.read_expression(cursor))
    cursor.expect(")")
    return f"{word}({', '.join(arguments)})"


def _date_arithmetic(cursor: Cursor, word: str) -> str:
    """Read DATE_ADD, DATE_SUB, ADDDATE or SUBDATE; the last two also accept a number of days."""
    date = grammar.read_expression(cursor)
    cursor.expect(",")
    interval = (
        f"INTERVAL {grammar.read_expression(cursor)} DAY"
        if cursor.word() != "INTERVAL"
        else read_interval(cursor)
    )
    cursor.expect(")")
    return f"{word}({date}, {interval})"


def _unit_first(cursor: Cursor, word: str) -> str:
    unit = read_unit(cursor)
    cursor.expect(",")
    return f"{word}({unit}, {', '.join(_remaining_arguments(cursor))})"


def _get_format(cursor: Cursor, _: str) -> str:
    kind = cursor.accept_any("DATE", "TIME", "DATETIME", "TIMESTAMP")
    cursor.expect(",")
    return f"GET_FORMAT({'DATETIME' if kind == 'TIMESTAMP' else kind}, {_last_argument(cursor)})"


def _column_of(cursor: Cursor, word: str) -> str:
    column = read_column_name(cursor)
    cursor.expect(")")
    return f"{word}({column})"


def _group_concat(cursor: Cursor, _: str) -> str:
    distinct = "DISTINCT " * bool(cursor.accept_any("DISTINCT", "DISTINCTROW"))
    cursor.accept("ALL")
    text = ", ".join(grammar.read_expressions(cursor)) + read_order(cursor)
    separator = cursor.string() if cursor.accept("SEPARATOR") else ","
    cursor.expect(")")
    return f"GROUP_CONCAT({distinct}{text} SEPARATOR {quote_string(separator)})"


def _rejected(cursor: Cursor, word: str) -> str:
    raise cursor.unsupported(f"{word}()")


_READERS: dict[str, Callable[[Cursor, str], str]] = {
    **dict.fromkeys(("SUBSTRING", "SUBSTR", "MID"), _substring),
    **dict.fromkeys(("DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE"), _date_arithmetic),
    **dict.fromkeys(("TIMESTAMPADD", "TIMESTAMPDIFF"), _unit_first),
    **dict.fromkeys(("VALUES", "DEFAULT"), _column_of),
    **dict.fromkeys(("WEIGHT_STRING", "MATCH", "JSON_MEMBEROF", "JSON_SUM_CRC32"), _rejected),
    "COUNT": _count,
    "MOD": _modulo,
    "ROW": _row,
    "CHAR": _char,
    "CAST": _cast,
    "CONVERT": _convert,
    "EXTRACT": _extract,
    "POSITION": _position,
    "TRIM": _trim,
    "GET_FORMAT": _get_format,
    "GROUP_CONCAT": _group_concat,
}
