"""Random columns: the types of the written cases with their boundary values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from ticdc_producer.conformance.case_spec import column_types

NULL = "NULL"
_VALUE_TRAPS: Mapping[str, tuple[str, ...]] = {
    "bigint-unsigned-range": ("bigint-unsigned.max", "bigint-unsigned.past-signed"),
    "big-integers": ("bigint.min", "bigint.max", "bigint.past-float64", "bigint-unsigned.past-float64"),
    "decimal-precision": ("decimal.min", "decimal.max", "decimal-whole.max"),
    "float-digits": ("float.tenth", "float-unsigned.tenth", "float.max"),
    "enum-set-ordinals": ("enum.last", "enum-quoted.comma", "set.all", "set.empty"),
    "bit-width": ("bit-wide.max", "bit-wide.past-signed"),
    "binary-all-bytes": ("varbinary.every-byte", "blob.every-byte"),
    "text-charsets": ("char.multibyte", "varchar.multibyte", "text.multibyte"),
    "timestamp-zone": ("timestamp.max", "timestamp-us.max", "timestamp-us.tenth"),
    "zero-dates": ("date-zero.zero", "date-zero.no-month", "datetime-zero.zero", "timestamp-zero.zero"),
    "early-years": ("date-early.first", "datetime-early.first"),
    "time-range": ("time.min", "time.max", "time.negative", "time.past-a-day", "time-us.smallest-negative"),
    "fractional-seconds": ("datetime-us.smallest", "datetime-us.max", "time-us.smallest"),
    "null-default-triad": ("char.word-null", "varchar.word-null", "text.word-null"),
}
"""Trap to the values, as ``type.name``, that produce it."""
_TRAP_OF = {value: trap for trap, values in _VALUE_TRAPS.items() for value in values}
_FURTHER = {
    "date-early": ("DATE", {"first": "'0002-11-30'"}),
    "datetime-early": ("DATETIME", {"first": "'0999-12-31 23:59:59'"}),
}
"""Types and values that no written case has."""
_EACH_AS_OFTEN = ("int", "varchar")
"""Types that every second column has, so that histories shrink to few kinds of columns."""
_LONG = 60
"""Longer literals are drawn less often, because they make long requests."""


@dataclass(frozen=True, slots=True)
class Value:
    """A literal, and the trap that it produces; empty for none."""

    literal: str
    trap: str = ""


@dataclass(frozen=True, slots=True)
class RandomColumnType:
    """A column type with some of its values.

    :param sql_mode: the session's SQL mode, if the default one rejects the values.
    """

    name: str
    sql: str
    values: tuple[Value, ...]
    sql_mode: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomColumn:
    """A column of a random table.

    :param generated: the expression of a generated column, with its kind.
    :param values: the literals of a key's column; empty for those of the type.
    """

    name: str
    type: RandomColumnType
    nullable: bool = True
    default: str = ""
    generated: str = ""
    unique: bool = False
    values: tuple[str, ...] = ()

    @property
    def definition(self) -> str:
        """As in CREATE TABLE."""
        if self.generated:
            return f"{self.name} {self.type.sql} AS {self.generated}"
        null = "" if self.nullable else " NOT NULL"
        default = f" DEFAULT {self.default}" if self.default else ""
        return f"{self.name} {self.type.sql}{null}{default}{' UNIQUE' if self.unique else ''}"


@cache
def types() -> Mapping[str, RandomColumnType]:
    """Return all column types by name."""
    listed = {name: (kind.column, kind.values, kind.sql_mode or "") for name, kind in column_types().items()}
    listed |= {name: (sql, values, "") for name, (sql, values) in _FURTHER.items()}
    return {
        name: RandomColumnType(
            name,
            sql.removesuffix(" NULL"),
            tuple(Value(text, _TRAP_OF.get(f"{name}.{of}", "")) for of, text in values.items()),
            sql_mode,
        )
        for name, (sql, values, sql_mode) in listed.items()
    }


def types_with(trap: str) -> list[str]:
    """Return the names of the types that have a value with this trap."""
    return sorted({value.partition(".")[0] for value in _VALUE_TRAPS.get(trap, ())})


def value_traps() -> frozenset[str]:
    """Return the traps that values produce."""
    return frozenset(_VALUE_TRAPS)


def random_type(random: Random) -> RandomColumnType:
    """Draw a type of a column that is not part of a key."""
    names = _EACH_AS_OFTEN if random.random() < 0.3 else tuple(types())
    return types()[random.choice(names)]


def random_value(random: Random, column: RandomColumn, focus: frozenset[str] = frozenset()) -> Value:
    """Draw a literal of a column that is not part of a key.

    :param focus: traps whose values are drawn first.
    """
    if column.nullable and random.random() < 0.15:
        return Value(NULL, "unsigned-null" if "UNSIGNED" in column.type.sql else "")
    values = column.type.values
    in_focus = [value for value in values if value.trap in focus]
    if in_focus and random.random() < 0.7:
        return random.choice(in_focus)
    short = [value for value in values if len(value.literal) <= _LONG]
    return random.choice(short if short and random.random() < 0.9 else values)


def renamed(column: RandomColumn, name: str) -> RandomColumn:
    """Return the column with another name."""
    return replace(column, name=name)
