"""The tables of the scoreboard, from its stored results."""

from __future__ import annotations

from collections.abc import Callable

from scoreboard.consumers import CONSUMERS
from scoreboard.page import HEADINGS, cell_text
from scoreboard.results import CELLS, read_results
from tests.docs.markdown import code, table

_LONGEST = 160


def scoreboard() -> str:
    """The cells of each consumer that ran."""
    results = [result for result in read_results().consumers if result.ran]
    rows = [
        [code(result.name), result.software, *(cell_text(result.cells[name]) for name in CELLS)]
        for result in results
    ]
    return table(["consumer", "software", *(HEADINGS[name] for name in CELLS)], rows)


def not_run() -> str:
    """The consumers that did not run, and those without stored results."""
    results = read_results().consumers
    stored = {result.name for result in results}
    rows = [[code(result.name), result.software, result.needs] for result in results if not result.ran]
    rows += [
        [code(consumer.name), consumer.software, f"not measured yet: {consumer.needs}"]
        for consumer in CONSUMERS
        if consumer.name not in stored
    ]
    return table(["consumer", "software", "what it needs"], rows)


def histories() -> str:
    """The shrunk history of the first random example that a consumer gets wrong."""
    rows = [
        [
            code(result.name),
            history.name,
            " ".join(code(f"{statement};") for statement in history.statements),
            code(_short(history.reasons[0])),
        ]
        for result in read_results().consumers
        if result.ran
        for history in result.cells["random"].histories
    ]
    return table(["consumer", "at", "shrunk history", "what is wrong"], rows)


def _short(reason: str) -> str:
    line = reason.replace("`", "'").replace("\n", " ")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


TABLES: dict[str, Callable[[], str]] = {
    "scoreboard": scoreboard,
    "scoreboard-not-run": not_run,
    "scoreboard-histories": histories,
}
