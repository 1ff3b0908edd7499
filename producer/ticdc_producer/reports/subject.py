"""The subject of a report: what was verified, and the faults that were injected."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What was verified.

    :param name: the scenario's name, or the topic's if no scenario was given.
    :param protocol: TiCDC's name of the protocol.
    :param seconds: how long reading and verifying it took; 0 if it was not measured.
    :param source: text of the scenario; empty: none, or one that may hold a password.
    :param made: version of the tool and date of the report, as text; empty: the page does not name them.
    """

    name: str
    protocol: str
    seconds: float = 0.0
    made: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOccurrence:
    """The position of a fault that was injected into the stream.

    :param trap: name of the fault in the trap catalogue.
    :param offset: offset of the message with the fault, or of the message after a removed one.
    :param commit_ts: commit-ts of the affected event; None if it has none.
    """

    trap: str
    topic: str
    partition: int
    offset: int
    commit_ts: int | None
