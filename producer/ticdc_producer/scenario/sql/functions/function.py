"""The type of SQL functions, and the conversion of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.number_text import check_integer, check_number, whole_number
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue, display_value

MAX_PACKET = 64 << 20
"""TiDB's max_allowed_packet in bytes; a longer result is NULL."""

_HUGE = 1 << 64


@dataclass(frozen=True, slots=True)
class Function:
    """One SQL function.

    :param run: called with the arguments and the session's mode, and with a collation if ``collated``.
    :param min_arguments: the smallest number of arguments; ``max_arguments``: the largest, -1 for no limit.
    :param accepts_null: whether ``run`` is called if an argument is NULL; else the result is NULL.
    :param collated: whether it compares strings, and so needs their collation.
    :param step: size of the groups in which arguments beyond ``min_arguments`` come.
    :param full_fraction: whether its datetime has six digits of a fraction unless the first argument is a
        literal. Source: tidb ``convertTzFunctionClass.getDecimal``.
    :param numbers: positions of the arguments that TiDB casts to a DOUBLE or DECIMAL.
    :param integers: positions of the arguments that TiDB casts to a BIGINT.
    """

    run: Callable[..., SQLValue]
    min_arguments: int
    max_arguments: int
    accepts_null: bool = False
    collated: bool = False
    step: int = 1
    full_fraction: bool = False
    numbers: Sequence[int] = ()
    integers: Sequence[int] = ()

    def check(self, name: str, count: int) -> None:
        """Check the number of arguments of a call.

        :raises ScenarioError: for a wrong number of arguments.
        """
        optional = count - self.min_arguments
        if optional < 0 or (0 <= self.max_arguments < count) or optional % self.step:
            raise ScenarioError(f"Incorrect parameter count in the call to {name}()")

    def _check_numbers(self, arguments: Sequence[SQLValue], mode: SQLMode) -> None:
        for position, argument in enumerate(arguments):
            if position in self.numbers:
                check_number(argument, mode)
            if position in self.integers:
                check_integer(argument, mode)

    def __call__(
        self, name: str, arguments: Sequence[SQLValue], mode: SQLMode, collation: str = ""
    ) -> SQLValue:
        """Call the function.

        :param name: its name, for errors.
        :raises ScenarioError: for a wrong number of arguments, or for an argument that it rejects.
        """
        self.check(name, len(arguments))
        if not self.accepts_null and any(argument is None for argument in arguments):
            return None
        if mode.strict and (self.numbers or self.integers):
            self._check_numbers(arguments, mode)
        return self.run(arguments, mode, collation) if self.collated else self.run(arguments, mode)


def value_function(
    run: Callable[..., SQLValue],
    min_arguments: int,
    max_arguments: int | None = None,
    *,
    numbers: Sequence[int] = (),
    integers: Sequence[int] = (),
) -> Function:
    """Make a function whose result depends on its arguments alone; NULL if one of them is NULL.

    :param max_arguments: -1 for no limit; the default is ``min_arguments``.
    """
    most = min_arguments if max_arguments is None else max_arguments
    return Function(
        lambda arguments, _: run(*arguments), min_arguments, most, numbers=numbers, integers=integers
    )


def to_integer(value: SQLValue) -> int:
    """Convert a value to an integer argument, which is limited to ±2**64."""
    return min(max(whole_number(value), -_HUGE), _HUGE)


def is_binary(*values: SQLValue) -> bool:
    """Return whether one of the strings is binary, so that functions count bytes instead of characters."""
    return any(isinstance(value, bytes) for value in values)


def to_string(value: SQLValue) -> str | bytes:
    """Convert a value to a string argument: bytes for a binary string, else text."""
    return to_bytes(value) if isinstance(value, bytes) else to_text(value)


def too_long(name: str, mode: SQLMode) -> None:
    """Reject a result that is longer than ``MAX_PACKET``; without strict mode the caller returns NULL.

    :raises ScenarioError: in strict mode.
    """
    if mode.strict:
        raise ScenarioError(f"Result of {name}() was larger than max_allowed_packet ({MAX_PACKET})")


def reject_value(kind: str, value: SQLValue, mode: SQLMode) -> None:
    """Reject an invalid argument: an error in strict mode; else the caller returns NULL.

    :param kind: the type that the argument should have: ``datetime``, ``time`` …
    :raises ScenarioError: in strict mode.
    """
    if mode.strict:
        text = display_value(value)
        raise ScenarioError(f"Incorrect {kind} value: {text!r}", value=text)
