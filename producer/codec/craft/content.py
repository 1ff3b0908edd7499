"""Column values as Craft's bytes, whole columns at a time.

Texts travel as they are, whatever their charset; numbers in binary. Source: tiflow
``message_encoder.go`` (``EncodeTiDBType``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack, unpack
from typing import TypeAlias

from producer.codec.craft.varint import uvarint, uvarints, varint, varints
from producer.model.event import Value
from producer.model.mysql_type import INTEGERS, NUMBERED, MySQLType

Column: TypeAlias = Sequence[Value]
Renderer: TypeAlias = Callable[[Column], Column]

T = MySQLType
_NEVER_SENT = frozenset({T.UNSPECIFIED, T.NULL, T.GEOMETRY})
_NULL_LENGTH = varint(-1)


def renderer(code: MySQLType, *, unsigned: bool) -> Renderer:
    """How the values of a column are written; NULL stays None.

    :param unsigned: UnsignedFlag. YEAR is signed although it carries the flag.
    """
    if code == T.YEAR or (code in INTEGERS and not unsigned):
        return _signed
    if code in INTEGERS or code in NUMBERED:
        return _unsigned
    if code == T.FLOAT:
        return _floats
    if code == T.DOUBLE:
        return _doubles
    return _nulls if code in _NEVER_SENT else _as_they_are


def lengths(column: Column) -> list[bytes]:
    """The length of each value as the nullable chunk has it: a varint, -1 for NULL."""
    if None not in column:
        return uvarints([len(value) << 1 for value in column if value is not None])
    return [_NULL_LENGTH if value is None else uvarint(len(value) << 1) for value in column]


def filled(column: Column) -> list[bytes]:
    """The bytes of each value, none for NULL."""
    return [value or b"" for value in column]


def _as_they_are(column: Column) -> Column:
    return column


def _nulls(column: Column) -> Column:
    return [None] * len(column)


def _signed(column: Column) -> Column:
    return _spread(column, varints([int(value) for value in column if value is not None]))


def _unsigned(column: Column) -> Column:
    return _spread(column, uvarints([int(value) for value in column if value is not None]))


def _doubles(column: Column) -> Column:
    return _spread(column, _binary64([float(value) for value in column if value is not None]))


def _floats(column: Column) -> Column:
    """A FLOAT is sent in 64 bits, yet it is the number of 32 bits that the column holds."""
    numbers = [float(value) for value in column if value is not None]
    form = f"<{len(numbers)}f"
    return _spread(column, _binary64(unpack(form, pack(form, *numbers))))


def _binary64(numbers: Sequence[float]) -> list[bytes]:
    packed = pack(f"<{len(numbers)}d", *numbers)
    return [packed[place : place + 8] for place in range(0, len(packed), 8)]


def _spread(column: Column, present: list[bytes]) -> Column:
    """What was made of the values that are not NULL, back in the places of the column."""
    if len(present) == len(column):
        return present
    rest = iter(present)
    return [None if value is None else next(rest) for value in column]
