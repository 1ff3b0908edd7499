"""A Kafka record with its place: what a source reads and a folder holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One message of a topic.

    :param timestamp: Unix milliseconds.
    :param type: ``row``, ``ddl`` or ``resolved`` where the writer noted it, else empty.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int = 0
    headers: tuple[tuple[str, bytes], ...] = ()
    type: str = ""
