"""Whether a consumer's value is the expected one, whatever type the consumer gave it.

Expected values are canonical text. The consumer's type decides how it is read: a number is compared as a
number, a date as a date, a document as a document.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from ticdc_producer.testing.cell import Cell


def same(expected: Cell, actual: object) -> bool:
    """Whether both are the same value.

    :param expected: canonical text; bytes where it is not UTF-8; None for NULL.
    :param actual: None, str, bytes, bool, int, float, Decimal, date, datetime (its zone is not looked at),
        time, timedelta, dict or list; of anything else, its ``str``.
    """
    if expected is None or actual is None:
        return expected is None and actual is None
    if isinstance(actual, bytes | bytearray | memoryview):
        return bytes(actual) == _bytes(expected)
    if isinstance(expected, bytes):
        return False
    if isinstance(actual, str):
        return expected == actual
    for kind, read in _READERS.items():
        if isinstance(actual, kind):
            with suppress(ValueError, InvalidOperation, RecursionError):
                return bool(read(expected) == _plain(actual))
            return False
    return expected == str(actual)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _plain(actual: object) -> object:
    return actual.replace(tzinfo=None) if isinstance(actual, datetime | time) else actual


def _clock(text: str) -> time:
    """A TIME that a clock can show."""
    return time.fromisoformat(text)


def _span(text: str) -> timedelta:
    """``[-]HHH:MM:SS[.ffffff]``"""
    hours, minutes, seconds = text.removeprefix("-").split(":")
    span = timedelta(hours=int(hours), minutes=int(minutes), microseconds=int(Decimal(seconds) * 1_000_000))
    return -span if text.startswith("-") else span


# A datetime is a date, too, and a bool an int: the first that fits counts.
_READERS: dict[type | tuple[type, ...], Callable[[str], Any]] = {
    (int, Decimal): Decimal,
    float: float,
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    time: _clock,
    timedelta: _span,
    (dict, list): json.loads,
}
