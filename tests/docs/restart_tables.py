"""The tables of the bugs that only restarts reveal, from their measurement."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.restart.bugs import BLIND_BUGS, BUGS, RestartBug
from tests.conformance.restart.table import SEEDS, measured
from tests.docs.markdown import table


def bugs(entries: tuple[RestartBug, ...]) -> str:
    """Where each bug was found, and its smallest history; a dash for a seed without a result."""
    rows = []
    for bug in entries:
        results = measured().get(bug.name, {})
        by_seed = [results.get(str(seed)) for seed in SEEDS]
        rows.append(
            [
                bug.name,
                bug.language,
                bug.source,
                ", ".join("–" if result is None else str(result["example"]) for result in by_seed),
                ", ".join("–" if result is None else str(result["statements"]) for result in by_seed),
                next((str(result["stop"]) for result in by_seed if result is not None), "–"),
            ]
        )
    return table(
        ["bug", "language", "reported in", "found at example", "statements", "stopped, with the first seed"],
        rows,
    )


TABLES: dict[str, Callable[[], str]] = {
    "restart-bugs": lambda: bugs(BUGS),
    "blind-restart-bugs": lambda: bugs(BLIND_BUGS),
}
