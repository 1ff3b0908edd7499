"""The levels of conformance."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """What a testee returns: the events of a message, or the rows of a topic's tables."""

    DECODE = "decode"
    APPLY = "apply"
