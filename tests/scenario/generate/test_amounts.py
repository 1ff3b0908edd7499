"""The values of ``adds`` are exact."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import trunc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import parse_one

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.generate.amounts import evaluated

LONGS = st.integers(-(1 << 63), (1 << 63) - 1)
_SIX = Decimal("0.000001")


def value(text: str, row: int, draw: int = 0) -> Fraction | None:
    names = {"row": np.array([row]), "draw": np.array([draw])}
    amount = evaluated(parse_one(text, dialect="spark"), names)
    return None if amount.null[0] else Fraction(int(amount.units[0]), 10**amount.scale)


def rounded(number: Fraction, digits: int) -> Fraction:
    """Half away from zero."""
    unit = Fraction(1, 10**digits)
    whole = int(abs(number) / unit + Fraction(1, 2))
    return (1 if number > 0 else -1) * whole * unit


EXPRESSIONS: dict[str, Callable[[int, int], Fraction | int]] = {
    "row + draw": lambda row, draw: row + draw,
    "row - draw": lambda row, draw: row - draw,
    "row * draw": lambda row, draw: row * draw,
    "-draw": lambda _, draw: -draw,
    "abs(draw)": lambda _, draw: abs(draw),
    "sign(draw)": lambda _, draw: (draw > 0) - (draw < 0),
    "draw / 7": lambda _, draw: rounded(Fraction(draw, 7), 6),
    "draw div 7": lambda _, draw: trunc(Fraction(draw, 7)),
    "draw % 7": lambda _, draw: draw - 7 * trunc(Fraction(draw, 7)),
    "pmod(draw, 7)": lambda _, draw: draw % 7,
    "least(row, draw, 5)": lambda row, draw: min(row, draw, 5),
    "greatest(row, draw, 5)": lambda row, draw: max(row, draw, 5),
    "cast(draw / 8 AS DECIMAL(30,2))": lambda _, draw: rounded(rounded(Fraction(draw, 8), 6), 2),
    "cast(draw / 8 AS BIGINT)": lambda _, draw: trunc(rounded(Fraction(draw, 8), 6)),
    "round(draw / 8, 1)": lambda _, draw: rounded(rounded(Fraction(draw, 8), 6), 1),
    "floor(draw / 8)": lambda _, draw: draw // 8,
    "ceil(draw / 8)": lambda _, draw: -(-draw // 8),
    "0.25 * row": lambda row, _: Fraction(row, 4),
    "if(draw > row, 1, -1)": lambda row, draw: 1 if draw > row else -1,
    "CASE WHEN draw < 0 THEN 1 WHEN row IN (1, 2) THEN 2 ELSE 3 END": lambda row, draw: (
        1 if draw < 0 else 2 if row in (1, 2) else 3
    ),
    "CASE row WHEN 1 THEN 10 ELSE 20 END": lambda row, _: 10 if row == 1 else 20,
    "if(row BETWEEN 2 AND 4 AND NOT draw = 0, 1.5, 0)": lambda row, draw: (
        Fraction(3, 2) if 2 <= row <= 4 and draw else 0
    ),
    "coalesce(if(row > 3, 1, NULL), 7)": lambda row, _: 1 if row > 3 else 7,
    "if((row <> 1 OR draw >= 5) AND row IS NOT NULL, 1, 0)": lambda row, draw: int(row != 1 or draw >= 5),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
@given(row=st.integers(0, 2_000_000_000) | st.integers(0, 5), draw=LONGS | st.integers(-9, 9))
def test_expressions_have_the_exact_value(text: str, row: int, draw: int) -> None:
    assert value(text, row, draw) == EXPRESSIONS[text](row, draw)


@pytest.mark.parametrize(
    "text",
    ["NULL", "row + NULL", "if(row = 1, NULL, 2)", "CASE WHEN row = 0 THEN 1 END", "least(NULL, NULL)"],
)
def test_null_stays_null(text: str) -> None:
    assert value(text, 1) is None


def test_a_quotient_is_rounded_as_decimals_are() -> None:
    wanted = (Decimal(2) / Decimal(3)).quantize(_SIX, ROUND_HALF_UP)
    assert value("2 / row", 3) == Fraction(wanted)


def test_a_condition_that_is_not_supported_is_named() -> None:
    with pytest.raises(ScenarioError, match="the condition \"row LIKE '1%'\" is not supported"):
        value("if(row LIKE '1%', 1, 0)", 1)


def test_a_function_that_is_not_supported_is_named() -> None:
    with pytest.raises(ScenarioError, match="the expression 'SQRT\\(row\\)' is not supported"):
        value("if(sqrt(row) > 2, 1, 0)", 1)
