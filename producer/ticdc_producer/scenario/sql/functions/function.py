"""The descriptor of SQL functions: evaluation, arguments, type, syntax, and where a table may use it.

Rules of types: tidb ``pkg/expression/builtin_string.go``, ``builtin_control.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypedDict, Unpack

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.number_text import bigint, check_bigint, check_number
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue, display_value
from ticdc_producer.scenario.sql.expression.eval_type import (
    E,
    EvalType,
    ExpressionType,
    fixed_type,
    merged_type,
)

Arguments: TypeAlias = Sequence[exp.Expr]
Syntax: TypeAlias = Mapping[type[exp.Expr], Sequence[str] | Callable[[exp.Expr], Arguments | None]]
"""The arguments of a node of sqlglot: names of its parts, or a function, which gives None for no call."""
TypeRule: TypeAlias = Callable[[Arguments, Sequence[ExpressionType]], ExpressionType]
"""Gives the type of a call, from its arguments and their types."""

MAX_PACKET = 64 << 20
"""TiDB's max_allowed_packet in bytes; a longer result is NULL."""


@dataclass(frozen=True, slots=True)
class Function:
    """One SQL function.

    :param run: called with the arguments and the session's mode, and with a collation if ``collated``.
    :param min_arguments: the smallest number of arguments; ``max_arguments``: the largest, -1 for no limit.
    :param type: of its result: a kind, or a rule.
    :param accepts_null: whether ``run`` is called if an argument is NULL; else the result is NULL.
    :param collated: whether it compares strings, and so needs their collation.
    :param takes_bytes: whether it reads the bytes of texts, in the charset of each. Source: tidb
        ``convertActionMap``.
    :param step: size of the groups in which arguments beyond ``min_arguments`` come.
    :param full_fraction: whether its datetime has six digits of a fraction unless the first argument is a
        literal. Source: tidb ``convertTzFunctionClass.getDecimal``.
    :param numbers: positions of the arguments that TiDB casts to a DOUBLE or DECIMAL.
    :param integers: positions of the arguments that TiDB casts to a BIGINT.
    :param documents: positions of the arguments whose type has to be JSON or a text that is not binary.
    :param reads: check the first arguments in order, up to one that is NULL, which makes the result NULL.
    :param arguments: gives the arguments of ``run`` from those in brackets, if one is a word or INTERVAL.
    :param syntax: the nodes that mean a call besides one by name.
    :param default: whether TiDB accepts a call with some arguments as the DEFAULT of a column.
    :param clock: whether it depends on the time, so that no generated column may use it.
    :param drops_errors: whether it is NULL if an argument cannot be computed. Source: tidb
        ``builtinHourSig``, ``builtinConvertTzSig``.
    :param null_in_query: whether an invalid argument gives NULL in a query, which TiDB computes in vectors.
    :param takes_first: whether the arguments after the first that is not NULL are not computed.
    :param indexed: whether an index may use it: a text has the type of its column, other results are BIGINT.
    """

    run: Callable[..., SQLValue]
    min_arguments: int
    max_arguments: int
    type: EvalType | TypeRule = field(kw_only=True)
    accepts_null: bool = False
    collated: bool = False
    takes_bytes: bool = False
    step: int = 1
    full_fraction: bool = False
    numbers: Sequence[int] = ()
    integers: Sequence[int] = ()
    documents: Sequence[int] = ()
    reads: Sequence[Callable[[SQLValue, SQLMode], object]] = ()
    arguments: Callable[[Arguments], Arguments] | None = None
    syntax: Syntax | None = None
    default: Callable[[Arguments], bool] | None = None
    clock: bool = False
    drops_errors: bool = False
    takes_first: bool = False
    null_in_query: bool = False
    indexed: bool = False

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
                check_bigint(argument, mode)

    def _check_up_to_null(self, arguments: Sequence[SQLValue], mode: SQLMode) -> None:
        """Check the arguments that TiDB computes before it finds one that is NULL."""
        before = arguments[: next(position for position, each in enumerate(arguments) if each is None)]
        self._check_numbers(before, mode)
        for read, argument in zip(self.reads, before, strict=False):
            read(argument, mode)

    def __call__(self, arguments: Sequence[SQLValue], mode: SQLMode, collation: str = "") -> SQLValue:
        """Call the function, after ``check``.

        :raises ScenarioError: for an argument that it rejects.
        """
        if not self.accepts_null and any(argument is None for argument in arguments):
            self._check_up_to_null(arguments, mode)
            return None
        if mode.strict and (self.numbers or self.integers):
            self._check_numbers(arguments, mode)
        return self.run(arguments, mode, collation) if self.collated else self.run(arguments, mode)


class Properties(TypedDict, total=False):
    """The fields of ``Function`` that a function of values may have; ``type`` is required."""

    type: EvalType | TypeRule
    accepts_null: bool
    takes_bytes: bool
    step: int
    full_fraction: bool
    numbers: Sequence[int]
    integers: Sequence[int]
    documents: Sequence[int]
    reads: Sequence[Callable[[SQLValue, SQLMode], object]]
    arguments: Callable[[Arguments], Arguments] | None
    syntax: Syntax | None
    default: Callable[[Arguments], bool] | None
    clock: bool
    drops_errors: bool
    null_in_query: bool
    indexed: bool


def value_function(
    run: Callable[..., SQLValue],
    min_arguments: int,
    max_arguments: int | None = None,
    **properties: Unpack[Properties],
) -> Function:
    """Make a function whose result depends on its arguments alone; NULL if one of them is NULL.

    :param max_arguments: -1 for no limit; the default is ``min_arguments``.
    :param properties: other fields of ``Function``.
    """
    most = min_arguments if max_arguments is None else max_arguments
    return Function(lambda arguments, _: run(*arguments), min_arguments, most, **properties)


def function_type(
    of: EvalType | TypeRule, arguments: Arguments, infer: Callable[[exp.Expr], ExpressionType]
) -> ExpressionType:
    """Return the type of a call.

    :param of: the type of the function: a kind, or a rule.
    :param infer: gives the type of an argument.
    """
    if isinstance(of, EvalType):
        return fixed_type(of)
    return of(arguments, [infer(argument) for argument in arguments])


def text_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of a string of strings: binary if one is binary, UNKNOWN if one is."""
    kinds = {each.kind for each in types}
    return ExpressionType(next((kind for kind in (E.UNKNOWN, E.BYTES) if kind in kinds), E.TEXT))


def first_text_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of a string that has the charset of the first one. Source: tidb ``deriveCollation``."""
    return text_type((), types[:1])


def chosen_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of a function whose result is one of its arguments, converted to the type of all."""
    return merged_type(types)


def first_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of the first argument."""
    return types[0]


def word(node: exp.Expr) -> exp.Expr:
    """Return a keyword among the arguments, such as a unit, as a string literal."""
    return exp.Literal.string(node.name.upper().removeprefix("SQL_TSI_"))


def any_arguments(_: Arguments) -> bool:
    """Return that a DEFAULT may be a call with any arguments."""
    return True


def to_integer(value: SQLValue) -> int:
    """Convert a value to an integer argument: a BIGINT, as which an unsigned one beyond it is negative."""
    number = bigint(value)
    return number - (1 << 64) if number >> 63 > 0 else number


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
