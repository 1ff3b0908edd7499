"""Comparison by MySQL's rules of type conversion and of collations, and three-valued logic.

Rules: MySQL manual "Type Conversion in Expression Evaluation"; tidb ``pkg/expression/builtin_compare.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_scalar import as_datetime, as_duration, readable
from ticdc_producer.model.values.coerce_text import to_bytes
from ticdc_producer.model.values.collation import compare_texts, same_to_like
from ticdc_producer.model.values.json_document import compare_json, json_of
from ticdc_producer.model.values.number_text import as_float, as_number, check_number
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    Bits,
    DateTimeValue,
    Duration,
    JsonText,
    Member,
    SQLMode,
    SQLValue,
    VectorText,
    display_value,
)
from ticdc_producer.model.values.vector import compare_vectors, vector_of
from ticdc_producer.scenario.sql.expression.eval_type import NUMBERS, EvalType

DEFAULT_COLLATION = "utf8mb4_bin"
_FULL_FSP = 6


def as_boolean(value: SQLValue, mode: SQLMode) -> bool | None:
    """Return a value as a condition: any number but zero is true; None for NULL.

    :raises ScenarioError: in strict mode, for a text that is not a number.
    """
    if value is None:
        return None
    if isinstance(value, VectorText):
        return bool(value.elements)
    check_number(value, mode)
    return as_number(value)[0] != 0


def is_satisfied(value: SQLValue, mode: SQLMode) -> bool:
    """Return whether a row satisfies a condition of WHERE, HAVING or ON.

    A JSON document that is the whole condition does unless it is the number 0. Source: tidb
    ``BinaryJSON.IsZero``.
    """
    if isinstance(value, JsonText):
        document = json_of(value)
        is_number = isinstance(document, int | float | Decimal) and not isinstance(document, bool)
        return not is_number or document != 0
    return as_boolean(value, mode) is True


def compare(
    left: SQLValue,
    right: SQLValue,
    collation: str,
    mode: SQLMode,
    *,
    time_is_read: bool = True,
    in_storage: bool = False,
) -> int | None:
    """Compare two values; return a negative number, zero or a positive one, or None if either is NULL.

    :param collation: collation for the comparison of two texts.
    :param time_is_read: whether the other side of a TIME is read as a TIME. TiDB does so for a constant
        next to a column; otherwise it compares texts, or numbers. Source: tidb ``GetAccurateCmpType``.
    :param in_storage: whether a storage node compares, which reads the text of the zero date in any sql_mode.
    :raises ScenarioError: in strict mode, if a text next to a number, date or time cannot be read as one.
    """
    if left is None or right is None:
        return None
    if isinstance(left, VectorText) or isinstance(right, VectorText):
        return compare_vectors(vector_of(left), vector_of(right))
    if isinstance(left, JsonText) or isinstance(right, JsonText):
        return compare_json(json_of(left), json_of(right))
    if isinstance(left, DateTimeValue | Duration) or isinstance(right, DateTimeValue | Duration):
        return _compare_temporal(left, right, mode, time_is_read, in_storage)
    if _is_string(left) and _is_string(right) and not isinstance(left, Bits) and not isinstance(right, Bits):
        return _compare_strings(left, right, collation)
    return _compare_numbers(left, right, mode)


def extreme(values: Sequence[SQLValue], collation: str, mode: SQLMode, sign: int) -> SQLValue:
    """Return the first of the largest values (sign 1) or smallest ones (-1); NULL without values."""
    best = values[0] if values else None
    for value in values[1:]:
        order = compare(value, best, collation, mode)
        if order is not None and order * sign > 0:
            best = value
    return best


def like(text: SQLValue, pattern: SQLValue, collation: str, escape: str = "\\") -> bool | None:
    r"""Evaluate ``text LIKE pattern``; None if either is NULL.

    The time is at most proportional to the length of the text times that of the pattern.

    >>> like("tidb", "t%_b", DEFAULT_COLLATION), like("a%c", r"a\%_", DEFAULT_COLLATION)
    (True, True)
    """
    if text is None or pattern is None:
        return None
    charset = "utf-8"
    if isinstance(text, bytes) or isinstance(pattern, bytes):
        charset, collation = "latin-1", DEFAULT_COLLATION  # the characters of a binary string are its bytes
    parts = _pattern(to_bytes(pattern).decode(charset, "surrogateescape"), escape)
    characters = to_bytes(text).decode(charset, "surrogateescape")
    return _matches(list(characters), parts, collation)


def _is_string(value: SQLValue) -> bool:
    return isinstance(value, str | bytes)


def _order(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _compare_strings(left: SQLValue, right: SQLValue, collation: str) -> int:
    if isinstance(left, bytes) or isinstance(right, bytes):
        return _order(to_bytes(left), to_bytes(right))
    return compare_texts(to_bytes(left), to_bytes(right), collation)


def _compare_numbers(left: SQLValue, right: SQLValue, mode: SQLMode) -> int:
    check_number(left, mode)
    check_number(right, mode)
    if isinstance(left, float) or isinstance(right, float):
        return _order(as_float(left), as_float(right))
    a, b = as_number(left)[0], as_number(right)[0]
    return _order(a, b)


def _compare_temporal(
    left: SQLValue, right: SQLValue, mode: SQLMode, time_is_read: bool, in_storage: bool
) -> int | None:
    """Compare with a date or a time; None if the other side cannot be read as one, which TiDB warns of."""
    if isinstance(left, DateTimeValue) or isinstance(right, DateTimeValue):
        left, right = (str(side) if isinstance(side, Member) else side for side in (left, right))
        if _is_plain_number(left) or _is_plain_number(right):
            return _compare_numbers(left, right, mode)
        moments = [_as_datetime(side, mode, in_storage) for side in (left, right)]
        return None if None in moments else _order(*(moment.fields for moment in moments if moment))
    if not time_is_read and not (isinstance(left, Duration) and isinstance(right, Duration)):
        if _is_plain_number(left) or _is_plain_number(right):
            return _compare_numbers(left, right, mode)
        return _order(to_bytes(left), to_bytes(right))
    times = [_as_duration(side, mode) for side in (left, right)]
    return None if None in times else _order(*(time.microseconds for time in times if time))


def _is_plain_number(value: SQLValue) -> bool:
    return isinstance(value, int | Decimal | float | BinaryLiteral | Member)


def check_operand(value: SQLValue, other: EvalType, mode: SQLMode, in_storage: bool) -> None:
    """Check a value that is compared with NULL: TiDB converts it to the type of both sides first.

    :param other: the type of the side that is NULL.
    :param in_storage: as for ``compare``.
    :raises ScenarioError: in strict mode, for a text that cannot be converted.
    """
    if not isinstance(value, str | bytes) or isinstance(value, BinaryLiteral | JsonText):
        return
    if other in NUMBERS or other is EvalType.BIT:
        check_number(value, mode)
    elif other in (EvalType.DATE, EvalType.DATETIME):
        _as_datetime(value, mode, in_storage)


def _as_datetime(value: SQLValue, mode: SQLMode, in_storage: bool) -> DateTimeValue | None:
    """Read a date and time as CAST does; None if it is none. Source: tidb ``builtinCastStringAsTimeSig``."""
    if isinstance(value, DateTimeValue):
        return value
    converted = as_datetime(value, _FULL_FSP, mode)
    if converted is not None and ((in_storage and converted.is_zero) or readable(converted, mode)):
        return converted
    if mode.strict:
        raise ScenarioError(f"Incorrect datetime value: {display_value(value)!r}", value=display_value(value))
    return None


def _as_duration(value: SQLValue, mode: SQLMode) -> Duration | None:
    converted = as_duration(value, _FULL_FSP)
    if converted is None and mode.strict:
        raise ScenarioError(f"Incorrect time value: {display_value(value)!r}", value=display_value(value))
    return converted


_ANY_CHARACTER, _ANY_TEXT = object(), object()


def _pattern(text: str, escape: str) -> list[object]:
    parts: list[object] = []
    index = 0
    while index < len(text):
        character = text[index]
        if escape and character == escape and index + 1 < len(text):
            index += 1
            parts.append(text[index])
        else:
            parts.append({"_": _ANY_CHARACTER, "%": _ANY_TEXT}.get(character, character))
        index += 1
    return parts


def _matches(text: list[str], pattern: list[object], collation: str) -> bool:
    """Match greedily; backtrack to the last ``%`` only."""
    position = index = 0
    star, resume = -1, 0
    while position < len(text):
        if index < len(pattern) and pattern[index] is _ANY_TEXT:
            star, resume = index, position
            index += 1
        elif index < len(pattern) and _character_matches(text[position], pattern[index], collation):
            position, index = position + 1, index + 1
        elif star >= 0:
            resume += 1
            position, index = resume, star + 1
        else:
            return False
    return all(part is _ANY_TEXT for part in pattern[index:])


def _character_matches(character: str, part: object, collation: str) -> bool:
    return part is _ANY_CHARACTER or (isinstance(part, str) and same_to_like(character, part, collation))
