"""The sums of ``adds`` are bounded by the plan; a column that is too narrow is rejected."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.scenario.generate.plans import planned
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.generate.binding.bounds import Bounds, bounds_of

NAMES = {
    "row": Bounds(Fraction(0), Fraction(9)),
    "draw": Bounds(Fraction(-(1 << 63)), Fraction((1 << 63) - 1)),
    "place": Bounds(Fraction(0), Fraction(1)),
}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("-3", -3, -3),
        ("row * 2 - 5", -5, 13),
        ("row - row", -9, 9),
        ("pmod(draw, 100) + 1", 1, 101),
        ("draw % 7", -7, 7),
        ("if(place = 0, -1, 1) * CAST(pmod(draw, 10000) + 1 AS DECIMAL(14,2)) / 100", -100.01, 100.01),
        ("CASE WHEN place = 0 THEN 4 WHEN place = 1 THEN 2 END", 0, 4),
        ("least(greatest(draw, -5), 5)", -5, 5),
        ("CAST(draw AS TINYINT)", -128, 127),
        ("abs(row - 20)", 11, 20),
        ("row div 4", 0, 3),
        ("1.25BD * row", 0, 11.25),
        ("coalesce(nullif(row, 3), 0)", None, None),
        ("sign(draw) * (row + 1)", -10, 10),
    ],
)
def test_bounds_of_expressions(text: str, low: float | None, high: float | None) -> None:
    if low is None or high is None:
        with pytest.raises(ScenarioError, match="cannot be determined"):
            bounds_of(text, NAMES)
        return
    bounds = bounds_of(text, NAMES)
    assert (float(bounds.low), float(bounds.high)) == (low, high)


TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, n TINYINT, u INT UNSIGNED, d DECIMAL(5,2))"


def refusal(
    folder: Path, column: str, adds: str, low: int = 0, high: int = 0, transactions: int = 100
) -> str:
    each = [{"does": "update", "columns": [column]}]
    columns = {column: {"min": low, "max": high, "adds": adds}}
    try:
        planned(folder, TABLE, rows=10, transactions=transactions, each=each, columns=columns)
    except ScenarioError as error:
        return str(error).removeprefix(f"{folder}/")
    return ""


@pytest.mark.parametrize(
    ("column", "adds", "most"),
    [("n", "1", 127), ("n", "-1", 128), ("d", "CAST(1.5 AS DECIMAL(5,2))", 666), ("n", "row - 9", 14)],
)
def test_a_column_takes_what_fits_and_no_more(tmp_path: Path, column: str, adds: str, most: int) -> None:
    assert not refusal(tmp_path, column, adds, transactions=most)
    message = refusal(tmp_path, column, adds, transactions=most + 1)
    assert message.startswith("generated.yaml:")
    assert f"column '{column}' may reach" in message
    assert f"{most + 1} updates of one row" in message


@pytest.mark.parametrize(
    ("column", "adds", "message"),
    [
        ("u", "-1", "column 'u' may reach -100"),
        ("n", "hash(row)", "the bounds of 'HASH(row)' cannot be determined (limit it"),
        ("n", "rows + 1", "the expression uses the unknown name rows (did you mean 'row'?)"),
        ("n", "1 / row", "the expression may divide by 0"),
        ("n", "1 +", "'1 +' is not an expression"),
    ],
)
def test_invalid_adds_are_rejected(tmp_path: Path, column: str, adds: str, message: str) -> None:
    assert message in refusal(tmp_path, column, adds)


def test_the_first_values_count(tmp_path: Path) -> None:
    assert not refusal(tmp_path, "n", "1", low=0, high=27)
    assert "may reach 128" in refusal(tmp_path, "n", "1", low=0, high=28)
