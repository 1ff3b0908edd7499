"""Runs the benchmarks, and writes a table and a plot of the figures with their bounds.

    python -m benchmarks --out measured            # all parts: an hour on two cores
    python -m benchmarks --only encoders decoders  # some of them

Writes ``measured.json``, ``measured.md`` and ``measured.svg`` into the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.figures import Bound, Figure, bound_of, bounds
from benchmarks.parts import PARTS, Sizes
from benchmarks.plot import plot

_VERSIONS = ("pyspark", "pyarrow", "confluent-kafka", "ticdc-producer")


def machine() -> dict[str, Any]:
    """The machine and the versions on which the figures are measured."""
    return {
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: version(name) for name in _VERSIONS},
    }


def table(figures: Sequence[Figure], known: dict[str, Bound], where: dict[str, Any]) -> str:
    """A Markdown table; figures that miss their bound in bold."""
    environment = ", ".join(f"{name} {value}" for name, value in where.items())
    lines = [f"Measured with {environment}.", "", "| figure | measured | wanted | |", "|---|---|---|---|"]
    for figure in figures:
        bound = bound_of(figure, known)
        value = f"{figure.value:.2f} {figure.unit}".strip()
        cell = value if bound is None or bound.met(figure.value) else f"**{value}**"
        lines.append(f"| {figure.name} | {cell} | {bound or ''} | {figure.detail} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument(
        "--transactions", type=int, default=250_000, help="transactions of end-to-end, four changes each"
    )
    parser.add_argument(
        "--changes",
        nargs="+",
        type=int,
        default=[1_000_000, 4_000_000],
        help="row changes of the runs of scale",
    )
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir()), help="folder with enough free disk space"
    )
    parser.add_argument("--out", type=Path, default=Path("measured"))
    options = parser.parse_args()
    sizes = Sizes(transactions=options.transactions, changes=tuple(options.changes), work=options.work)
    where, known = machine(), bounds()
    figures: list[Figure] = []
    for part in options.only:
        for figure in PARTS[part](sizes):
            print(f"{figure.name:<44} {figure.value:9.3f} {figure.unit:<12} {figure.detail}", file=sys.stderr)
            figures.append(figure)
    options.out.mkdir(parents=True, exist_ok=True)
    report = {"machine": where, "figures": [asdict(figure) for figure in figures]}
    (options.out / "measured.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    (options.out / "measured.md").write_text(table(figures, known, where), encoding="utf-8")
    plot(figures, known, options.out / "measured.svg")


if __name__ == "__main__":
    main()
