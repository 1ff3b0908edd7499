"""Functions by name. To add one, write it and put it into ``FUNCTIONS``.

A function gets evaluated arguments; those that must see NULL say so with ``takes_null``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from producer.errors import ScenarioError
from producer.model.coerce_text import to_bytes, to_text
from producer.model.number_text import as_number
from producer.model.sql_mode import SQLMode
from producer.model.sql_value import SQLValue
from producer.model.temporal_text import moment_of
from producer.scenario.sql.arithmetic import modulo, negate, operand
from producer.scenario.sql.compare import compare, truth

_HUGE = 1e18
_MAX_PACKET = 64 << 20  # max_allowed_packet: longer results are NULL


@dataclass(frozen=True, slots=True)
class Function:
    """One function.

    :param least: fewest arguments; ``most``: at most so many, -1 for any number.
    :param takes_null: whether it is called when an argument is NULL; else the result is NULL.
    """

    run: Callable[[Sequence[SQLValue], SQLMode], SQLValue]
    least: int
    most: int
    takes_null: bool = False

    def __call__(self, name: str, arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
        """:raises ScenarioError: for a wrong number of arguments."""
        if len(arguments) < self.least or (0 <= self.most < len(arguments)):
            raise ScenarioError(f"Incorrect parameter count in the call to {name}()")
        if not self.takes_null and any(argument is None for argument in arguments):
            return None
        return self.run(arguments, mode)


def _concat(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    if any(isinstance(argument, bytes) for argument in arguments):
        joined = b"".join(to_bytes(argument) for argument in arguments)
        return joined if len(joined) <= _MAX_PACKET else None
    text = "".join(to_text(argument) for argument in arguments)
    return text if len(text) <= _MAX_PACKET else None


def _repeat(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    text, count = arguments[0], max(_whole(arguments[1]), 0)
    if len(to_bytes(text)) * count > _MAX_PACKET:
        return None
    return bytes(text) * count if isinstance(text, bytes) else to_text(text) * count


def _whole(value: SQLValue) -> int:
    number = float(as_number(value)[0])
    return int(min(max(number, -_HUGE), _HUGE))


def _length(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return len(to_bytes(arguments[0]))


def _char_length(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    value = arguments[0]
    return len(value) if isinstance(value, bytes) else len(to_text(value))


def _upper(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    value = arguments[0]
    return value if isinstance(value, bytes) else to_text(value).upper()


def _lower(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    value = arguments[0]
    return value if isinstance(value, bytes) else to_text(value).lower()


def _if(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return arguments[1] if truth(arguments[0]) else arguments[2]


def _coalesce(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return next((argument for argument in arguments if argument is not None), None)


def _nullif(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    left, right = arguments
    return None if compare(left, right, "utf8mb4_bin", mode) == 0 else left


def _isnull(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return int(arguments[0] is None)


def _abs(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    number = operand(arguments[0])
    return negate(number, mode) if number < 0 else number


def _mod(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return modulo(arguments[0], arguments[1], mode)


def now(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """``NOW([fsp])``: the session's fixed moment in its time zone."""
    digits = _whole(arguments[0]) if arguments else 0
    if not 0 <= digits <= 6:
        raise ScenarioError("a fraction of a second has at most 6 digits", value=str(digits))
    return moment_of(mode.now.astimezone(mode.zone), digits)


FUNCTIONS: dict[str, Function] = {
    "ABS": Function(_abs, 1, 1),
    "CHAR_LENGTH": Function(_char_length, 1, 1),
    "CHARACTER_LENGTH": Function(_char_length, 1, 1),
    "COALESCE": Function(_coalesce, 1, -1, takes_null=True),
    "CONCAT": Function(_concat, 1, -1),
    "CURRENT_TIMESTAMP": Function(now, 0, 1),
    "IF": Function(_if, 3, 3, takes_null=True),
    "IFNULL": Function(_coalesce, 2, 2, takes_null=True),
    "ISNULL": Function(_isnull, 1, 1, takes_null=True),
    "LCASE": Function(_lower, 1, 1),
    "LENGTH": Function(_length, 1, 1),
    "LOCALTIME": Function(now, 0, 1),
    "LOCALTIMESTAMP": Function(now, 0, 1),
    "LOWER": Function(_lower, 1, 1),
    "MOD": Function(_mod, 2, 2),
    "NOW": Function(now, 0, 1),
    "NULLIF": Function(_nullif, 2, 2, takes_null=True),
    "OCTET_LENGTH": Function(_length, 1, 1),
    "REPEAT": Function(_repeat, 2, 2),
    "UCASE": Function(_upper, 1, 1),
    "UPPER": Function(_upper, 1, 1),
}
