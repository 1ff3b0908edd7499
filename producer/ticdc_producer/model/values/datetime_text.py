"""Reads the texts of dates, with or without time.

Rules: tidb ``pkg/types/time.go`` (``parseDatetime``). A text that ends in something else is often a date
with a warning, also in strict mode: ``'2020-01-02 03:04:05 pm'`` is 03:04:05.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

from ticdc_producer.model.values.sql_value import DateTimeValue
from ticdc_producer.model.values.temporal_text import (
    checked_datetime,
    convert_zone,
    offset_zone,
    two_digit_year,
)

_USUAL = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,30}))?)?", re.ASCII
).fullmatch
_ZONE = re.compile(r"(?:Z|[+-]\d\d(?::?\d\d)?)\Z", re.ASCII)
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_BETWEEN_DATE_AND_TIME = frozenset("T \t\n\v\f\r")
_DIGITS = frozenset("0123456789")
_WIDTHS = {
    5: (2, 2, 1), 6: (2, 2, 2), 7: (2, 2, 2, 1), 8: (4, 2, 2), 9: (2, 2, 2, 2, 1), 10: (2, 2, 2, 2, 2),
    11: (2, 2, 2, 2, 2, 1), 12: (2, 2, 2, 2, 2, 2), 14: (4, 2, 2, 2, 2, 2),
}  # fmt: skip
"""The digits of year, month, day, hour, minute and second of a text without separators, by its length."""
_LENIENT = (5, 6, 8, 9, 10)
"""Lengths for which a last character that is not a digit counts as 0."""
_LARGEST_OFFSET = (14, 0)
_MAX_LENGTH = 100
_ALL_PARTS = 6
_LAST_YEAR = 9999


def parse_datetime(
    text: str, fsp: int, zone: tzinfo = UTC, *, invalid_dates: bool = False
) -> DateTimeValue | None:
    """Parse a date, with or without time, rounded to ``fsp`` digits; None if the text is not a date.

    Zero parts are accepted (``2021-00-00``), impossible dates are not (``2021-02-30``).

    :param fsp: number of fractional digits; -1 drops the time, after the fraction was rounded to seconds.
    :param zone: the session's time zone, to which text with an offset is converted.
    :param invalid_dates: ALLOW_INVALID_DATES: every month has 31 days.
    """
    usual = _USUAL(text)
    if usual is not None:
        *parts, micro = usual.groups()
        return checked_datetime([int(part or 0) for part in parts], micro or "", fsp, invalid_dates)
    if len(text) > _MAX_LENGTH:
        return None
    split = _split(text)
    numbers = _numbers(split)
    if numbers is None or numbers[0] > _LAST_YEAR or (split.zone and not split.has_seconds):
        return None
    micro = split.fraction if split.has_seconds else ""
    if not split.zone:
        return checked_datetime(numbers, micro, fsp, invalid_dates)
    value = checked_datetime(numbers, micro, max(fsp, 0), invalid_dates)
    if value is None or not _is_offset(split.zone):
        return None
    moved = convert_zone(value, offset_zone(_with_colon(split.zone)), zone)
    if moved is None or fsp >= 0:
        return moved
    return replace(moved, hour=0, minute=0, second=0, microsecond=0, fsp=-1)


@dataclass(slots=True)
class _Split:
    """The parts of a text of a date.

    :param parts: between separators; one part if there are none.
    :param fraction: digits after the last point.
    :param zone: the offset at the end; empty if there is none.
    """

    parts: list[str]
    fraction: str
    zone: str

    @property
    def is_packed(self) -> bool:
        return len(self.parts) == 1 and len(self.parts[0]) >= min(_WIDTHS)

    @property
    def has_seconds(self) -> bool:
        return len(self.parts) >= _ALL_PARTS or (self.is_packed and len(self.parts[0]) in (11, 12, 14))


def _split(text: str) -> _Split:
    """Split a text; what looks like an offset or a fraction is a part of a date that is incomplete."""
    offset = _ZONE.search(text)
    zone = offset[0] if offset and offset.start() else ""
    text = _without_last_punctuation(text[: offset.start()]) if offset and zone else text
    fraction, point = "", _fraction_point(text)
    if point > 0:
        fraction = _leading_digits(text[point + 1 :])
        text = _without_last_punctuation(text[:point])
    split = _Split(_separated(text), fraction, zone)
    if fraction and _takes_more(split):
        split.parts.append(fraction)
        split.fraction = ""
    if zone != "Z" and zone and _takes_more(split) and (len(zone) < len("+0800") or ":" in zone):
        split.parts.extend(zone[1:].split(":"))
        split.zone = ""
    return split


def _takes_more(split: _Split) -> bool:
    return len(split.parts) < _ALL_PARTS and not split.is_packed


def _fraction_point(text: str) -> int:
    """Return the position of the point before the fraction, the last mark but for a sign; -1 without one."""
    offset = _ZONE.search(text)
    end = offset.start() if offset else len(text)
    marks = (at for at in range(end - 1, -1, -1) if text[at] in _PUNCTUATION and text[at] not in "+-")
    at = next(marks, -1)
    return at if at >= 0 and text[at] == "." else -1


def _without_last_punctuation(text: str) -> str:
    end = len(text)
    while end > 1 and text[end - 1] in _PUNCTUATION:
        end -= 1
    return text[:end]


def _leading_digits(text: str) -> str:
    return next((text[:at] for at, character in enumerate(text) if character not in _DIGITS), text)


def _separated(text: str) -> list[str]:
    """Divide a text at its separators; empty for a text with other characters.

    The last part may end in any character.
    """
    text = text.strip()
    if not text or text[0] not in _DIGITS:
        return []
    parts: list[str] = []
    start, at = 0, 1
    while at < len(text) - 1:
        before = len(parts)
        if _is_separator(text[at], before):
            parts.append(text[start:at])
            while at + 1 < len(text) and _is_separator(text[at + 1], before):
                at += 1
            start = at + 1
        elif text[at] not in _DIGITS:
            return []
        at += 1
    parts.append(text[start:])
    return parts


def _is_separator(character: str, parts: int) -> bool:
    if character in _PUNCTUATION or (parts == 2 and character in _BETWEEN_DATE_AND_TIME):
        return True
    return parts > 4 and character not in _DIGITS


def _numbers(split: _Split) -> list[int] | None:
    """Return year, month, day, hour, minute and second; None if the parts are not a date."""
    if len(split.parts) < 2:
        return _packed_numbers(split.parts[0], split.fraction) if split.parts else None
    if len(split.parts) == 2 or not all(part.isdigit() for part in split.parts[:_ALL_PARTS]):
        return None
    numbers = [int(part) for part in split.parts[:_ALL_PARTS]]
    if len(split.parts[0]) <= 2 and (any(numbers) or split.fraction):
        numbers[0] = two_digit_year(numbers[0])
    return [*numbers, 0, 0, 0][:_ALL_PARTS]


def _packed_numbers(digits: str, fraction: str) -> list[int] | None:
    """Divide digits without separators. The fraction of a date is its time, as in ``20200102.0304``."""
    widths = _WIDTHS.get(len(digits))
    if widths is None:
        return None
    numbers, start = [], 0
    for width in widths:
        part = _leading_digits(digits[start : start + width])
        if not part and len(digits) not in _LENIENT:
            return None
        numbers.append(int(part or 0))
        start += width
    if widths[0] == 2:
        numbers[0] = two_digit_year(numbers[0])
    pairs = [int(fraction[at : at + 2]) for at in range(0, min(len(fraction), 6), 2)]
    if len(digits) in (5, 6, 8):
        numbers += pairs
    elif len(digits) in (9, 10):
        numbers += pairs[:1]
    return [*numbers, 0, 0, 0][:_ALL_PARTS]


def _is_offset(zone: str) -> bool:
    """Return whether an offset is within ±14:00, and not ``-00:00``."""
    if zone == "Z":
        return True
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = int(digits[:2]), int(digits[2:])
    return offset <= _LARGEST_OFFSET and offset[1] < 60 and not (zone[0] == "-" and offset == (0, 0))


def _with_colon(zone: str) -> str:
    if zone == "Z":
        return zone
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return f"{zone[0]}{digits[:2]}:{digits[2:]}"
