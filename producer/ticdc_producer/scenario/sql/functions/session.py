"""Functions of the session: ids, sequences, the database, and random values from the scenario's seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Protocol
from uuid import UUID

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.number_text import as_float, check_bigint, check_number
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression.eval_type import E, EvalType
from ticdc_producer.scenario.sql.functions.function import to_integer

_MAX_RANDOM = 0x3FFFFFFF
_MAX_BYTES = 1024


class Generator:
    """MySQL's generator of ``RAND(seed)``. Source: tidb ``pkg/util/mathutil/rand.go``.

    >>> Generator(1).next()
    0.40540353712197724
    """

    def __init__(self, seed: int) -> None:
        self._first = (seed * 0x10001 + 55555555) % (1 << 32) % _MAX_RANDOM
        self._second = seed * 0x10000001 % (1 << 32) % _MAX_RANDOM

    def next(self) -> float:
        self._first = (self._first * 3 + self._second) % (1 << 32) % _MAX_RANDOM
        self._second = (self._first + self._second + 33) % (1 << 32) % _MAX_RANDOM
        return self._first / _MAX_RANDOM


class NumberSequence(Protocol):
    """A sequence, as CREATE SEQUENCE makes it."""

    def take(self) -> int: ...

    def advance(self, number: int) -> int | None: ...

    @property
    def last(self) -> int | None: ...


class SessionState(Protocol):
    """The state of the session that functions read and change.

    :ivar row_count: of the last statement.
    :ivar knows_found_rows: whether no query was skipped; FOUND_ROWS() is 0 then.
    :ivar random: makes random values from the scenario's seed.
    """

    last_insert_id: int
    row_count: int
    knows_found_rows: bool
    random: Random

    @property
    def current_database(self) -> str: ...

    def generator(self, node: exp.Expr, seed: int) -> Generator:
        """Return the generator of a call ``RAND(constant)``, which continues from row to row."""

    def sequence(self, database: str, name: str) -> NumberSequence: ...


@dataclass(frozen=True, slots=True)
class SessionCall:
    """One call of a function of the session."""

    node: exp.Expr
    arguments: Sequence[SQLValue]
    state: SessionState
    mode: SQLMode


@dataclass(frozen=True, slots=True)
class SessionFunction:
    """One function of the session.

    :param takes_sequence: whether the first argument is the name of a sequence, and no value.
    :param varies: whether two calls in a statement may have different values.
    """

    run: Callable[[SessionCall], SQLValue]
    type: EvalType
    min_arguments: int = 0
    max_arguments: int = 0
    takes_sequence: bool = False
    varies: bool = False

    def value_arguments(self, name: str, arguments: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
        """Return the arguments that are values.

        :raises ScenarioError: for a wrong number of arguments, or a sequence that is not a name.
        """
        if not self.min_arguments <= len(arguments) <= self.max_arguments:
            raise ScenarioError(f"Incorrect parameter count in the call to {name}()")
        if self.takes_sequence and not isinstance(arguments[0], exp.Dot | exp.Identifier):
            raise ScenarioError(f"SQL does not parse: {name}() needs the name of a sequence")
        return arguments[self.takes_sequence :]


def _last_insert_id(call: SessionCall) -> SQLValue:
    if call.arguments:
        (number,) = call.arguments
        call.state.last_insert_id = 0 if number is None else to_integer(number)
        return None if number is None else Unsigned(call.state.last_insert_id)
    return Unsigned(call.state.last_insert_id)


def _found_rows(call: SessionCall) -> SQLValue:
    if not call.state.knows_found_rows:
        hint = "the query before it was not run, because it changes nothing"
        raise UnsupportedSQL("FOUND_ROWS after a query is not supported", hint=hint)
    return 0


def _sequence(call: SessionCall) -> NumberSequence:
    name = call.node.expressions[0]
    return call.state.sequence(name.this.name if isinstance(name, exp.Dot) else "", name.name)


def _setval(call: SessionCall) -> SQLValue:
    (number,) = call.arguments
    return None if number is None else _sequence(call).advance(to_integer(number))


def _rand(call: SessionCall) -> SQLValue:
    """Return ``RAND([seed])``: a constant seed gives one series for all rows, a column one for each row."""
    if not call.arguments:
        return call.state.random.random()
    check_bigint(call.arguments[0], call.mode)
    seed = 0 if call.arguments[0] is None else to_integer(call.arguments[0])
    if any(call.node.find_all(exp.Column)):
        return Generator(seed).next()
    return call.state.generator(call.node, seed).next()


def _random_bytes(call: SessionCall) -> SQLValue:
    (length,) = call.arguments
    if length is None:
        return None
    if not 1 <= to_integer(length) <= _MAX_BYTES:
        raise ScenarioError("length value is out of range in 'random_bytes'", value=str(length))
    return call.state.random.randbytes(to_integer(length))


_GREGORIAN = datetime(1582, 10, 15, tzinfo=UTC)


def _uuid(call: SessionCall) -> SQLValue:
    """Return a UUID of version 1: the time of the statement, and a node of the scenario's seed."""
    elapsed = call.mode.now - _GREGORIAN
    ticks = (elapsed.days * 86_400 + elapsed.seconds) * 10_000_000 + elapsed.microseconds * 10
    ticks += call.state.random.getrandbits(16)
    low, middle, high = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0x0FFF
    clock, node = call.state.random.getrandbits(14), call.state.random.getrandbits(48) | 1 << 40
    return str(UUID(fields=(low, middle, high | 0x1000, clock >> 8 | 0x80, clock & 0xFF, node)))


def _uuid_v4(call: SessionCall) -> SQLValue:
    return str(UUID(int=call.state.random.getrandbits(128), version=4))


def varies(node: exp.Expr) -> bool:
    """Return whether a node is a call whose value may differ from that of the next one."""
    function = SESSION_FUNCTIONS.get(str(node.this).upper()) if isinstance(node, exp.Anonymous) else None
    return function is not None and function.varies


def _benchmark(call: SessionCall) -> SQLValue:
    """Return ``BENCHMARK``, which measures nothing here: 0, or NULL for a count that is none."""
    count = call.arguments[0]
    check_bigint(count, call.mode)
    return None if count is None or to_integer(count) < 0 else 0


def _sleep(call: SessionCall) -> SQLValue:
    """Return ``SLEEP``, which does not wait here: 0. Source: tidb ``builtinSleepSig``.

    :raises ScenarioError: for NULL and a negative number.
    """
    (seconds,) = call.arguments
    check_number(seconds, call.mode)
    if seconds is None or as_float(seconds) < 0:
        raise ScenarioError("Incorrect arguments to sleep")
    return 0


SESSION_FUNCTIONS = {
    "BENCHMARK": SessionFunction(_benchmark, E.INTEGER, 2, 2),
    **dict.fromkeys(
        ("DATABASE", "SCHEMA"), SessionFunction(lambda call: call.state.current_database or None, E.TEXT)
    ),
    "FOUND_ROWS": SessionFunction(_found_rows, E.UNSIGNED),
    "LASTVAL": SessionFunction(
        lambda call: _sequence(call).last, E.INTEGER, 1, 1, takes_sequence=True, varies=True
    ),
    "LAST_INSERT_ID": SessionFunction(_last_insert_id, E.UNSIGNED, 0, 1, varies=True),
    "NEXTVAL": SessionFunction(
        lambda call: _sequence(call).take(), E.INTEGER, 1, 1, takes_sequence=True, varies=True
    ),
    "RAND": SessionFunction(_rand, E.DOUBLE, 0, 1, varies=True),
    "RANDOM_BYTES": SessionFunction(_random_bytes, E.BYTES, 1, 1, varies=True),
    "ROW_COUNT": SessionFunction(lambda call: call.state.row_count, E.INTEGER),
    "SETVAL": SessionFunction(_setval, E.INTEGER, 2, 2, takes_sequence=True, varies=True),
    "SLEEP": SessionFunction(_sleep, E.INTEGER, 1, 1),
    "UUID": SessionFunction(_uuid, E.TEXT, varies=True),
    "UUID_V4": SessionFunction(_uuid_v4, E.TEXT, varies=True),
}
"""``SLEEP`` does not wait, and ``BENCHMARK`` measures nothing."""
