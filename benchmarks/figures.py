"""Measured figures and their bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import yaml

BOUNDS = Path(__file__).with_name("bounds.yaml")


@dataclass(frozen=True)
class Figure:
    """One number.

    :param name: path-like, such as ``encoder/t1/craft``; patterns of the bounds match it.
    :param unit: empty for a ratio.
    :param detail: the measurements from which the figure is computed.
    """

    name: str
    value: float
    unit: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Bound:
    """The bound of a figure."""

    direction: Literal["at-most", "at-least"]
    value: float

    def share(self, value: float) -> float:
        """The figure relative to the bound; more than 1 misses it."""
        return value / self.value if self.direction == "at-most" else self.value / value

    def met(self, value: float, generous: float = 1.0) -> bool:
        """:param generous: factor by which the bound may be missed."""
        return self.share(value) <= generous

    def __str__(self) -> str:
        return f"{'≤' if self.direction == 'at-most' else '≥'} {self.value:g}"


def bounds(path: Path = BOUNDS) -> dict[str, Bound]:
    """Pattern of figure names → bound."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {pattern: Bound(*next(iter(bound.items()))) for pattern, bound in content.items()}


def bound_of(figure: Figure, known: dict[str, Bound]) -> Bound | None:
    """The bound of the first pattern that matches."""
    return next((bound for pattern, bound in known.items() if fnmatchcase(figure.name, pattern)), None)


def missed(figures: Iterable[Figure], generous: float = 1.0) -> list[Figure]:
    """Figures that miss their bound."""
    known = bounds()
    return [
        figure
        for figure in figures
        if (bound := bound_of(figure, known)) is not None and not bound.met(figure.value, generous)
    ]
