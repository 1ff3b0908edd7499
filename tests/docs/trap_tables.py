"""The tables of the trap catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import get_args

from tests.docs.markdown import code, listed, table
from ticdc_producer.faults.catalogue import Protocol, Trap, catalogue


def _table(title: str, traps: Iterable[Trap], cell: Callable[[Trap], str]) -> str:
    head = ["trap", "what happens", title, "what a right consumer does", "met in"]
    return table(
        head, [[code(one.id), one.sentence, cell(one), one.copes, ", ".join(one.issues)] for one in traps]
    )


def delivery() -> str:
    """What TiCDC may do in delivery."""
    traps = [one for one in catalogue().values() if one.legal and one.means != "scenario"]
    return _table("needs", traps, _needs)


def values() -> str:
    """What the SQL of a scenario brings about."""
    return _table("needs", [one for one in catalogue().values() if one.means == "scenario"], _needs)


def _needs(one: Trap) -> str:
    only = f" ({', '.join(one.protocols)})" if len(one.protocols) < len(get_args(Protocol)) else ""
    return one.needs + only


def illegal() -> str:
    """What TiCDC never does."""
    traps = [one for one in catalogue().values() if not one.legal]
    return _table("found by", traps, lambda one: listed(one.breaks))


TABLES: dict[str, Callable[[], str]] = {
    "traps-delivery": delivery,
    "traps-values": values,
    "traps-illegal": illegal,
}
