"""INSERT of rows of literals, without a syntax tree of each row.

The rows of a statement have few shapes. A shape is read once; the literals of each row are then
converted one by one, to the values that evaluating a syntax tree gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple, TypeAlias

from sqlglot import exp

from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.arithmetic import negate
from ticdc_producer.scenario.sql.expression.literal import bits_value, hex_value, literal_number
from ticdc_producer.scenario.sql.text.lexer import PLACEHOLDERS
from ticdc_producer.scenario.sql.text.parse import parse_dml

Convert: TypeAlias = Callable[[str], SQLValue]

_NAME = r"(?:`[^`]+`|[\w$]+)"
_HEAD = re.compile(
    rf"(?:INSERT(?:\s+IGNORE)?|REPLACE)(?:\s+INTO\s+|\s+|\s*(?=`)){_NAME}(?:\s*\.\s*{_NAME})?"
    rf"\s*(?:\(\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\)\s*)?\bVALUES?\s*(?=\()",
    re.IGNORECASE,
)
"""An INSERT up to its rows, without the modifiers that TiDB ignores."""
_ROW = re.compile(r"\s*\(([^()]*)\)\s*(,|\Z)")
_PLACEHOLDER = re.compile("|".join(PLACEHOLDERS.values()))
_ESCAPE = re.compile(r"\\(.)|''|\"\"", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


class LiteralRows(exp.Expression):
    """The rows of an INSERT, in place of its VALUES: ``rows`` has the values, which are not nodes.

    ``of_file`` marks those of LOAD DATA.
    """

    arg_types: ClassVar[dict[str, bool]] = {"rows": True, "of_file": False}


@dataclass(frozen=True, slots=True)
class LiteralInsert:
    """The shape of an INSERT or REPLACE whose rows have literals only.

    :param tree: the tree, in which each statement writes its rows.
    :param rows: per row the conversions of its literals.
    """

    verb: str
    tree: exp.Expr
    rows: Sequence[_Row]

    def fill(self, literals: Sequence[tuple[str, str]]) -> None:
        """Give the tree the rows of a statement, which are ``LiteralRows``."""
        self.tree.args["expression"].args["rows"] = [*_rows(self.rows, literals)]


def literal_insert(shape: str, literals: int) -> LiteralInsert | None:
    """Read the shape of an INSERT.

    :param literals: number of literals in the whole shape.
    :return: None for any other statement, which ``parse_dml`` can parse.
    :raises ScenarioError: if it does not parse.
    """
    head = _HEAD.match(shape)
    rows = None if head is None else _row_shapes(shape, head.end())
    if head is None or rows is None or sum(row.literals for row in rows) != literals:
        return None
    verb, tree = parse_dml(f"{head[0]}(NULL)", 1)
    tree.args["expression"] = LiteralRows(rows=[])
    return LiteralInsert(verb, tree, rows)


def literal_texts(shape: str, literals: Sequence[tuple[str, str]]) -> tuple[str, list[list[str]]]:
    """Return the head of an INSERT, and its rows as the texts of their values.

    :param shape: of a statement that ``literal_insert`` reads.

    >>> literal_texts("INSERT INTO t VALUES (-0, NULL), ('', 0)", [("", x) for x in ("2", "'a'", "3")])
    ('INSERT INTO t VALUES ', [['-2', 'NULL'], ["'a'", '3']])
    """
    head = _HEAD.match(shape)
    start = 0 if head is None else head.end()
    texts = iter(literals)
    rows = []
    for match in _ROW.finditer(shape, start):
        parts = (" ".join(part.split()) for part in match[1].split(","))
        rows.append([_PLACEHOLDER.sub(lambda _: next(texts)[1], part) for part in parts])
    return shape[:start], rows


class _Row(NamedTuple):
    """The conversions of a row's literals to its values.

    :param values: per value a conversion of the next literal, or a constant in a tuple.
    :param literals: number of literals of the row.
    """

    values: tuple[Convert | tuple[SQLValue], ...]
    literals: int


def _row_shapes(shape: str, start: int) -> list[_Row] | None:
    """Return one element per row; None if there is anything but rows of literals."""
    rows = []
    while start < len(shape):
        match = _ROW.match(shape, start)
        row = _row_shape(match[1]) if match else None
        if match is None or row is None or (match[2] and match.end() == len(shape)):
            return None
        rows.append(row)
        start = match.end()
    return rows


def _rows(rows: Sequence[_Row], literals: Sequence[tuple[str, str]]) -> Iterator[list[SQLValue]]:
    texts = iter(literals)
    for row in rows:
        yield [value[0] if isinstance(value, tuple) else value(next(texts)[1]) for value in row.values]


@lru_cache(maxsize=1024)
def _row_shape(row: str) -> _Row | None:
    """Return the conversions of a row; None if it has anything but literals."""
    if not row.strip():
        return None
    values = []
    for part in row.split(","):
        value = _VALUES.get(" ".join(part.split()).upper().replace("- ", "-"))
        if value is None:
            return None
        values.append(value)
    return _Row(tuple(values), sum(not isinstance(value, tuple) for value in values))


def string_value(literal: str) -> str:
    r"""Return the text of a string literal that is given with its quotes.

    >>> string_value(r"'it''s 5\%'")
    "it's 5\\%"
    """
    quote, text = literal[0], literal[1:-1]
    if "\\" not in text:
        return text.replace(quote + quote, quote) if quote in text else text
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
