"""The operators of value expressions on Arrow columns and constants; NULL is unknown, as in SQL."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ticdc_producer.model.fidelity import replace_invalid

Operand: TypeAlias = pa.Array | pa.Scalar
"""The value of each row, or one value for all."""
Operator: TypeAlias = Callable[[Operand, Operand], Operand]

_QUOTIENT_DIGITS = 160
"""Digits of the quotient of two decimals of 76 digits, which a remainder is computed from."""


def equal_or_null(left: Operand, right: Operand) -> Operand:
    """``<=>``: whether both are equal or both are NULL; never NULL."""
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.or_(both_null, pc.fill_null(pc.equal(left, right), False))


def remainder(left: Operand, right: Operand) -> Operand:
    """``%``: has the sign of the dividend; NULL for a divisor of 0. Arrow has none for decimals."""
    dividends, divisors = _aligned(left, right)
    with localcontext(prec=_QUOTIENT_DIGITS):
        rests = [
            None if one is None or not other else one % other
            for one, other in zip(dividends, divisors, strict=True)
        ]
    kinds = left.type, right.type
    whole, digits = min(kind.precision - kind.scale for kind in kinds), max(kind.scale for kind in kinds)
    found = pa.array(rests, pa.decimal256(max(whole + digits, 1), digits))
    return found if isinstance(left, pa.Array) or isinstance(right, pa.Array) else found[0]


def _aligned(left: Operand, right: Operand) -> tuple[list[Decimal | None], list[Decimal | None]]:
    rows = next((len(one) for one in (left, right) if isinstance(one, pa.Array)), 1)
    values = [one.to_pylist() if isinstance(one, pa.Array) else [one.as_py()] * rows for one in (left, right)]
    return values[0], values[1]


def like(texts: Operand, pattern: str) -> Operand:
    """``LIKE``: ``%`` is any text, ``_`` one character, or one byte that is not UTF-8."""
    try:
        characters = texts.cast(pa.string())
    except pa.ArrowInvalid:
        repaired = [None if text is None else replace_invalid(text) for text in texts.to_pylist()]
        characters = pa.array(repaired, pa.binary()).cast(pa.string())
    return pc.match_like(characters, pattern)


def unpadded(texts: Operand) -> Operand:
    """Texts without blanks at the end, which a PAD SPACE collation ignores."""
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
