"""Functions that choose among their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.number_text import as_number, check_number
from ticdc_producer.model.values.sql_value import Bits, Member, SQLMode, SQLValue
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


def _interval(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``INTERVAL(n, a, b, …)``: the number of the ascending a, b, … before the first above n.

    NULL is not above n. All are DOUBLEs, unless all are integers. Source: tidb ``intervalFunctionClass``,
    ``builtinIntervalRealSig.linearSearch``.
    """
    if arguments[0] is None:
        return -1
    are_integers = all(bound is None or isinstance(bound, int) for bound in arguments)
    convert = int if are_integers else float
    limit: int | float | None = None
    for at, bound in enumerate(arguments, start=-1):  # those after the first above n are not converted
        check_number(bound, mode)
        number = None if bound is None else convert(as_number(bound)[0])
        if limit is None:
            limit = number
        elif number is not None and number > limit:
            return at
    return len(arguments) - 1


def _elt(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    number = to_integer(arguments[0]) if arguments[0] is not None else 0
    argument = arguments[number] if 0 < number < len(arguments) else None
    if isinstance(argument, Bits):
        return bytes(argument)
    return argument if argument is None or isinstance(argument, bytes | Member) else to_text(argument)


FUNCTIONS = {
    "COALESCE": Function(_coalesce, 1, -1, accepts_null=True, takes_first=True, type=chosen_type),
    "ELT": Function(_elt, 2, -1, accepts_null=True, integers=(0,), type=text_type),
    "GREATEST": _extreme(1),
    "IFNULL": Function(_coalesce, 2, 2, accepts_null=True, takes_first=True, type=chosen_type),
    "INTERVAL": Function(_interval, 2, -1, accepts_null=True, type=E.INTEGER),
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
