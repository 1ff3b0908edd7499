"""The value expressions of event filters as Spark conditions on row images.

Comparisons of a column with constants or columns of its own kind, ``AND``, ``OR``, ``NOT``, ``IS NULL``,
``IN``, ``BETWEEN``, ``LIKE`` and arithmetic on whole and decimal numbers. Everything else is refused with
an error that names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Literal, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ticdc_producer.errors import ChangefeedError, nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo

_Later: TypeAlias = Callable[[], Column]
"""Creates the Spark column, which needs a session; errors in the expression are raised before."""
_Kind: TypeAlias = Literal["number", "text", "padded text", "date", "datetime", "condition", "null"]
_NUMBERS = INTEGERS | {MySQLType.YEAR, MySQLType.BIT}
_TEXTS = {
    MySQLType.VARCHAR, MySQLType.VAR_STRING, MySQLType.STRING, MySQLType.TINY_BLOB, MySQLType.MEDIUM_BLOB,
    MySQLType.LONG_BLOB, MySQLType.BLOB,
}  # fmt: skip
_EVALUATED = (
    "supported are numbers, texts under a _bin collation, DATE, DATETIME and TIMESTAMP; = <> < <= > >= <=>, "
    "AND, OR, NOT, IS NULL, IN, BETWEEN, LIKE, + - * %"
)
_MOST_DIGITS = 38
_FORMS = {"date": r"\d{4}-\d\d-\d\d", "datetime": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"}
_COMPARED: dict[type[exp.Expr], Callable[[Column, Column], Column]] = {
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.LT: lambda a, b: a < b,
    exp.LTE: lambda a, b: a <= b,
    exp.GT: lambda a, b: a > b,
    exp.GTE: lambda a, b: a >= b,
    exp.NullSafeEQ: lambda a, b: a.eqNullSafe(b),
}
_CALCULATED: dict[type[exp.Expr], Callable[[Column, Column], Column]] = {
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
    exp.Mod: lambda a, b: F.when(b != 0, a % F.nullif(b, F.lit(0))),
}


@dataclass(frozen=True, slots=True)
class _Typed:
    """:param digits: fractional digits of a ``datetime``."""

    kind: _Kind
    value: _Later
    digits: int = 0


def value_condition(expression: str, table: TableInfo, image: str) -> Column:
    """Whether a row is ignored.

    :param expression: SQL, as the changefeed file has it.
    :param image: the column with the row image that the expression refers to.
    :raises ChangefeedError: for SQL that cannot be read, names no column of the table, or is not evaluated.
    """
    return _condition(expression, table, image)()


def check_expression(expression: str, table: TableInfo) -> None:
    """Check an expression without Spark, with the errors of ``value_condition``.

    :raises ChangefeedError: for SQL that cannot be read, names no column of the table, or is not evaluated.
    """
    _condition(expression, table, "")


def _condition(expression: str, table: TableInfo, image: str) -> _Later:
    tree = _parsed(expression)
    for node in tree.find_all(exp.Column):  # TiCDC's own error takes precedence over ours
        _offset(expression, table, node)
    return _Reader(expression, table, image).condition(tree)


def _parsed(expression: str) -> exp.Expr:
    try:
        return parse_one(expression, dialect="mysql")
    except SqlglotError:
        raise _error(expression, "it is not an SQL expression", "CDC:ErrExpressionParseFailed") from None


def _offset(expression: str, table: TableInfo, node: exp.Column) -> int:
    names = [column.name for column in table.columns]
    offset = next((i for i, name in enumerate(names) if name.lower() == node.name.lower()), None)
    if offset is None:
        what = f"{table.qualified_name} has no column {node.name!r}"
        hint = f"TiCDC stops here; {nearest(node.name, names)}"
        raise _error(expression, what, "CDC:ErrExpressionColumnNotFound", hint)
    return offset


@dataclass(frozen=True, slots=True)
class _Reader:
    expression: str
    table: TableInfo
    image: str

    def condition(self, node: exp.Expr) -> _Later:
        typed = self._typed(node)
        if typed.kind != "condition":
            raise self._refused(f"{node.sql('mysql')!r} is not a condition")
        return typed.value

    def _typed(self, node: exp.Expr) -> _Typed:
        if isinstance(node, exp.Paren):
            return self._typed(node.this)
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Literal | exp.Neg | exp.Null):
            return self._constant(node)
        if type(node) in _CALCULATED:
            left, right = self._alike(node.this, node.expression, "number")
            calculate = _CALCULATED[type(node)]
            return _Typed("number", lambda: calculate(left.value(), right.value()))
        return _Typed("condition", self._condition(node))

    def _condition(self, node: exp.Expr) -> _Later:
        match node:
            case exp.And():
                left, right = self.condition(node.this), self.condition(node.expression)
                return lambda: left() & right()
            case exp.Or():
                left, right = self.condition(node.this), self.condition(node.expression)
                return lambda: left() | right()
            case exp.Not():
                inner = self.condition(node.this)
                return lambda: ~inner()
            case exp.Is() if isinstance(node.expression, exp.Null):
                operand = self._typed(node.this)
                return lambda: operand.value().isNull()
            case exp.In() if node.expressions:
                return self._any(node.this, node.expressions)
            case exp.Between():
                low = self._compare(exp.GTE, node.this, node.args["low"])
                high = self._compare(exp.LTE, node.this, node.args["high"])
                return lambda: low() & high()
            case exp.Like() if node.expression.is_string:
                return self._like(node)
        if type(node) in _COMPARED:
            return self._compare(type(node), node.this, node.expression)
        raise self._refused(f"{node.sql('mysql')!r} is not evaluated here")

    def _any(self, one: exp.Expr, others: list[exp.Expr]) -> _Later:
        found = [self._compare(exp.EQ, one, other) for other in others]
        return lambda: reduce(or_, (equal() for equal in found))

    def _like(self, node: exp.Like) -> _Later:
        column = self._typed(node.this)
        if column.kind not in ("text", "padded text"):
            raise self._refused("LIKE requires a text column")
        return lambda: column.value().like(node.expression.this)

    def _compare(self, kind: type[exp.Expr], one: exp.Expr, other: exp.Expr) -> _Later:
        left, right = self._alike(one, other)
        compare = _COMPARED[kind]
        if "padded text" in (left.kind, right.kind):
            return lambda: compare(F.rtrim(left.value()), F.rtrim(right.value()))
        return lambda: compare(left.value(), right.value())

    def _alike(self, one: exp.Expr, other: exp.Expr, kind: _Kind | None = None) -> tuple[_Typed, _Typed]:
        """Both operands; constants are converted to the type of the other operand."""
        left, right = self._typed(one), self._typed(other)
        if left.kind in ("date", "datetime") and other.is_string:
            right = self._moment(other.this, left)
        elif right.kind in ("date", "datetime") and one.is_string:
            left = self._moment(one.this, right)
        kinds = {typed.kind.removeprefix("padded ") for typed in (left, right)} - {"null"}
        if (
            len(kinds) > 1
            or "condition" in kinds
            or (kind and kinds != {kind})
            or left.digits != right.digits
        ):
            both = f"{one.sql('mysql')} and {other.sql('mysql')}"
            raise self._refused(f"{both} do not have the same type (number, text, date or time)")
        return left, right

    def _moment(self, text: str, beside: _Typed) -> _Typed:
        whole, _, digits = text.partition(".")
        if not re.fullmatch(_FORMS[beside.kind], whole) or len(digits) > beside.digits:
            raise self._refused(f"{text!r} is not in the format of the column's values")
        exact = f"{whole}.{digits.ljust(beside.digits, '0')}" if beside.digits else whole
        return _Typed(beside.kind, lambda: F.lit(exact), beside.digits)

    def _constant(self, node: exp.Expr) -> _Typed:
        if isinstance(node, exp.Null):
            return _Typed("null", lambda: F.lit(None))
        if node.is_string:
            return _Typed("text", lambda: F.lit(node.this))
        text = node.sql("mysql").replace(" ", "")
        if not re.fullmatch(r"-?\d{1,20}(\.\d{1,18})?", text):
            raise self._refused(f"{text!r} is not evaluated here")
        whole, _, behind = text.lstrip("-").partition(".")
        digits = f"{len(whole) + len(behind)},{len(behind)}"
        return _Typed("number", lambda: F.lit(text).cast(f"decimal({digits})"))

    def _column(self, node: exp.Column) -> _Typed:
        offset = _offset(self.expression, self.table, node)
        index = self.table.image_index(offset)
        if index is None:
            raise self._refused(f"column {node.name!r} is virtual, and in no row image")
        image = self.image
        return self._read(
            self.table.columns[offset], lambda: F.get(F.col(image), F.lit(index)).cast("string")
        )

    def _read(self, column: ColumnInfo, text: _Later) -> _Typed:
        if column.type in _NUMBERS:
            return _Typed("number", lambda: text().cast("decimal(20,0)"))
        if column.type == MySQLType.NEW_DECIMAL and column.length <= _MOST_DIGITS:
            digits = f"{column.length},{max(column.decimal, 0)}"
            return _Typed("number", lambda: text().cast(f"decimal({digits})"))
        if column.type == MySQLType.DATE:
            return _Typed("date", text)
        if column.type in (MySQLType.DATETIME, MySQLType.TIMESTAMP):
            return _Typed("datetime", text, max(column.decimal, 0))
        if column.type in _TEXTS and column.collation == "binary":
            return _Typed("text", text)
        if column.type in _TEXTS and column.collation.endswith("_bin"):
            return _Typed("text" if "0900" in column.collation else "padded text", text)
        detail = f" with collation {column.collation}" if column.type in _TEXTS else ""
        raise self._refused(
            f"column {column.name!r} of type {column.type_name}{detail} is not evaluated here"
        )

    def _refused(self, what: str) -> ChangefeedError:
        return _error(self.expression, what, hint=_EVALUATED)


def _error(expression: str, what: str, code: str = "", hint: str = "") -> ChangefeedError:
    message = f"{code}: {what}" if code else what
    return ChangefeedError(
        message, parameter="filter.event-filters", where=f"value expression {expression!r}", hint=hint
    )
