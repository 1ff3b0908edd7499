"""The error for a value that does not fit its column."""

from __future__ import annotations

from typing import TypeAlias

JSONValue: TypeAlias = bool | int | float | str | None


class BadValue(Exception):
    """A value that does not fit its column.

    :param expected: what the decoder expected instead.
    """

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected
