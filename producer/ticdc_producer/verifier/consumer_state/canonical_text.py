"""Values of a consumer's table as the canonical text of a MySQL column.

Each function raises ``ValueError`` for a value that is not of the type; nothing is rounded or truncated.

Fractions are padded to the column's number of digits; only zeros are cut off. Text in another form is left
unchanged, so that it is reported as different.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Context, Decimal, InvalidOperation
from math import isfinite

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import narrow, plain_text

_EXACT = Context(prec=200)


def canonical_integer(_: ColumnInfo, value: object) -> bytes:
    """Convert a number of any type, or its text, for an integer column or YEAR."""
    number = _decimal(value)
    if number != number.to_integral_value(context=_EXACT):
        raise ValueError(value)
    return str(int(number)).encode()


def canonical_bit(column: ColumnInfo, value: object) -> bytes:
    """Convert a number, its big-endian bytes, or ``0b`` and binary digits for a BIT column."""
    if isinstance(value, str) and value.startswith("0b"):
        return str(int(value, 2)).encode()
    if isinstance(value, bytes):
        return str(int.from_bytes(value, "big")).encode()
    return canonical_integer(column, value)


def canonical_decimal(column: ColumnInfo, value: object) -> bytes:
    """Convert a DECIMAL, with the column's number of fraction digits unless that would lose digits."""
    number = _decimal(value)
    unit = Decimal(1).scaleb(-max(column.decimal, 0))
    scaled = number.quantize(unit, context=_EXACT)
    return (
        f"{abs(scaled) if scaled == 0 else scaled:f}".encode() if scaled == number else f"{number:f}".encode()
    )


def canonical_float(column: ColumnInfo, value: object) -> bytes:
    """Convert a FLOAT or DOUBLE to the shortest digits of the column's width."""
    number = narrow(float(_decimal(value)), column.type)
    if not isfinite(number):
        raise ValueError(value)
    return plain_text(number, column.type)


def _decimal(value: object) -> Decimal:
    match value:
        case bool() | int():
            return Decimal(int(value))
        case float():
            number = Decimal(repr(value))
        case Decimal():
            number = value
        case str():
            number = _parse(value)
        case bytes():
            number = _parse(value.decode())
        case _:
            raise ValueError(value)
    if not number.is_finite() or number.adjusted() > 400:
        raise ValueError(value)
    return number


def _parse(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


_DATETIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:\.(\d+))?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_DURATION = re.compile(r"(-?)(\d{1,3}):(\d\d)(?::(\d\d))?(?:\.(\d+))?", re.ASCII)
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T]00:00:00(?:\.0+)?)?", re.ASCII)


def canonical_date(_: ColumnInfo, value: object) -> bytes:
    """Convert a date, a datetime at midnight, or text of either for a DATE column."""
    text = str(value) if isinstance(value, date) else _text(value)
    match = _MIDNIGHT.fullmatch(text)
    return (match[1] if match else text).encode()


def canonical_datetime(zone: tzinfo) -> Callable[[ColumnInfo, object], bytes]:
    """Return the function for DATETIME and TIMESTAMP.

    :param zone: values with a zone are converted to it; for TIMESTAMP the changefeed's time zone.
    """

    def to_text(column: ColumnInfo, value: object) -> bytes:
        if isinstance(value, datetime):
            text = (value.astimezone(zone).replace(tzinfo=None) if value.tzinfo else value).isoformat(" ")
        elif isinstance(value, date):
            text = f"{value.isoformat()} 00:00:00"
        else:
            text = _text(value)
        match = _DATETIME.fullmatch(text)
        if match is None:
            return text.encode()
        day, clock, fraction, offset = match.groups(default="")
        if offset:
            local = datetime.fromisoformat(f"{day} {clock}{offset}").astimezone(zone)
            day, clock = local.date().isoformat(), local.time().isoformat()
        seconds = clock if len(clock) > len("00:00") else f"{clock}:00"
        return f"{day} {seconds}{_fraction(fraction, column)}".encode()

    return to_text


CANONICAL_DATETIME = canonical_datetime(UTC)


def canonical_duration(column: ColumnInfo, value: object) -> bytes:
    """Convert a duration, a time of day, or text of either for a TIME column."""
    text = _duration(value) if isinstance(value, timedelta) else _text(value)
    match = _DURATION.fullmatch(text)
    if match is None:
        return text.encode()
    sign, hours, minutes, seconds, fraction = match.groups(default="")
    whole = f"{int(hours):02}:{minutes}:{seconds or '00'}{_fraction(fraction, column)}"
    return f"{sign if whole.strip('0:.') else ''}{whole}".encode()


def _duration(value: timedelta) -> str:
    micros = value // timedelta(microseconds=1)
    seconds, fraction = divmod(abs(micros), 1_000_000)
    sign = "-" if micros < 0 else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def _fraction(digits: str, column: ColumnInfo) -> str:
    padded = digits.rstrip("0").ljust(max(column.decimal, 0), "0")
    return f".{padded}" if padded else ""


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case bytes():
            return value.decode()
        case time():
            return value.replace(tzinfo=None).isoformat()
    raise ValueError(value)


def canonical_enum(column: ColumnInfo, value: object) -> bytes:
    """Convert a member's name, or its number from 1, for an ENUM column. The empty error value is 0."""
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        return canonical_integer(column, value)
    if text in column.elements:
        return str(column.elements.index(text) + 1).encode()
    return b"0" if text == "" else canonical_integer(column, text)


def canonical_set(column: ColumnInfo, value: object) -> bytes:
    """Convert the members of a SET: text with commas, a collection, or the bitmask as a number."""
    text = value.decode() if isinstance(value, bytes) else value
    if isinstance(text, str):
        names: Iterable[str] = text.split(",") if text else ()
    elif isinstance(text, set | frozenset | list | tuple):
        names = text
    else:
        return canonical_integer(column, value)
    members = set(names)
    if not members <= set(column.elements):
        return canonical_integer(column, text)
    return str(sum(1 << bit for bit, name in enumerate(column.elements) if name in members)).encode()


def canonical_json(_: ColumnInfo, value: object) -> bytes:
    """Convert a JSON document to text with sorted keys; equal numbers such as 1 and 1.0 have equal text."""
    text = value.decode() if isinstance(value, bytes) else value
    document = json.loads(text, parse_float=Decimal, parse_int=Decimal) if isinstance(text, str) else text
    return _rendered(document).encode("utf-8", "surrogatepass")


def _rendered(value: object) -> str:
    match value:
        case None | bool():
            return json.dumps(value)
        case int() | float() | Decimal():
            return _number(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
        case str():
            return json.dumps(value, ensure_ascii=False)
        case dict():
            parts = (f"{_rendered(str(name))}: {_rendered(member)}" for name, member in sorted(value.items()))
            return f"{{{', '.join(parts)}}}"
        case list() | tuple():
            return f"[{', '.join(map(_rendered, value))}]"
    raise ValueError(value)


def _number(number: Decimal) -> str:
    if not number:
        return "0"
    plain = -10 < number.adjusted() < 40
    return f"{number.normalize():f}" if plain else str(number.normalize())


def canonical_vector(_: ColumnInfo, value: object) -> bytes:
    """Convert a VECTOR to its numbers as 32-bit floats."""
    text = value.decode() if isinstance(value, bytes) else value
    numbers = json.loads(text) if isinstance(text, str) else text
    if not isinstance(numbers, list | tuple):
        raise ValueError(value)
    code = MySQLType.FLOAT
    return b"[" + b",".join(plain_text(narrow(float(number), code), code) for number in numbers) + b"]"
