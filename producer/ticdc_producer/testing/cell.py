"""The values that tests compare: canonical text or bytes, and a consumer's values of any Python type.

Expected values are canonical text. The type of the consumer's value decides how the text is parsed: numbers
are compared as numbers, dates as dates, JSON documents as documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from ticdc_producer.model.event import Value

Cell: TypeAlias = str | bytes | None
"""Canonical text of a value; bytes if it is not UTF-8; None for NULL."""
Rows: TypeAlias = list[dict[str, Cell]]


def cell(value: Value) -> Cell:
    """The cell of a value of the event stream."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def same(expected: Cell, actual: object) -> bool:
    """Whether both are the same value.

    :param expected: canonical text; bytes if it is not UTF-8; None for NULL.
    :param actual: None, str, bytes, bool, int, float, Decimal, date, datetime (its time zone is ignored),
        time, timedelta, dict or list; other types are compared by their ``str``.
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
    """A TIME from 00:00:00 to 23:59:59."""
    return time.fromisoformat(text)


def _span(text: str) -> timedelta:
    """A TIME in the form ``[-]HHH:MM:SS[.ffffff]``."""
    hours, minutes, seconds = text.removeprefix("-").split(":")
    span = timedelta(hours=int(hours), minutes=int(minutes), microseconds=int(Decimal(seconds) * 1_000_000))
    return -span if text.startswith("-") else span


# A datetime is also a date, and a bool also an int: the first matching type is used.
_READERS: dict[type | tuple[type, ...], Callable[[str], Any]] = {
    (int, Decimal): Decimal,
    float: float,
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    time: _clock,
    timedelta: _span,
    (dict, list): json.loads,
}
