"""The values of SQL expressions, and the session settings that affect their coercion to columns.

Python types are used where they have the same meaning: ``None`` is NULL, ``int`` a signed integer,
``Decimal`` an exact number, ``float`` a DOUBLE, ``str`` text, ``bytes`` a binary string. ``bool`` is the
result of TRUE and of comparisons: 1 or 0, but true or false in JSON. The classes here are for values without
a Python equivalent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import shortened


class Unsigned(int):
    """A BIGINT UNSIGNED; results of arithmetic with it must not be negative."""


class Year(Unsigned):
    """The value of a YEAR column, which has four digits as a text.

    Source: tidb ``builtinCastIntAsStringSig``.
    """


class Quotient(Decimal):
    """A DECIMAL that was computed by a division: it has more digits than a text or DOUBLE column shows.

    An expression that needs a DOUBLE takes all digits of a division and of constants, but not those of
    another sum or product of quotients. Source: tidb ``MyDecimal.String``, ``PropagateType``.

    :param text_scale: number of the fractional digits that they show.
    :param is_divided: whether it is the result of the division itself, or of constants.
    """

    text_scale: int
    is_divided: bool

    def __new__(cls, number: Decimal, text_scale: int, *, is_divided: bool = False) -> Quotient:
        value = super().__new__(cls, number)
        value.text_scale, value.is_divided = text_scale, is_divided
        return value

    def __float__(self) -> float:
        return super().__float__() if self.is_divided else float(self.rounded())

    def rounded(self) -> Decimal:
        """Return the number with the digits that its text shows."""
        return self.quantize(Decimal(1).scaleb(-self.text_scale), context=_ROUNDING)


def stored_number(value: SQLValue) -> SQLValue:
    """Return a value as a column takes it: a quotient with the digits of its text, a year or BIT as a number.

    Source: tidb ``Datum.convertToString``.
    """
    if isinstance(value, Quotient):
        return value.rounded()
    if isinstance(value, Bits):
        return value.number
    return int(value) if isinstance(value, Year) else value


_ROUNDING = Context(prec=200, rounding=ROUND_HALF_UP)


class Single(float):
    """The value of a FLOAT column, whose text has the digits of 32 bits."""


class BinaryLiteral(bytes):
    """``x'..'``, ``b'..'`` and BIT values: a number in numeric context, else bytes."""

    @property
    def number(self) -> int:
        return int.from_bytes(self, "big")


class Bits(BinaryLiteral):
    """The value of a BIT column; it is compared as a number."""


class ColumnBytes(bytes):
    """The value of a BINARY, VARBINARY or BLOB column.

    :param code: type code of the column, which appears in JSON that is made from the value.
    """

    code: int

    def __new__(cls, data: bytes, code: int) -> ColumnBytes:
        value = super().__new__(cls, data)
        value.code = code
        return value


class Member(str):
    """A value of an ENUM or SET: its text and its number."""

    number: int

    def __new__(cls, text: str, number: int) -> Member:
        member = super().__new__(cls, text)
        member.number = number
        return member


class ErrorMember(Member):
    """The error value of an ENUM column: without strict mode it replaces a value outside of the members."""


class JsonText(str):
    """A JSON value, as TiDB prints it.

    :param document: the document that the text was printed from; None if the text shows all types.
    """

    document: object

    def __new__(cls, text: str, document: object = None) -> JsonText:
        value = super().__new__(cls, text)
        value.document = document
        return value


class VectorText(str):
    """A vector as TiDB prints it, and its elements, which are numbers of 32 bits."""

    elements: tuple[float, ...]

    def __new__(cls, text: str, elements: tuple[float, ...]) -> VectorText:
        value = super().__new__(cls, text)
        value.elements = elements
        return value

    def __reduce__(self) -> tuple[type[VectorText], tuple[str, tuple[float, ...]]]:
        return VectorText, (str(self), self.elements)


class TypedJson(bytes):
    """The stored text of a JSON document with scalars whose type the text does not show, such as dates.

    Pickling keeps the text alone: messages and other processes need no more.

    :param document: the document that the text was printed from.
    """

    document: object

    def __new__(cls, text: bytes, document: object) -> TypedJson:
        value = super().__new__(cls, text)
        value.document = document
        return value

    def __reduce__(self) -> tuple[type[bytes], tuple[bytes]]:
        return bytes, (bytes(self),)


@dataclass(frozen=True, slots=True)
class DateTimeValue:
    """A DATE, DATETIME or TIMESTAMP; month and day may be zero, as in MySQL.

    :param fsp: number of fractional digits; -1 for a date without time.
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
        """The fields by which values are compared."""
        return (self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond)

    @property
    def is_zero(self) -> bool:
        return not any(self.fields)

    def naive(self) -> datetime:
        """Convert to a ``datetime`` without time zone.

        :raises ValueError: for a date that does not exist in Python, such as month 0.
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
        """Return ``YYYYMMDD[hhmmss[.ffffff]]``, the value in numeric context."""
        digits = "".join(character for character in self.text() if character.isdigit() or character == ".")
        return Decimal(digits)


@dataclass(frozen=True, slots=True)
class Duration:
    """A TIME: signed, up to 838:59:59.

    :param microseconds: the length, with sign.
    :param fsp: number of fractional digits.
    """

    microseconds: int
    fsp: int = 0

    def text(self) -> str:
        seconds, micro = divmod(abs(self.microseconds), 1_000_000)
        sign = "-" if self.microseconds < 0 else ""
        clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        return f"{sign}{clock}{fraction(micro, self.fsp)}"

    def number(self) -> Decimal:
        """Return ``hhmmss[.ffffff]``, the value in numeric context."""
        return Decimal(self.text().replace(":", ""))


def fraction(microsecond: int, fsp: int) -> str:
    """Return ``.`` and ``fsp`` digits; nothing for fsp 0."""
    return f".{microsecond:06d}"[: fsp + 1] if fsp > 0 else ""


SQLValue: TypeAlias = int | Decimal | float | str | bytes | DateTimeValue | Duration | None


DEFAULT_SQL_MODE = (
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
)
DEFAULT_NOW = datetime(2021, 12, 20, 13, 30, 49, tzinfo=UTC)
_MAX_DISPLAY_LENGTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLMode:
    """The session settings for coercions.

    :param sql_mode: value of the variable, which the fields up to ``division_by_zero_error``,
        ``auto_value_on_zero``, ``only_full_group_by`` and ``unsigned_subtraction`` follow.
    :param strict: STRICT_TRANS_TABLES: a value that does not fit is an error; without it the value is cut to
        fit.
    :param zero_dates: NO_ZERO_DATE is off: ``0000-00-00`` is accepted.
    :param zero_in_date: NO_ZERO_IN_DATE is off: ``2021-00-00`` is accepted.
    :param invalid_dates: ALLOW_INVALID_DATES: every month of a DATE or DATETIME has 31 days.
    :param zone: the session's time zone; TIMESTAMP columns store UTC.
    :param auto_value_on_zero: NO_AUTO_VALUE_ON_ZERO is off: 0 in an AUTO_INCREMENT column is the next id.
    :param now: the value of ``NOW()``.
    :param now_moves: whether ``now`` is the time of the transaction's commit; False: it is fixed.
    :param utf8_check: False with ``tidb_skip_utf8_check``: text columns accept any bytes.
    :param foreign_key_checks: whether foreign keys are enforced.
    :param only_full_group_by: ONLY_FULL_GROUP_BY: a group must determine all selected columns.
    :param insert_ignore: whether the statement is INSERT IGNORE: an error of every sql_mode, such as
        invalid JSON, is a warning, too, but not in UPDATE IGNORE. Source: tidb ``UpdateExec.handleErr``.
    :param unsigned_subtraction: NO_UNSIGNED_SUBTRACTION is off: unsigned 1 minus 2 is an error.
    :param block_encryption_mode: the key size and the mode of AES_ENCRYPT.
    :param group_concat_max_len: most bytes of a result of GROUP_CONCAT.
    :param soft_deletes: ``tidb_translate_softdelete_sql``: DELETE marks rows of tables with soft deletes, and
        statements do not see marked rows.
    :param cte_max_recursion_depth: most iterations of WITH RECURSIVE that give rows.
    :param removes_auto_increment: ``tidb_allow_remove_auto_inc``: MODIFY may leave AUTO_INCREMENT out.
    :param auto_increment_increment: the distance of the ids of AUTO_INCREMENT columns.
    :param auto_increment_offset: the first one of these ids.
    :param autocommit: whether a statement outside of BEGIN … COMMIT is a transaction of its own.
    """

    sql_mode: str = DEFAULT_SQL_MODE
    strict: bool = True
    zero_dates: bool = False
    zero_in_date: bool = False
    invalid_dates: bool = False
    division_by_zero_error: bool = True
    auto_value_on_zero: bool = True
    zone: tzinfo = UTC
    now: datetime = DEFAULT_NOW
    now_moves: bool = False
    utf8_check: bool = True
    foreign_key_checks: bool = True
    only_full_group_by: bool = True
    unsigned_subtraction: bool = True
    autocommit: bool = True
    insert_ignore: bool = False
    block_encryption_mode: str = "aes-128-ecb"
    group_concat_max_len: int = 1024
    soft_deletes: bool = True
    cte_max_recursion_depth: int = 1000
    removes_auto_increment: bool = False
    auto_increment_increment: int = 1
    auto_increment_offset: int = 1

    def reject(self, column: str, value: object, what: str, instead: bytes) -> bytes:
        """Refuse a value in strict mode; otherwise return ``instead``, the value that TiDB stores.

        :param what: the violated rule, which precedes ``for column …`` in the message.
        :raises ScenarioError: in strict mode, with ``column`` and ``value`` set.
        """
        if self.strict:
            raise value_error(column, value, what)
        return instead


def value_error(column: str, value: object, what: str) -> ScenarioError:
    """Build the error for one value of one column."""
    text = display_value(value)
    return ScenarioError(f"{what} for column {column!r}: {text!r}", column=column, value=text)


def display_value(value: object) -> str:
    """Format a value for a message: text unchanged, bytes in hex, cut to a readable length."""
    if isinstance(value, bool):
        value = int(value)
    text = value.hex() if isinstance(value, bytes) else str(getattr(value, "text", lambda: value)())
    text = text.encode("utf-8", "backslashreplace").decode()
    return shortened(text, _MAX_DISPLAY_LENGTH)
