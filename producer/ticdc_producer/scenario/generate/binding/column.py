"""Binds a column: the rules of its type, restricted by the keys of the step, in each version of its table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.binding.outside_values import check_expression, fake_values
from ticdc_producer.scenario.generate.domain import (
    REAL_STEPS,
    boundary_values_of,
    canonical_of,
    default_length,
    default_range,
    default_reals,
    has_ordinals,
    is_string,
    ordinal_of,
)
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from ticdc_producer.scenario.generate.table_spec import ColumnSpec

T = MySQLType

_DEFAULT_NULLS = 0.05
_NON_DETERMINISTIC = re.compile(
    r"\b(rand|randn|random|randstr|uniform|uuid|shuffle|now|curdate|current_\w+|localtimestamp|unix_timestamp"
    r"|monotonically_increasing_id|spark_partition_id|input_file_\w+)\b",
    re.IGNORECASE,
)
"""Functions of Spark whose result does not depend on their arguments alone."""
_COUNTED = INTEGERS | {T.NEW_DECIMAL, T.BIT}


def bind_column(
    column: ColumnInfo,
    offset: int,
    spec: ColumnSpec,
    *,
    keyed: bool,
    last_number: int,
    line: int,
    seed: int,
) -> ColumnPlan:
    """Build the plan of a column.

    :param keyed: whether it belongs to a unique key.
    :param last_number: the largest number of a sequence; -1 if the column has no sequence.
    :param seed: seed of faker.
    :raises ScenarioError: for settings that its type does not support.
    """
    sequence = last_number >= 0
    low, high, real = _range(column, spec, sequence=sequence)
    if sequence and not numbers_fit(column, spec, last_number, -1):
        what = f"column {column.name!r} has no room for {last_number + 1} different values"
        raise ScenarioError(what, column=column.name, hint="use a wider type, or fewer transactions")
    if spec.distribution in ("zipf", "normal") and not spec.references and high - low >= REAL_STEPS:
        what = f"column {column.name!r} has too many values for distribution {spec.distribution}"
        raise ScenarioError(what, column=column.name, hint="set min and max")
    return ColumnPlan(
        column=column,
        offset=offset,
        keyed=keyed,
        sequence=sequence,
        low=low,
        high=high,
        real=real,
        length=_length(column, spec),
        distribution=spec.distribution,
        exponent=spec.exponent,
        choices=_choices(column, spec, seed),
        expression=_expression(column, spec.expression or ""),
        adds=_adds(column, spec, keyed=keyed),
        nulls=_nulls(column, spec, keyed=keyed),
        boundary_share=spec.edges,
        boundary_values=_boundary_values(column, spec),
        line=line,
    )


def numbers_fit(column: ColumnInfo, spec: ColumnSpec, last: int, prefix: int) -> bool:
    """Return whether a column can hold a value of its own for each number from 0 to ``last``.

    :param prefix: number of characters in an index; -1: all.
    """
    if is_string(column):
        room = [length for length in (column.length, prefix, 20) if length >= 0]
        return len(str(last)) <= min(room)
    if column.type in FLOATS or not has_ordinals(column):
        return False
    low, high, _ = _range(column, spec, sequence=True)
    return low + last <= high


def _range(column: ColumnInfo, spec: ColumnSpec, *, sequence: bool) -> tuple[int, int, tuple[float, float]]:
    """Return the smallest and largest ordinal, and the bounds of FLOAT and DOUBLE values."""
    low, high = default_range(column)
    real = default_reals(column)
    if sequence and column.type in _COUNTED:
        low = max(low, 1)
    if spec.min is None and spec.max is None:
        return low, high, real
    if not has_ordinals(column):
        what = f"column {column.name!r} is {column.type_name} and has no min and max"
        raise ScenarioError(what, column=column.name, hint="strings have a length, or values")
    least, most = (_bound(column, text) for text in (spec.min, spec.max))
    if column.type in FLOATS:
        real = (real[0] if least is None else float(least), real[1] if most is None else float(most))
        below = real[0] > real[1]
    else:
        first = low
        low = low if least is None else ordinal_of(column, least)
        high = high if most is None else ordinal_of(column, most)
        below = low > high
        if column.type == T.YEAR and low < first:
            what = f"column {column.name!r}: min of a YEAR is at least {first}"
            raise ScenarioError(what, column=column.name, hint="edges and values give 0000")
    if below:
        what = f"column {column.name!r}: no value lies between min and max"
        raise ScenarioError(what, column=column.name, hint="set both")
    return low, high, real


def _bound(column: ColumnInfo, text: str | None) -> bytes | None:
    return None if text is None else canonical_of(column, text)


def _length(column: ColumnInfo, spec: ColumnSpec) -> tuple[int, int]:
    if spec.length is None:
        return default_length(column)
    if not is_string(column):
        what = f"column {column.name!r} is {column.type_name} and has no length"
        raise ScenarioError(what, column=column.name, hint="length is for strings")
    if 0 <= column.length < spec.length[1]:
        what = f"column {column.name!r} holds {column.length} at most, not {spec.length[1]}"
        raise ScenarioError(what, column=column.name)
    return spec.length


def _choices(column: ColumnInfo, spec: ColumnSpec, seed: int) -> tuple[Value, ...]:
    if spec.faker is not None:
        texts = fake_values(spec.faker, spec.locale, spec.pool, seed)
        return tuple(canonical_of(column, text) for text in texts)
    choices = tuple(canonical_of(column, text) for text in spec.values or ())
    if None in choices and not column.nullable:
        raise ScenarioError(f"column {column.name!r} cannot be null", column=column.name)
    return choices


def _adds(column: ColumnInfo, spec: ColumnSpec, *, keyed: bool) -> str:
    if spec.adds and (keyed or column.type not in INTEGERS | {T.NEW_DECIMAL}):
        what = f"nothing can be added to column {column.name!r}"
        raise ScenarioError(what, column=column.name, hint="adds is for integers and DECIMAL outside of keys")
    return _deterministic(column, spec.adds or "")


def _deterministic(column: ColumnInfo, text: str) -> str:
    match = _NON_DETERMINISTIC.search(text)
    if match:
        what = f"{match[1].lower()} in the expression of column {column.name!r} differs from run to run"
        raise ScenarioError(what, column=column.name, hint="use draw, a hash, for random values")
    return text


def _expression(column: ColumnInfo, text: str) -> str:
    if _deterministic(column, text):
        check_expression(text, column.name)
    return text


def _nulls(column: ColumnInfo, spec: ColumnSpec, *, keyed: bool) -> float:
    if spec.nulls and not column.nullable:
        raise ScenarioError(f"column {column.name!r} cannot be null", column=column.name)
    if spec.nulls is not None:
        return spec.nulls
    by_default = (
        column.nullable and not keyed and not (spec.values or spec.expression or spec.references or spec.adds)
    )
    return min(_DEFAULT_NULLS, 1 - spec.edges) if by_default and spec.distribution != "sequence" else 0.0


def _boundary_values(column: ColumnInfo, spec: ColumnSpec) -> tuple[Value, ...]:
    """Return the boundary values: min and max if set, otherwise those of the type."""
    if not spec.edges:
        return ()
    named = [text for text in (spec.min, spec.max) if text is not None]
    return tuple(canonical_of(column, text) for text in named) or boundary_values_of(column)


_DEFAULT_SPEC = ColumnSpec()


def with_table_versions(plan: GeneratePlan, versions: Sequence[TableInfo]) -> GeneratePlan:
    """Add the columns that DDLs of its step add to a plan.

    :param versions: the table at the start of the step, and after each of its DDLs.
    """
    return replace(plan, versions=tuple(versions), columns=(*plan.columns, *_added(plan, versions)))


def _added(plan: GeneratePlan, versions: Sequence[TableInfo]) -> Iterator[ColumnPlan]:
    known = {column.name for column in plan.table.columns}
    offset = len(plan.table.columns)
    for number, table in enumerate(versions):
        for column in table.columns:
            if column.name not in known:
                known.add(column.name)
                added = bind_column(
                    column, offset, _DEFAULT_SPEC, keyed=False, last_number=-1, line=plan.line, seed=0
                )
                yield replace(added, since=_first_event(plan, number))
                offset += 1


def _first_event(plan: GeneratePlan, version: int) -> int:
    """Return the first event that may belong to a version of the table."""
    return plan.rows + version * plan.ddl_every * plan.rows_per_transaction
