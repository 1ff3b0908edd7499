"""The values of one column: pure functions of the row and of the change that last gave it a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, MySQLType
from ticdc_producer.scenario.generate.arrays import Hashes, Longs
from ticdc_producer.scenario.generate.domain import REAL_STEPS, is_string
from ticdc_producer.scenario.generate.draw import (
    draw,
    happens,
    integer_texts,
    joined_texts,
    letters,
    normal,
    octets,
    ordinal_texts,
    real_texts,
    uniform,
    uniform_of,
    zipf,
)
from ticdc_producer.scenario.generate.events import first_event, row_count_at
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan, Reference
from ticdc_producer.scenario.generate.row_history import NEVER, Versions

T = MySQLType

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class CellSources:
    """The numbers that determine values of a column.

    :param row: number of the row.
    :param version: number that the draws depend on: of the change that last gave the column a value; for a
        column of a unique key the number of the key.
    :param added: the sum that updates added since the insert, in units of the last digit.
    """

    row: Longs
    version: Longs
    added: Longs | None = None

    def __len__(self) -> int:
        return len(self.row)


Expressions: TypeAlias = Callable[[GeneratePlan, ColumnPlan, "Arguments"], pa.Array]
"""Returns the canonical values of a column's ``expression``."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of an ``expression``.

    :param row: number of the row.
    :param version: number of the change that gave the column the value.
    :param number: different for all values of the column.
    :param draw: a hash.
    """

    row: Longs
    version: Longs
    number: Longs
    draw: Longs


def no_expressions(_plan: GeneratePlan, column: ColumnPlan, _of: Arguments) -> pa.Array:
    """Raise an error: the ``Expressions`` of plans without any."""
    raise AssertionError(f"the expression of column {column.column.name!r} was not computed")


def sources(plan: GeneratePlan, column: ColumnPlan, rows: Longs, versions: Versions) -> CellSources:
    """Return the numbers that determine the values of a column in rows."""
    if column.keyed:
        keyed = np.where(versions.keys == NEVER, rows, versions.keys + plan.all_rows)
        return CellSources(rows, keyed)
    version = versions.changed.get(column.offset, versions.inserted)
    return CellSources(rows, version, versions.added.get(column.offset))


def cells(plan: GeneratePlan, column: ColumnPlan, of: CellSources, expressions: Expressions) -> pa.Array:
    """Compute the canonical values of a column, as binary.

    :param expressions: computes the columns with an ``expression``.
    """
    if column.choices:
        values = _one_of(column.choices, _ordinals(plan, column, of.version, len(column.choices)))
    elif column.expression:
        values = expressions(plan, column, _arguments(plan, column, of))
    elif column.reference:
        values = _referring(plan, column, column.reference, of)
    else:
        values = _own(plan, column, of, _numbers(plan, column, of) if column.sequence else None)
    values = _with_nulls_and_boundaries(plan, column, of.version, values)
    if column.since:
        default = pa.scalar(_bytes(column.column.origin_default), pa.binary())
        values = pc.if_else(pa.array(of.version < column.since), default, values)
    return values


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _arguments(plan: GeneratePlan, column: ColumnPlan, of: CellSources) -> Arguments:
    hashes = draw(plan.salt(f"{column.offset}/value"), of.version).view(np.int64)
    return Arguments(of.row, _event(plan, column, of), _numbers(plan, column, of), hashes)


def _event(plan: GeneratePlan, column: ColumnPlan, of: CellSources) -> Longs:
    """Return the change that last gave the column a value."""
    if not column.keyed:
        return of.version
    moved = of.version >= plan.all_rows
    return np.where(moved, of.version - plan.all_rows, first_event(plan, np.where(moved, 0, of.version)))


def _numbers(plan: GeneratePlan, column: ColumnPlan, of: CellSources) -> Longs:
    """Return the numbers of a sequence: rows are numbered first, then changes, so all are different."""
    if column.keyed:
        return of.version
    return np.where(of.version == first_event(plan, of.row), of.row, of.version + plan.all_rows)


def _own(plan: GeneratePlan, column: ColumnPlan, of: CellSources, numbers: Longs | None) -> pa.Array:
    """Return values that are drawn, or that print the numbers of a sequence."""
    if is_string(column.column):
        return _strings(plan, column, of.version, numbers)
    if column.column.type == T.JSON:
        return _documents(plan, column, of.version)
    ordinals: Longs | Hashes = (
        _ordinals(plan, column, of.version, column.high - column.low + 1) if numbers is None else numbers
    )
    if column.column.type in FLOATS:
        low, high = column.real
        return real_texts(column.column, low + ordinals.astype(np.float64) / float(REAL_STEPS) * (high - low))
    shifted = ordinals.astype(np.uint64) + np.uint64(column.low & _MASK)
    if column.high >= 1 << 63:
        return integer_texts(shifted)
    values = shifted.view(np.int64)
    return ordinal_texts(column.column, values if of.added is None else values + of.added)


def _referring(plan: GeneratePlan, column: ColumnPlan, reference: Reference, of: CellSources) -> pa.Array:
    """Return keys of existing rows of the referenced table."""
    parent = reference.parent
    parent_rows = (
        row_count_at(parent, plan, _event(plan, column, of))
        if reference.same_step
        else np.full(len(of), parent.all_rows, np.int64)
    )
    salt = plan.salt(f"{column.offset}/value")
    if column.distribution == "latest":
        rows = parent_rows - 1
    elif column.distribution == "zipf":
        rows = zipf(draw(salt, of.version), parent_rows, column.exponent)
    elif column.distribution == "normal":
        rows = normal(salt, of.version, parent_rows)
    else:
        rows = uniform_of(draw(salt, of.version), parent_rows)
    return _own(parent, reference.column, CellSources(rows, rows), rows)


def _with_nulls_and_boundaries(
    plan: GeneratePlan, column: ColumnPlan, version: Longs, values: pa.Array
) -> pa.Array:
    """Replace values by NULL or by a boundary value at their ratios."""
    if not (column.nulls or column.boundary_values):
        return values
    hashes = draw(plan.salt(f"{column.offset}/varied"), version)
    if column.boundary_values:
        ordinals = uniform(draw(plan.salt(f"{column.offset}/edge"), version), len(column.boundary_values))
        boundaries = _one_of(column.boundary_values, ordinals)
        varied = pa.array(happens(column.nulls + column.boundary_share, hashes))
        values = pc.if_else(varied, boundaries, values)
    if column.nulls:
        values = pc.if_else(pa.array(happens(column.nulls, hashes)), pa.scalar(None, pa.binary()), values)
    return values


def _one_of(values: tuple[Value, ...], ordinals: Longs | Hashes) -> pa.Array:
    return pa.array(values, pa.binary()).take(pa.array(ordinals.astype(np.int64)))


def _ordinals(plan: GeneratePlan, column: ColumnPlan, version: Longs, count: int) -> Longs | Hashes:
    """Draw ordinals from 0 to ``count`` - 1, under the column's distribution."""
    salt = plan.salt(f"{column.offset}/value")
    if column.distribution == "zipf":
        return zipf(draw(salt, version), count, column.exponent)
    if column.distribution == "normal":
        return normal(salt, version, count)
    return uniform(draw(salt, version), count)


def _strings(plan: GeneratePlan, column: ColumnPlan, version: Longs, numbers: Longs | None) -> pa.Array:
    """Draw texts or byte strings, or print the numbers of a sequence."""
    if numbers is not None:
        return _filled(column, integer_texts(numbers))
    least, most = column.length
    draw_strings = octets if column.column.charset == "binary" else letters
    lengths = None
    if least < most:
        lengths = _ordinals(plan, column, version, most - least + 1).astype(np.int64) + least
    return _filled(column, draw_strings(plan.salt(f"{column.offset}/text"), version, most, lengths))


def _filled(column: ColumnPlan, values: pa.Array) -> pa.Array:
    """Fill the values of BINARY(n) to n bytes with zeros; return values of other types unchanged."""
    if column.column.type != T.STRING or column.column.charset != "binary":
        return values
    width = column.column.length
    zeros = pa.scalar(b"\0" * width, pa.binary())
    return pc.binary_slice(pc.binary_join_element_wise(values, zeros, b""), 0, width)


def _documents(plan: GeneratePlan, column: ColumnPlan, version: Longs) -> pa.Array:
    numbers = _ordinals(plan, column, version, column.high - column.low + 1).astype(np.int64)
    words = letters(plan.salt(f"{column.offset}/text"), version, 8).cast(pa.string())
    parts = ['{"n": ', pa.array(numbers).cast(pa.string()), ', "word": "', words, '"}']
    return joined_texts(parts).cast(pa.binary())
