"""What a function of SQL is, and how values reach it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.coerce_text import to_bytes, to_text
from ticdc_producer.model.number_text import as_number
from ticdc_producer.model.sql_mode import SQLMode, shown_value
from ticdc_producer.model.sql_value import Moment, Span, SQLValue

MAX_PACKET = 64 << 20
"""max_allowed_packet: longer results are NULL."""

_HUGE = 1 << 64


@dataclass(frozen=True, slots=True)
class Function:
    """One function.

    :param run: takes the arguments and the session's mode; and a collation, if ``collated``.
    :param least: fewest arguments; ``most``: at most so many, -1 for any number.
    :param takes_null: whether it is called when an argument is NULL; else the result is NULL.
    :param step: beyond the fewest, arguments come in groups of so many.
    """

    run: Callable[..., SQLValue]
    least: int
    most: int
    takes_null: bool = False
    collated: bool = False
    step: int = 1

    def check(self, name: str, count: int) -> None:
        """:raises ScenarioError: for a wrong number of arguments."""
        if count < self.least or (0 <= self.most < count) or (count - self.least) % self.step:
            raise ScenarioError(f"Incorrect parameter count in the call to {name}()")

    def __call__(
        self, name: str, arguments: Sequence[SQLValue], mode: SQLMode, collation: str = ""
    ) -> SQLValue:
        """:raises ScenarioError: for a wrong number of arguments, or one that has no result."""
        self.check(name, len(arguments))
        if not self.takes_null and any(argument is None for argument in arguments):
            return None
        return self.run(arguments, mode, collation) if self.collated else self.run(arguments, mode)


def of_values(run: Callable[..., SQLValue], least: int, most: int | None = None) -> Function:
    """A function of its arguments alone, none of them NULL."""
    return Function(lambda arguments, _: run(*arguments), least, least if most is None else most)


def whole(value: SQLValue) -> int:
    """A value where a function wants an integer: exact halves away from zero, those of a DOUBLE to even."""
    number, _ = as_number(value)
    if isinstance(number, int):
        return min(max(int(number), -_HUGE), _HUGE)
    exact = Decimal(number)
    if not exact.is_finite() or exact.adjusted() > 19:
        return -_HUGE if exact.is_signed() else _HUGE
    if isinstance(value, str | bytes):
        return int(exact)  # text is cut, as CAST AS SIGNED cuts it
    halves = ROUND_HALF_EVEN if isinstance(number, float) else ROUND_HALF_UP
    return int(exact.to_integral_value(rounding=halves)) if exact.adjusted() >= -1 else 0


def is_binary(*values: SQLValue) -> bool:
    """Whether a function of these strings counts bytes instead of characters."""
    return any(isinstance(value, bytes) for value in values)


def like_first(first: SQLValue, octets: bytes) -> SQLValue:
    """Bytes as the kind of string that the first argument was."""
    return octets if isinstance(first, bytes) else octets.decode("utf-8", "surrogateescape")


def string_of(value: SQLValue) -> str | bytes:
    """A value where a string is wanted: binary strings stay so."""
    return to_bytes(value) if isinstance(value, bytes) else to_text(value)


def wrong_value(kind: str, value: SQLValue, mode: SQLMode) -> None:
    """NULL for what is no date, time or number; in strict mode a statement that writes stops at it.

    :raises ScenarioError: in strict mode.
    """
    if mode.strict:
        shown = shown_value(value)
        raise ScenarioError(f"Incorrect {kind} value: {shown!r}", value=shown)


def is_temporal(value: SQLValue) -> bool:
    return isinstance(value, Moment | Span)
