"""The table of wrong rows in tables that MERGE fills, from its measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.docs.markdown import code, table
from tests.peers.lake_traps import NO_TRAP, measured
from ticdc_producer.faults.catalogue import catalogue

_EXPECTED = "rows as expected"


def lake_traps() -> str:
    """Which rows are wrong under each legal trap, and the message that a wrong row is from."""
    rows = [
        [
            "no trap" if trap == NO_TRAP else code(trap),
            "" if trap == NO_TRAP else _first_sentence(catalogue()[trap].summary),
            *(_by_arrival(results[name]["by_arrival"]) for name in ("delta", "iceberg")),
            _messages(results),
            _recipe(results),
        ]
        for trap, results in measured().items()
    ]
    formats = ["by arrival: Delta", "by arrival: Iceberg"]
    head = ["trap", "what TiCDC does", *formats, "message of the first wrong row", "the recipe, in both"]
    return table(head, rows)


def _first_sentence(text: str) -> str:
    return f"{text.removesuffix('.').partition('. ')[0]}."


def _by_arrival(result: dict[str, Any]) -> str:
    if not result["wrong"]:
        return _EXPECTED
    after = f"wrong after {result['wrong_after']} of {result['micro_batches']} micro-batches"
    at_end = len(result["wrong_at_end"])
    return f"{f'{at_end} wrong' if at_end else 'as expected'} at the end; {after}"


def _messages(results: dict[str, Any]) -> str:
    """Return the message for both formats; one for each if they differ."""
    texts = {name: _message(result["by_arrival"]) for name, result in results.items()}
    if len({*texts.values()}) == 1:
        return texts["delta"]
    return "; ".join(f"{name}: {text}" for name, text in texts.items())


def _message(result: dict[str, Any]) -> str:
    """Return the first wrong row, of those at the end if there are any."""
    row = next(iter(result["wrong_at_end"] or result["wrong"]), None)
    if row is None:
        return ""
    message = f"{code(row['table'])}, {code(row['key'])}: {code(row['message'])}"
    if row["first"] != row["message"]:
        message += f", which repeats {code(row['first'])}"
    newest = code(row["newest"]) if row["newest"] else "TRUNCATE"
    does = {"older": "is newer", "extra": "removed the row", "missing": "has the row"}[row["kind"]]
    return f"{message}; {newest} {does}"


def _recipe(results: dict[str, Any]) -> str:
    wrong = {name: sum(result["recipe"].values()) for name, result in results.items()}
    return ", ".join(f"{name}: {rows} wrong" for name, rows in wrong.items() if rows) or _EXPECTED


TABLES: dict[str, Callable[[], str]] = {"lake-traps": lake_traps}
