"""Bounds of figures, and whether encoders and decoders are near them on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import machine, table
from benchmarks.figures import Bound, Figure, bound_of, bounds, missed
from benchmarks.parts import PARTS, Sizes
from benchmarks.plot import plot

SIZES = Sizes(transactions=1, changes=(), work=Path())
FIGURES = [
    Figure("encoder/t1/craft", 1.2, detail="0.8 µs a row"),
    Figure("encoder/t1/debezium", 0.6),
    Figure("end-to-end/canal-json", 0.4),
    Figure("scale/base/folder/1000", 60.0, "µs a change"),
]


def test_a_bound_has_a_direction() -> None:
    assert Bound("at-most", 2.0).met(2.0)
    assert not Bound("at-most", 2.0).met(2.1)
    assert Bound("at-most", 2.0).met(2.9, generous=1.5)
    assert Bound("at-least", 0.5).met(0.5)
    assert not Bound("at-least", 0.5).met(0.4)
    assert Bound("at-least", 0.5).met(0.35, generous=1.5)


def test_figures_find_their_bounds() -> None:
    assert bound_of(Figure("encoder/mixed/debezium-disable-schema", 1.0), bounds()) == Bound("at-most", 0.7)
    assert bound_of(FIGURES[-1], bounds()) is None
    assert missed(FIGURES) == FIGURES[1:3]
    assert missed(FIGURES, generous=1.7) == []


def test_the_table_marks_figures_that_miss_their_bound() -> None:
    lines = table(FIGURES, bounds(), machine()).splitlines()
    assert "| encoder/t1/craft | 1.20 | ≤ 1.5 | 0.8 µs a row |" in lines
    assert "| encoder/t1/debezium | **0.60** | ≤ 0.4 |  |" in lines
    assert "| end-to-end/canal-json | **0.40** | ≥ 0.6 |  |" in lines
    assert "| scale/base/folder/1000 | 60.00 µs a change |  |  |" in lines


def test_the_plot_shows_every_figure_that_has_a_bound(tmp_path: Path) -> None:
    plot(FIGURES, bounds(), tmp_path / "x.svg")
    drawn = (tmp_path / "x.svg").read_text()
    assert all(figure.name in drawn for figure in FIGURES[:3])
    assert FIGURES[3].name not in drawn


@pytest.mark.slow
@pytest.mark.parametrize("part", ["encoders", "decoders"])
def test_encoders_and_decoders_are_near_their_bounds(part: str) -> None:
    """With generous bounds, because other load of the machine takes its caches from one side of a ratio."""
    assert missed(PARTS[part](SIZES), generous=1.7) == []


@pytest.mark.slow
def test_a_topic_is_followed_at_no_less_than_0_7_of_the_speed_of_verify() -> None:
    """By CPU time, which other load of the machine hardly changes."""
    assert missed(PARTS["following"](SIZES)) == []
