"""Functions that choose among their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.number_text import as_number
from ticdc_producer.model.values.sql_value import Member, SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.compare import extreme
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.expression.form import equality
from ticdc_producer.scenario.sql.functions.function import (
    Function,
    chosen_type,
    text_type,
    to_integer,
)

_OF_NULLIF = 2  # arguments


def _coalesce(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return next((argument for argument in arguments if argument is not None), None)


def _with_equality(arguments: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
    """Return ``a = b`` and ``a``: NULLIF(a, b) is IF(a = b, NULL, a). Source: tidb ``rewriteFuncCall``."""
    if len(arguments) != _OF_NULLIF:
        return arguments
    return [equality(*arguments), arguments[0]]


def _nullif(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    equal, value = arguments
    return None if equal else value


def _isnull(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return arguments[0] is None


def _extreme(sign: int) -> Function:
    """Make GREATEST (1) or LEAST (-1)."""

    def run(arguments: Sequence[SQLValue], mode: SQLMode, collation: str) -> SQLValue:
        return extreme(arguments, collation, mode, sign)

    return Function(run, 2, -1, collated=True, type=chosen_type)


def _interval(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    """Return ``INTERVAL(n, a, b, …)``: the number of the ascending a, b, … before the first above n.

    NULL is not above n. All are DOUBLEs, unless all are integers. Source: tidb ``intervalFunctionClass``,
    ``builtinIntervalRealSig.linearSearch``.
    """
    if arguments[0] is None:
        return -1
    are_integers = all(bound is None or isinstance(bound, int) for bound in arguments)
    numbers = [None if bound is None else as_number(bound)[0] for bound in arguments]
    if not are_integers:
        numbers = [None if number is None else float(number) for number in numbers]
    return next(
        (at for at, bound in enumerate(numbers[1:]) if _is_above(bound, numbers[0])), len(numbers) - 1
    )


def _is_above(bound: int | Decimal | float | None, number: int | Decimal | float | None) -> bool:
    return bound is not None and number is not None and bound > number


def _elt(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    number = to_integer(arguments[0]) if arguments[0] is not None else 0
    argument = arguments[number] if 0 < number < len(arguments) else None
    return argument if argument is None or isinstance(argument, bytes | Member) else to_text(argument)


FUNCTIONS = {
    "COALESCE": Function(_coalesce, 1, -1, accepts_null=True, takes_first=True, type=chosen_type),
    "ELT": Function(_elt, 2, -1, accepts_null=True, integers=(0,), type=text_type),
    "GREATEST": _extreme(1),
    "IFNULL": Function(_coalesce, 2, 2, accepts_null=True, takes_first=True, type=chosen_type),
    "INTERVAL": Function(_interval, 2, -1, accepts_null=True, numbers=range(1000), type=E.INTEGER),
    "ISNULL": Function(_isnull, 1, 1, accepts_null=True, type=E.INTEGER),
    "LEAST": _extreme(-1),
    "NAME_CONST": Function(
        lambda arguments, _: arguments[1], 2, 2, accepts_null=True, type=lambda _, types: types[1]
    ),
    "NULLIF": Function(
        _nullif,
        _OF_NULLIF,
        _OF_NULLIF,
        accepts_null=True,
        arguments=_with_equality,
        type=lambda _, types: types[1],
    ),
}
