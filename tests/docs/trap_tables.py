"""The tables of the trap catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import get_args

from tests.docs.markdown import code, listed, table
from ticdc_producer.faults.catalogue import Protocol, Trap, catalogue


def _table(title: str, traps: Iterable[Trap], cell: Callable[[Trap], str]) -> str:
    head = ["trap", "what happens", title, "what a correct consumer does", "issues"]
    rows = [
        [code(one.id), one.summary, cell(one), one.consumer_action, ", ".join(one.issues)] for one in traps
    ]
    return table(head, rows)


def delivery() -> str:
    """Legal behaviour of TiCDC in delivery."""
    traps = [one for one in catalogue().values() if one.legal and one.mechanism != "scenario"]
    return _table("requires", traps, _requires)


def values() -> str:
    """Traps that follow from the SQL of a scenario."""
    return _table("requires", [one for one in catalogue().values() if one.mechanism == "scenario"], _requires)


def _requires(one: Trap) -> str:
    only = f" ({', '.join(one.protocols)})" if len(one.protocols) < len(get_args(Protocol)) else ""
    return one.requires + only


def illegal() -> str:
    """Illegal faults: TiCDC never does these."""
    traps = [one for one in catalogue().values() if not one.legal]
    return _table("found by", traps, lambda one: listed(one.violates))


def kafka_consumer() -> str:
    """What TiCDC's own consumer does with traps."""
    rows = [
        [code(one.id), one.kafka_consumer, one.consumer_action]
        for one in catalogue().values()
        if one.kafka_consumer
    ]
    return table(["trap", "what `kafka-consumer` does", "what a consumer should do instead"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "traps-delivery": delivery,
    "traps-values": values,
    "traps-illegal": illegal,
    "traps-kafka-consumer": kafka_consumer,
}
