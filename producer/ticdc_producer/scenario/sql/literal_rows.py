"""INSERT of many rows of literals, as dumps contain them, without a syntax tree of each row.

The rows of such a statement have few shapes. A shape is read once; the literals of each row are then
converted one by one, to the values that evaluating a syntax tree gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple, TypeAlias

from sqlglot import exp

from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.arithmetic import negate
from ticdc_producer.scenario.sql.dialect import parse_dml
from ticdc_producer.scenario.sql.literal import bits_value, hex_value, literal_number
from ticdc_producer.scenario.sql.statements import Statement

FEWEST_CHARACTERS = 512
"""Shapes with fewer characters are parsed as a whole, because the statement cache has them."""
Convert: TypeAlias = Callable[[str], SQLValue]

_NAME = r"(?:`[^`]+`|[\w$]+)"
_HEAD = re.compile(
    rf"(?:INSERT(?:\s+IGNORE)?|REPLACE)(?:\s+INTO\s+|\s+|\s*(?=`)){_NAME}(?:\s*\.\s*{_NAME})?"
    rf"\s*(?:\(\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\)\s*)?\bVALUES?\s*(?=\()",
    re.IGNORECASE,
)
"""An INSERT up to its rows, without the modifiers that TiDB ignores."""
_ROW = re.compile(r"\s*\(([^()]*)\)\s*(,|\Z)")
_ESCAPE = re.compile(r"\\(.)|''|\"\"", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


class LiteralRows(exp.Expression):
    """The rows of an INSERT, in place of its VALUES: ``rows`` has the values, which are no nodes."""

    arg_types: ClassVar[dict[str, bool]] = {"rows": True}


def parse_literal_insert(statement: Statement) -> tuple[str, exp.Expr] | None:
    """Parse an INSERT or REPLACE whose rows have literals only.

    :return: the verb and the tree, whose rows are ``LiteralRows``; None for any other statement, which
        ``parse_dml`` can parse.
    """
    shape = statement.shape
    head = _HEAD.match(shape) if len(shape) >= FEWEST_CHARACTERS else None
    if head is None:
        return None
    plans = _plans(shape, head.end())
    if plans is None or sum(plan.literals for plan in plans) != len(statement.literals):
        return None
    verb, tree = parse_dml(f"{head[0]}(NULL)", statement.line)
    tree.args["expression"] = LiteralRows(rows=[*_rows(plans, statement.literals)])
    return verb, tree


class _Plan(NamedTuple):
    """The conversions of a row's literals to its values.

    :param values: per value a conversion of the next literal, or a constant in a tuple.
    :param literals: number of literals of the row.
    """

    values: tuple[Convert | tuple[SQLValue], ...]
    literals: int


def _plans(shape: str, start: int) -> list[_Plan] | None:
    """Return one plan per row; None if there is anything but rows of literals."""
    plans = []
    while start < len(shape):
        row = _ROW.match(shape, start)
        plan = _plan(row[1]) if row else None
        if row is None or plan is None or (row[2] and row.end() == len(shape)):
            return None
        plans.append(plan)
        start = row.end()
    return plans


def _rows(plans: Sequence[_Plan], literals: Sequence[tuple[str, str]]) -> Iterator[list[SQLValue]]:
    texts = iter(literals)
    for plan in plans:
        yield [value[0] if isinstance(value, tuple) else value(next(texts)[1]) for value in plan.values]


@lru_cache(maxsize=1024)
def _plan(row: str) -> _Plan | None:
    """Return the plan of a row's shape; None if it has anything but literals."""
    if not row.strip():
        return None
    values = []
    for part in row.split(","):
        value = _VALUES.get(" ".join(part.split()).upper().replace("- ", "-"))
        if value is None:
            return None
        values.append(value)
    return _Plan(tuple(values), sum(not isinstance(value, tuple) for value in values))


def string_value(literal: str) -> str:
    r"""Return the text of a string literal that is given with its quotes.

    >>> string_value(r"'it''s 5\%'")
    "it's 5\\%"
    """
    quote, text = literal[0], literal[1:-1]
    if "\\" not in text and quote not in text:
        return text
    return _ESCAPE.sub(lambda match: _unescaped(match, quote), text)


def _unescaped(match: re.Match[str], quote: str) -> str:
    if match[1] is None:
        return quote if match[0][0] == quote else match[0]
    return _ESCAPED.get(match[1], match[1])


def _negative(literal: str) -> SQLValue:
    return negate(literal_number(literal), SQLMode())


def _binary(literal: str) -> SQLValue:
    return string_value(literal).encode("utf-8", "surrogateescape")


def _hex(literal: str) -> SQLValue:
    return hex_value(literal[2:].removesuffix("'"))


def _binary_hex(literal: str) -> SQLValue:
    value = _hex(literal)
    return bytes(value) if isinstance(value, bytes) else value


def _bits(literal: str) -> SQLValue:
    return bits_value(literal[2:].removesuffix("'"))


_VALUES: dict[str, Convert | tuple[SQLValue]] = {
    "0": literal_number,
    "-0": _negative,
    "''": string_value,
    "_UTF8MB4''": string_value,
    "_UTF8MB4 ''": string_value,
    "_BINARY''": _binary,
    "_BINARY ''": _binary,
    "X''": _hex,
    "_BINARY X''": _binary_hex,
    "B''": _bits,
    "NULL": (None,),
    "TRUE": (True,),
    "FALSE": (False,),
}
"""By the shape of a value, its conversion, or its constant value."""
