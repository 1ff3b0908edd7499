"""Values as SQL computes with them, between a literal or a column and the canonical bytes of a row.

Plain Python types serve where they mean the same: ``None`` is NULL, ``int`` a signed integer,
``Decimal`` an exact number, ``float`` a DOUBLE, ``str`` text, ``bytes`` a binary string. ``bool`` is what
TRUE and comparisons give: 1 or 0, but true or false in JSON. The classes here are for what Python has no word
for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias


class Unsigned(int):
    """A BIGINT UNSIGNED: arithmetic with it must not fall below zero."""


class BinaryLiteral(bytes):
    """``x'..'``, ``b'..'`` and BIT values: a number where a number is wanted, else bytes."""

    @property
    def number(self) -> int:
        return int.from_bytes(self, "big")


class Bits(BinaryLiteral):
    """The value of a BIT column: a number in every comparison."""


class ColumnBytes(bytes):
    """The value of a BINARY, VARBINARY or BLOB column.

    :param code: type code of the column, which a JSON document made of it names.
    """

    code: int

    def __new__(cls, data: bytes, code: int) -> ColumnBytes:
        value = super().__new__(cls, data)
        value.code = code
        return value


class Member(str):
    """A value of an ENUM or SET: text with a number behind it."""

    number: int

    def __new__(cls, text: str, number: int) -> Member:
        member = super().__new__(cls, text)
        member.number = number
        return member


class JsonText(str):
    """A JSON value, as TiDB prints it.

    :param document: the value that the text was printed from; what is read from a column has none.
    """

    document: object

    def __new__(cls, text: str, document: object = None) -> JsonText:
        value = super().__new__(cls, text)
        value.document = document
        return value


@dataclass(frozen=True, slots=True)
class Moment:
    """A DATE, DATETIME or TIMESTAMP; month and day may be zero, as MySQL's may.

    :param fsp: digits of the fraction that it shows; -1 for a date without time.
    """

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0
    microsecond: int = 0
    fsp: int = 0

    @property
    def fields(self) -> tuple[int, ...]:
        """What two moments are compared by."""
        return (self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond)

    @property
    def is_zero(self) -> bool:
        return not any(self.fields)

    def naive(self) -> datetime:
        """As a ``datetime`` without zone.

        :raises ValueError: for what Python's calendar lacks, such as month 0.
        """
        return datetime(
            self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond
        )

    def date_text(self) -> str:
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"

    def text(self) -> str:
        if self.fsp < 0:
            return self.date_text()
        clock = f"{self.hour:02d}:{self.minute:02d}:{self.second:02d}"
        return f"{self.date_text()} {clock}{fraction(self.microsecond, self.fsp)}"

    def number(self) -> Decimal:
        """``YYYYMMDD[hhmmss[.ffffff]]``, what a moment is where a number is wanted."""
        digits = "".join(character for character in self.text() if character.isdigit() or character == ".")
        return Decimal(digits)


@dataclass(frozen=True, slots=True)
class Span:
    """A TIME: signed, up to 838:59:59.

    :param microseconds: the whole length.
    """

    microseconds: int
    fsp: int = 0

    def text(self) -> str:
        seconds, micro = divmod(abs(self.microseconds), 1_000_000)
        sign = "-" if self.microseconds < 0 else ""
        clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        return f"{sign}{clock}{fraction(micro, self.fsp)}"

    def number(self) -> Decimal:
        """``hhmmss[.ffffff]``."""
        return Decimal(self.text().replace(":", ""))


def fraction(microsecond: int, fsp: int) -> str:
    """``.`` and ``fsp`` digits; nothing for fsp 0."""
    return f".{microsecond:06d}"[: fsp + 1] if fsp > 0 else ""


SQLValue: TypeAlias = int | Decimal | float | str | bytes | Moment | Span | None
