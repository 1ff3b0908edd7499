"""A Kafka record with topic, partition and offset, as it is read from a topic or a golden folder."""

from __future__ import annotations

from dataclasses import dataclass

MAX_OFFSET = (1 << 43) - 1
"""The largest offset that is read: a partition with a million messages per second has it after 278 years."""

MAX_EVENTS = 1 << 20
"""The largest number of events of a message that is read: TiCDC's batches have some hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One message of a topic.

    :param timestamp: Unix milliseconds.
    :param type: ``row``, ``ddl`` or ``resolved`` if the writer recorded it, else empty.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int = 0
    headers: tuple[tuple[str, bytes], ...] = ()
    type: str = ""
