"""Reads the texts of TIMEs.

Rules: tidb ``pkg/types/time.go`` (``ParseDuration``, ``matchDuration``).
"""

from __future__ import annotations

import re

from ticdc_producer.model.values.datetime_text import parse_datetime
from ticdc_producer.model.values.sql_value import Duration
from ticdc_producer.model.values.temporal_text import (
    MAX_DURATION,
    MAX_FSP,
    round_fraction,
    time_of_day,
)

_CLOCK = r"(?:\s*+:\s*+(\d++)(?:\s*+:\s*+(\d++)|(?!\s*+:)))"
_WITH_DAYS = re.compile(rf"(\d++)\s++(\d++)(?:{_CLOCK}|(?!\s*+:))", re.ASCII)
_DELIMITED = re.compile(rf"(\d++){_CLOCK}", re.ASCII)
_PACKED = re.compile(r"\d++", re.ASCII)
_WITH_DATE = re.compile(r"\d+[^\w\s]\d+[^\w\s]\d+[T ]|(?:\d{12}|\d{14})(?!\d)", re.ASCII)
"""The start of a text that a TIME reads as a DATETIME. Source: tidb ``canFallbackToDateTime``."""
_USUAL = re.compile(r"(-?)(\d{1,3}):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?", re.ASCII).fullmatch
_LONG_TEXT = 12
"""A text of this length that has more than a TIME is not a TIME."""
_MAX_LENGTH = 100
_SECOND = 1_000_000


def parse_duration(text: str, fsp: int) -> Duration | None:
    """Parse a TIME, rounded to ``fsp`` digits; None if the text is not a time, has more than one, or one
    outside of the range of TIME.
    """
    duration, complete = read_duration(text, fsp)
    return duration if complete else None


def read_duration(text: str, fsp: int) -> tuple[Duration | None, bool]:
    """Return the TIME that a text is or starts with, and whether it is all of the text.

    None is a text without a TIME, also one with more than 59 minutes or seconds. A TIME outside of its
    range is not complete, and the nearest one.

    >>> read_duration("10:11:12pm", 0)
    (Duration(microseconds=36672000000, fsp=0), False)
    """
    usual = _USUAL(text)
    if usual is not None:
        sign, hours, minutes, seconds, micro = usual.groups()
        return _in_range(_duration(bool(sign), (int(hours), int(minutes), int(seconds)), micro or "", fsp))
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        return None, False
    duration, complete = _matched(text, fsp)
    if complete or not _WITH_DATE.match(text):
        return duration, complete
    moment = parse_datetime(text, MAX_FSP)
    return (None, False) if moment is None else (time_of_day(moment, fsp), True)


def _matched(text: str, fsp: int) -> tuple[Duration | None, bool]:
    rest = text.removeprefix("-").lstrip()
    clock = _clock(rest)
    if clock is None:
        return None, False
    (hours, minutes, seconds), end = clock
    digits, more = _fraction(rest[end:].lstrip())
    has_more = bool(more)
    if has_more and len(rest.encode()) >= _LONG_TEXT:
        return None, False
    duration = _duration(text.startswith("-"), (hours, minutes, seconds), digits, fsp)
    duration, complete = _in_range(duration)
    return duration, complete and not has_more


def _in_range(duration: Duration | None) -> tuple[Duration | None, bool]:
    if duration is None or abs(duration.microseconds) <= MAX_DURATION:
        return duration, duration is not None
    return Duration(MAX_DURATION if duration.microseconds > 0 else -MAX_DURATION, duration.fsp), False


def _fraction(text: str) -> tuple[str, str]:
    """Return the digits of a fraction that a text may start with, and the text after it."""
    if not text.startswith("."):
        return "", text
    digits = _PACKED.match(text, 1)
    end = digits.end() if digits else 1
    return text[1:end], text[end:]


def _clock(text: str) -> tuple[tuple[int, int, int], int] | None:
    """Return hours, minutes and seconds at the start of a text, and where they end; None without them."""
    if match := _WITH_DAYS.match(text):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return (days * 24 + hours, minutes, seconds), match.end()
    if match := _DELIMITED.match(text):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return (hours, minutes, seconds), match.end()
    if match := _PACKED.match(text):
        number = int(match[0])
        return (number // 10000, number // 100 % 100, number % 100), match.end()
    return None


def _duration(negative: bool, clock: tuple[int, int, int], micro: str, fsp: int) -> Duration | None:
    hours, minutes, seconds = clock
    if minutes > 59 or seconds > 59:
        return None
    whole = (hours * 3600 + minutes * 60 + seconds) * _SECOND + round_fraction(micro, fsp)
    return Duration(-whole if negative else whole, fsp)
