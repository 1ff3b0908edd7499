"""The tables of the trap catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.docs.markdown import code, listed, table
from ticdc_producer.faults.catalogue import Trap, catalogue
from ticdc_producer.model.parameter import PROTOCOLS
from ticdc_producer.model.trap_coverage import VIEWS


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
    only = f" ({', '.join(one.protocols)})" if len(one.protocols) < len(PROTOCOLS) else ""
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


def settings() -> str:
    """How often legal traps occur."""
    rows = [
        [code(one.id), " or ".join(map(code, one.measures)), _default(one), one.occurrence]
        for one in catalogue().values()
        if one.legal and one.mechanism != "scenario"
    ]
    return table(["trap", "option", "by default", "an occurrence is"], rows)


def _default(one: Trap) -> str:
    if not one.measures:
        return ""
    if one.measures[0] == "times":
        return "once"
    return "every one" if one.default_rate == 1 else "a tenth"


def views() -> str:
    """What the coverage rule of a trap may test."""
    rows = [
        [
            code(name),
            what,
            ", ".join(code(column) + (note and f" ({note})") for column, note in columns.items()),
        ]
        for name, (what, columns) in VIEWS.items()
    ]
    return table(["view", "a row is", "columns"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "traps-delivery": delivery,
    "traps-values": values,
    "traps-illegal": illegal,
    "traps-kafka-consumer": kafka_consumer,
    "traps-settings": settings,
    "trap-views": views,
}
