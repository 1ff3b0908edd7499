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
        [code(trap.id), trap.summary, cell(trap), trap.consumer_action, ", ".join(trap.issues)]
        for trap in traps
    ]
    return table(head, rows)


def delivery() -> str:
    """Legal behaviour of TiCDC in delivery."""
    traps = [trap for trap in catalogue().values() if trap.legal and trap.mechanism != "scenario"]
    return _table("requires", traps, _requires)


def values() -> str:
    """Traps that follow from the SQL of a scenario."""
    return _table(
        "requires", [trap for trap in catalogue().values() if trap.mechanism == "scenario"], _requires
    )


def _requires(trap: Trap) -> str:
    only = f" ({', '.join(trap.protocols)})" if len(trap.protocols) < len(PROTOCOLS) else ""
    return trap.requires + only


def illegal() -> str:
    """Illegal faults: TiCDC never does these."""
    traps = [trap for trap in catalogue().values() if not trap.legal]
    return _table("found by", traps, lambda trap: listed(trap.violates))


def kafka_consumer() -> str:
    """What TiCDC's own consumer does with traps."""
    rows = [
        [code(trap.id), trap.kafka_consumer, trap.consumer_action]
        for trap in catalogue().values()
        if trap.kafka_consumer
    ]
    return table(["trap", "what `kafka-consumer` does", "what a consumer should do instead"], rows)


def settings() -> str:
    """How often legal traps occur."""
    rows = [
        [code(trap.id), " or ".join(map(code, trap.measures)), _default(trap), trap.occurrence]
        for trap in catalogue().values()
        if trap.legal and trap.mechanism != "scenario"
    ]
    return table(["trap", "option", "by default", "an occurrence is"], rows)


def _default(trap: Trap) -> str:
    if not trap.measures:
        return ""
    if trap.measures[0] == "times":
        return "once"
    return "every one" if trap.default_rate == 1 else "a tenth"


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
