"""The conditions of features: SQL on the columns of a view, evaluated on Arrow columns.

NULL is unknown, as in SQL. Everything that ``docs/extending/trap.md`` does not list is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache, lru_cache
from typing import Protocol, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ticdc_producer.errors import FaultError
from ticdc_producer.model.trap_coverage import VIEWS, Feature

Operand: TypeAlias = pa.Array | pa.Scalar
"""The value of each row, or one value for all."""


class ViewColumns(Protocol):
    """The columns of a view by their names."""

    def __getitem__(self, name: str, /) -> Operand: ...


Condition: TypeAlias = Callable[[ViewColumns], Operand]
"""Evaluates a condition, or a part of it."""

_LARGEST_INTEGER = 2**63 - 1
_64_BITS = 2**64 - 1
_HINT = (
    "supported are = <> < <= > >= AND OR NOT, IS NULL, IN, LIKE, RLIKE, &, abs, arrays_overlap, bit_count, "
    "coalesce, length, regexp_replace, size, trim(BOTH ... FROM ...), try_cast"
)


@cache
def condition(feature: Feature) -> Condition:
    """Return the function that evaluates the condition of a feature.

    :raises FaultError: for SQL that cannot be read or is not supported, and for a column that the view lacks.
    """
    try:
        tree = parse_one(feature.condition, dialect="spark")
        return _compiled(tree, VIEWS[feature.view][1])
    except SqlglotError:
        raise _error(feature, "it is not an SQL expression") from None
    except _Refused as refused:
        raise _error(feature, str(refused), _HINT) from None


@lru_cache(typed=True)
def constant(value: str | int | bool | None) -> pa.Scalar:
    """Return a value that all rows have."""
    if isinstance(value, int) and value > _LARGEST_INTEGER:
        return pa.scalar(str(value)).cast(pa.decimal128(38))
    return pa.scalar(value)


class _Refused(Exception):
    """A part of a condition that is not supported."""


def _error(feature: Feature, what: str, hint: str = "") -> FaultError:
    where = f"condition {feature.condition!r} on the view {feature.view!r}"
    return FaultError(what, where=where, hint=hint)


def _compiled(node: exp.Expr, names: Collection[str]) -> Condition:
    """Return the function that evaluates a part of a condition.

    :param names: the columns of the view.
    """
    if node.args.get("negate"):  # NOT LIKE
        positive = node.copy()
        positive.set("negate", False)
        return _compiled(exp.Not(this=positive), names)
    match node:
        case exp.Paren():
            return _compiled(node.this, names)
        case exp.Column():
            return _column(node.name.lower(), names)
        case exp.Literal() | exp.RawString():
            return _constant(node)
        case exp.And():
            return _both(_compiled(node.this, names), _compiled(node.expression, names))
        case exp.In() if node.expressions:
            equal = [exp.EQ(this=node.this, expression=value) for value in node.expressions]
            return _compiled(exp.or_(*equal, copy=False), names)
        case exp.Is() if isinstance(node.expression, exp.Null):
            return _call(pc.is_null, [_compiled(node.this, names)])
        case exp.TryCast() if node.to.this.name in _TYPES:
            kind = _TYPES[node.to.this.name]
            return _call(lambda values: _try_cast(values, kind), [_compiled(node.this, names)])
        case exp.Trim() if node.args.get("position") not in (None, "BOTH"):
            raise _unsupported(node)
    if type(node) in _WITH_TEXTS:
        return _call(_with_texts(node), [_compiled(node.this, names)])
    name = node.name.lower() if isinstance(node, exp.Anonymous) else type(node)
    if name not in _FUNCTIONS:
        raise _unsupported(node)
    return _call(_FUNCTIONS[name], [_compiled(operand, names) for operand in node.iter_expressions()])


def _unsupported(node: exp.Expr) -> _Refused:
    return _Refused(f"{node.sql('spark')!r} is not supported")


def _call(function: Callable[..., Operand], operands: list[Condition]) -> Condition:
    return lambda columns: function(*(operand(columns) for operand in operands))


def _column(name: str, names: Collection[str]) -> Condition:
    if name not in names:
        raise _Refused(f"the view has no column {name!r}")
    return lambda columns: columns[name]


def _constant(node: exp.Expr) -> Condition:
    if node.is_number and not node.this.isdigit():
        raise _unsupported(node)
    value = constant(int(node.this) if node.is_number else node.this)
    return lambda _columns: value


def _with_texts(node: exp.Expr) -> Callable[[Operand], Operand]:
    """Return a function whose further operands are texts."""
    function, texts = _WITH_TEXTS[type(node)], [_text(text) for text in [*node.iter_expressions()][1:]]
    try:
        function(pa.scalar(""), *texts)
    except (pa.ArrowInvalid, TypeError) as error:
        raise _Refused(f"{node.sql('spark')!r}: {error}") from None
    return lambda values: function(values, *texts)


def _text(node: exp.Expr) -> str:
    if not isinstance(node, exp.RawString) and not node.is_string:
        raise _Refused(f"{node.sql('spark')!r} must be a text in quotes")
    text: str = node.this
    return text


def _both(left: Condition, right: Condition) -> Condition:
    """Return AND, which evaluates its right side only if the left one leaves rows."""

    def both(columns: ViewColumns) -> Operand:
        holds = left(columns)
        if isinstance(holds, pa.Scalar):
            return holds if holds.as_py() is False else pc.and_kleene(holds, right(columns))
        return pc.and_kleene(holds, right(columns)) if pc.any(pc.fill_null(holds, True)).as_py() else holds

    return both


def _try_cast(values: Operand, kind: pa.DataType) -> Operand:
    """Convert values; those that are not values of the type are NULL."""
    try:
        return values.cast(kind)
    except pa.ArrowInvalid:
        if isinstance(values, pa.Scalar):
            return pa.scalar(None, kind)
        return pa.array([_try_cast(value, kind).as_py() for value in values], kind)


def _length(values: Operand) -> Operand:
    return pc.binary_length(values) if pa.types.is_binary(values.type) else pc.utf8_length(values)


def _bit_count(numbers: pa.Array) -> pa.Array:
    bits = [
        None if number is None else (int(number) & _64_BITS).bit_count() for number in numbers.to_pylist()
    ]
    return pa.array(bits, pa.int32())


def _arrays_overlap(first: pa.Array, second: pa.Array) -> pa.Array:
    pairs = zip(first.to_pylist(), second.to_pylist(), strict=True)
    return pa.array(
        [None if None in pair else not set(pair[0]).isdisjoint(pair[1]) for pair in pairs], pa.bool_()
    )


_TYPES = {"INT": pa.int32(), "BIGINT": pa.int64(), "FLOAT": pa.float32(), "DOUBLE": pa.float64()}
_WITH_TEXTS: dict[type[exp.Expr], Callable[..., Operand]] = {
    exp.Like: pc.match_like,
    exp.RegexpLike: pc.match_substring_regex,
    exp.RegexpReplace: pc.replace_substring_regex,
    exp.Trim: pc.utf8_trim,
}
"""Functions whose further operands are texts in quotes."""
_FUNCTIONS: dict[type[exp.Expr] | str, Callable[..., Operand]] = {
    exp.EQ: pc.equal,
    exp.NEQ: pc.not_equal,
    exp.LT: pc.less,
    exp.LTE: pc.less_equal,
    exp.GT: pc.greater,
    exp.GTE: pc.greater_equal,
    exp.Or: pc.or_kleene,
    exp.Not: pc.invert,
    exp.BitwiseAnd: pc.bit_wise_and,
    exp.BitwiseCount: _bit_count,
    exp.Abs: pc.abs,
    exp.ArraySize: pc.list_value_length,
    exp.Coalesce: pc.coalesce,
    exp.Length: _length,
    "arrays_overlap": _arrays_overlap,
}
