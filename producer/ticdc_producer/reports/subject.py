"""What a report is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What was verified.

    :param name: the scenario; without one the topic.
    :param protocol: as TiCDC names it.
    """

    name: str
    protocol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlace:
    """A place at which a fault was put into the stream on purpose.

    :param trap: name of the fault in the trap catalogue.
    :param offset: of the message that shows the fault, or would have followed it.
    :param commit_ts: of the event concerned; None where it has none.
    """

    trap: str
    topic: str
    partition: int
    offset: int
    commit_ts: int | None
