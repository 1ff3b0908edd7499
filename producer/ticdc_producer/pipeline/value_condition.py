"""The value expressions of event filters as conditions on row images.

Comparisons of a column with constants or columns of its own kind, ``AND``, ``OR``, ``NOT``, ``IS NULL``,
``IN``, ``BETWEEN``, ``LIKE`` and arithmetic on whole and decimal numbers. Everything else is refused with
an error that names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import reduce
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.fidelity import replace_invalid
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.row_images import flags

Operand: TypeAlias = pa.Array | pa.Scalar
"""The value of each row, or one value for all."""
Operator: TypeAlias = Callable[[Operand, Operand], Operand]

_QUOTIENT_DIGITS = 160
"""Digits of the quotient of two decimals of 76 digits, from which a remainder is computed."""


def equal_or_null(left: Operand, right: Operand) -> Operand:
    """Compute ``<=>``: true if both are equal or both are NULL; never NULL."""
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.or_(both_null, pc.fill_null(pc.equal(left, right), False))


def remainder(left: Operand, right: Operand) -> Operand:
    """Compute ``%``: it has the sign of the dividend; NULL for a divisor of 0.

    Arrow has no remainder of decimals.
    """
    dividends, divisors = _aligned(left, right)
    with localcontext(prec=_QUOTIENT_DIGITS):
        rests = [
            None if dividend is None or not divisor else dividend % divisor
            for dividend, divisor in zip(dividends, divisors, strict=True)
        ]
    kinds = left.type, right.type
    whole, digits = min(kind.precision - kind.scale for kind in kinds), max(kind.scale for kind in kinds)
    remainders = pa.array(rests, pa.decimal256(max(whole + digits, 1), digits))
    return remainders if isinstance(left, pa.Array) or isinstance(right, pa.Array) else remainders[0]


def _aligned(left: Operand, right: Operand) -> tuple[list[Decimal | None], list[Decimal | None]]:
    operands = (left, right)
    rows = next((len(operand) for operand in operands if isinstance(operand, pa.Array)), 1)
    values = [
        operand.to_pylist() if isinstance(operand, pa.Array) else [operand.as_py()] * rows
        for operand in operands
    ]
    return values[0], values[1]


def like(texts: Operand, pattern: str) -> Operand:
    """Compute ``LIKE``: ``%`` is any text, ``_`` one character, or one byte that is not UTF-8."""
    try:
        characters = texts.cast(pa.string())
    except pa.ArrowInvalid:
        repaired = [None if text is None else replace_invalid(text) for text in texts.to_pylist()]
        characters = pa.array(repaired, pa.binary()).cast(pa.string())
    return pc.match_like(characters, pattern)


def unpadded(texts: Operand) -> Operand:
    """Remove blanks at the end of texts, which a PAD SPACE collation ignores."""
    characters = pc.cast(texts, options=pc.CastOptions(pa.string(), allow_invalid_utf8=True))
    return pc.ascii_rtrim(characters, characters=" ").cast(pa.binary())


COMPARED: dict[type[exp.Expr], Operator] = {
    exp.EQ: pc.equal,
    exp.NEQ: pc.not_equal,
    exp.LT: pc.less,
    exp.LTE: pc.less_equal,
    exp.GT: pc.greater,
    exp.GTE: pc.greater_equal,
    exp.NullSafeEQ: equal_or_null,
}
CALCULATED: dict[type[exp.Expr], Operator] = {
    exp.Add: pc.add,
    exp.Sub: pc.subtract,
    exp.Mul: pc.multiply,
    exp.Mod: remainder,
}


Columns: TypeAlias = Callable[[int], pa.Array]
"""Returns the canonical values of the column with an index in the row image."""
_Values: TypeAlias = Callable[[Columns], Operand]
"""Evaluates a part of an expression for the rows of some columns."""
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
_MOST_DIGITS = 76
"""Digits of the widest decimal in Arrow."""
_INTEGER_DIGITS = 20
_FORMS = {"date": r"\d{4}-\d\d-\d\d", "datetime": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"}


@dataclass(frozen=True, slots=True)
class _Typed:
    """A part of an expression.

    :param digits: fractional digits of a ``datetime`` or a number.
    :param whole: digits of a number before the decimal point.
    """

    kind: _Kind
    value: _Values
    digits: int = 0
    whole: int = 0


def value_condition(expression: str, table: TableInfo) -> Callable[[Columns, int], Flags]:
    """Return a function from the columns of row images and their number to the rows that are ignored.

    :param expression: SQL, as in the changefeed file.
    :raises ChangefeedError: for SQL that cannot be read, names no column of the table, or is not evaluated.
    """
    tree = _parsed(expression)
    for node in tree.find_all(exp.Column):  # TiCDC's own error takes precedence
        _offset(expression, table, node)
    condition = _Reader(expression, table).condition(tree)

    def ignored(columns: Columns, rows: int) -> Flags:
        holds = condition(columns)
        return flags(pa.repeat(holds, rows) if isinstance(holds, pa.Scalar) else holds)

    return ignored


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

    def condition(self, node: exp.Expr) -> _Values:
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
        if type(node) in CALCULATED:
            return self._calculated(node)
        return _Typed("condition", self._condition(node))

    def _calculated(self, node: exp.Expr) -> _Typed:
        left, right = self._alike(node.this, node.expression, "number")
        calculate = CALCULATED[type(node)]
        if isinstance(node, exp.Mul):
            whole, digits = left.whole + right.whole + 1, left.digits + right.digits
        else:
            whole, digits = max(left.whole, right.whole) + 1, max(left.digits, right.digits)
        self._check_digits(whole + digits, node)
        return _Typed("number", lambda row: calculate(left.value(row), right.value(row)), digits, whole)

    def _condition(self, node: exp.Expr) -> _Values:
        match node:
            case exp.And():
                return self._both(pc.and_kleene, self.condition(node.this), self.condition(node.expression))
            case exp.Or():
                return self._both(pc.or_kleene, self.condition(node.this), self.condition(node.expression))
            case exp.Not():
                inner = self.condition(node.this)
                return lambda row: pc.invert(inner(row))
            case exp.Is() if isinstance(node.expression, exp.Null):
                operand = self._typed(node.this)
                return lambda row: pc.is_null(operand.value(row))
            case exp.In() if node.expressions:
                equal = [self._compare(exp.EQ, node.this, member) for member in node.expressions]
                return reduce(lambda left, right: self._both(pc.or_kleene, left, right), equal)
            case exp.Between():
                low = self._compare(exp.GTE, node.this, node.args["low"])
                return self._both(pc.and_kleene, low, self._compare(exp.LTE, node.this, node.args["high"]))
            case exp.Like() if node.expression.is_string:
                return self._like(node)
        if type(node) in COMPARED:
            return self._compare(type(node), node.this, node.expression)
        raise self._refused(f"{node.sql('mysql')!r} is not evaluated here")

    def _both(
        self, operator: Callable[[Operand, Operand], Operand], left: _Values, right: _Values
    ) -> _Values:
        return lambda row: operator(left(row), right(row))

    def _like(self, node: exp.Like) -> _Values:
        column = self._typed(node.this)
        if column.kind not in ("text", "padded text"):
            raise self._refused("LIKE requires a text column")
        return lambda row: like(column.value(row), node.expression.this)

    def _compare(self, kind: type[exp.Expr], left_node: exp.Expr, right_node: exp.Expr) -> _Values:
        left, right = self._alike(left_node, right_node)
        digits = max(left.whole, right.whole) + max(left.digits, right.digits)
        self._check_digits(digits, left_node, right_node)
        compare = COMPARED[kind]
        if left.kind == right.kind == "null":
            return lambda _row: pa.scalar(kind is exp.NullSafeEQ or None, pa.bool_())
        if "padded text" in (left.kind, right.kind):
            return lambda row: compare(unpadded(left.value(row)), unpadded(right.value(row)))
        return lambda row: compare(left.value(row), right.value(row))

    def _check_digits(self, digits: int, *nodes: exp.Expr) -> None:
        if digits > _MOST_DIGITS:
            text = " and ".join(node.sql("mysql") for node in nodes)
            raise self._refused(f"{text!r} may have more than {_MOST_DIGITS} digits")

    def _alike(
        self, left_node: exp.Expr, right_node: exp.Expr, kind: _Kind | None = None
    ) -> tuple[_Typed, _Typed]:
        """Return both operands; constants are converted to the type of the other operand."""
        left, right = self._typed(left_node), self._typed(right_node)
        if left.kind in ("date", "datetime") and right_node.is_string:
            right = self._moment(right_node.this, left)
        elif right.kind in ("date", "datetime") and left_node.is_string:
            left = self._moment(left_node.this, right)
        kinds = {typed.kind.removeprefix("padded ") for typed in (left, right)} - {"null"}
        if (
            len(kinds) > 1
            or "condition" in kinds
            or (kind and kinds != {kind})
            or (kinds <= {"date", "datetime"} and left.digits != right.digits)
        ):
            both = f"{left_node.sql('mysql')} and {right_node.sql('mysql')}"
            raise self._refused(f"{both} do not have the same type (number, text, date or time)")
        return _of_type(left, right), _of_type(right, left)

    def _moment(self, text: str, other: _Typed) -> _Typed:
        whole, _, digits = text.partition(".")
        if not re.fullmatch(_FORMS[other.kind], whole) or len(digits) > other.digits:
            raise self._refused(f"{text!r} is not in the format of the column's values")
        exact = f"{whole}.{digits.ljust(other.digits, '0')}" if other.digits else whole
        return _Typed(other.kind, lambda _row: _text(exact), other.digits)

    def _constant(self, node: exp.Expr) -> _Typed:
        if isinstance(node, exp.Null):
            return _Typed("null", lambda _row: pa.scalar(None))
        if node.is_string:
            return _Typed("text", lambda _row: _text(node.this))
        text = node.sql("mysql").replace(" ", "")
        if not re.fullmatch(r"-?\d{1,20}(\.\d{1,18})?", text):
            raise self._refused(f"{text!r} is not evaluated here")
        whole, _, fraction = text.lstrip("-").partition(".")
        number = pa.scalar(text).cast(pa.decimal256(len(whole) + len(fraction), len(fraction)))
        return _Typed("number", lambda _row: number, len(fraction), len(whole))

    def _column(self, node: exp.Column) -> _Typed:
        offset = _offset(self.expression, self.table, node)
        index = self.table.image_index(offset)
        if index is None:
            raise self._refused(f"column {node.name!r} is virtual, and in no row image")
        return self._read(self.table.columns[offset], lambda row: row(index))

    def _read(self, column: ColumnInfo, text: _Values) -> _Typed:
        if column.type in _NUMBERS:
            return self._number(text, _INTEGER_DIGITS, 0)
        if column.type == MySQLType.NEW_DECIMAL:
            return self._number(text, column.length, max(column.decimal, 0))
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

    def _number(self, text: _Values, length: int, digits: int) -> _Typed:
        kind = pa.decimal256(length, digits)
        return _Typed("number", lambda row: text(row).cast(pa.string()).cast(kind), digits, length - digits)

    def _refused(self, what: str) -> ChangefeedError:
        return _error(self.expression, what, hint=_EVALUATED)


def _of_type(typed: _Typed, other: _Typed) -> _Typed:
    """Convert ``NULL`` to a value of the other operand's type; return anything else unchanged."""
    if typed.kind != "null":
        return typed
    return replace(typed, value=lambda row: pa.scalar(None, other.value(row).type))


def _text(text: str) -> pa.Scalar:
    return pa.scalar(text.encode(), pa.binary())


def _error(expression: str, what: str, code: str = "", hint: str = "") -> ChangefeedError:
    message = f"{code}: {what}" if code else what
    return ChangefeedError(
        message, parameter="filter.event-filters", where=f"value expression {expression!r}", hint=hint
    )
