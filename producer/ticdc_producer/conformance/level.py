"""What a testee is asked for."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """The events of a message, or the rows that a consumer of a topic has."""

    DECODE = "decode"
    APPLY = "apply"
