"""Plots figures relative to their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure as Picture

from benchmarks.figures import Bound, Figure, bound_of

_MET, _MISSED = "#2a7f62", "#c44536"
_INCHES_PER_BAR = 0.28


def plot(figures: Sequence[Figure], known: dict[str, Bound], path: Path) -> None:
    """One bar per figure that has a bound: the figure relative to the bound."""
    shares = [
        (figure.name, bound.share(figure.value))
        for figure in figures
        if (bound := bound_of(figure, known)) is not None
    ]
    # The same figures give the same bytes.
    with mpl.rc_context({"svg.hashsalt": "ticdc-producer", "svg.fonttype": "none"}):
        picture = Picture(figsize=(8, 1.2 + _INCHES_PER_BAR * len(shares)), layout="constrained")
        axes = picture.add_subplot()
        names, lengths = [name for name, _ in shares], [share for _, share in shares]
        bars = axes.barh(names, lengths, color=[_MET if share <= 1 else _MISSED for share in lengths])
        axes.bar_label(bars, fmt="%.2f", padding=3)
        axes.axvline(1, color="black", linewidth=1)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.margins(x=0.15)
        axes.invert_yaxis()
        axes.set_xlabel("figure relative to its bound (1 is the bound; less is better)")
        picture.savefig(path, metadata={"Date": None})
