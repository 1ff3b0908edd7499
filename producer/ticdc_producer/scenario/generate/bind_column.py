"""What the values of one column are like: its type's rules under what the step says."""

from __future__ import annotations

import re

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.scenario.generate.column_form import ColumnForm
from ticdc_producer.scenario.generate.domain import (
    REAL_STEPS,
    canonical_of,
    edges_of,
    has_ordinals,
    is_string,
    ordinal_of,
    usual_length,
    usual_range,
    usual_reals,
)
from ticdc_producer.scenario.generate.fake import fake_values
from ticdc_producer.scenario.generate.plan import ColumnPlan

T = MySQLType

_USUAL_NULLS = 0.05
_UNSTEADY = re.compile(
    r"\b(rand|randn|random|randstr|uniform|uuid|shuffle|now|curdate|current_\w+|localtimestamp|unix_timestamp"
    r"|monotonically_increasing_id|spark_partition_id|input_file_\w+)\b",
    re.IGNORECASE,
)
"""Functions of Spark that are none of their arguments alone."""
_COUNTED = INTEGERS | {T.NEW_DECIMAL, T.BIT}


def bind_column(
    column: ColumnInfo,
    offset: int,
    form: ColumnForm,
    *,
    keyed: bool,
    last_number: int,
    line: int,
    seed: int,
) -> ColumnPlan:
    """The plan of a column.

    :param keyed: whether it belongs to a unique key.
    :param last_number: of a sequence the largest number, else -1.
    :param seed: of what faker makes.
    :raises ScenarioError: for what its type does not have.
    """
    sequence = last_number >= 0
    low, high, real = _range(column, form, sequence=sequence)
    if sequence and not numbers_fit(column, form, last_number, -1):
        what = f"column {column.name!r} has no room for {last_number + 1} different values"
        raise ScenarioError(what, column=column.name, hint="use a wider type, or fewer transactions")
    if form.distribution in ("zipf", "normal") and not form.references and high - low >= REAL_STEPS:
        what = f"column {column.name!r} has too many values for distribution {form.distribution}"
        raise ScenarioError(what, column=column.name, hint="name min and max")
    return ColumnPlan(
        column=column,
        offset=offset,
        keyed=keyed,
        sequence=sequence,
        low=low,
        high=high,
        real=real,
        length=_length(column, form),
        distribution=form.distribution,
        exponent=form.exponent,
        choices=_choices(column, form, seed),
        expression=_steady(column, form.expression or ""),
        adds=_adds(column, form, keyed=keyed),
        nulls=_nulls(column, form, keyed=keyed),
        edge_share=form.edges,
        edges=_edges(column, form),
        line=line,
    )


def numbers_fit(column: ColumnInfo, form: ColumnForm, last: int, prefix: int) -> bool:
    """Whether a column can hold a value of its own for each number from 0 to ``last``.

    :param prefix: how many characters of it an index keeps, -1 for all.
    """
    if is_string(column):
        room = [length for length in (column.length, prefix, 20) if length >= 0]
        return len(str(last)) <= min(room)
    if column.type in FLOATS or not has_ordinals(column):
        return False
    low, high, _ = _range(column, form, sequence=True)
    return low + last <= high


def _range(column: ColumnInfo, form: ColumnForm, *, sequence: bool) -> tuple[int, int, tuple[float, float]]:
    """Smallest and largest ordinal; of FLOAT and DOUBLE the numbers that they stand for."""
    low, high = usual_range(column)
    real = usual_reals(column)
    if sequence and column.type in _COUNTED:
        low = max(low, 1)
    if form.min is None and form.max is None:
        return low, high, real
    if not has_ordinals(column):
        what = f"column {column.name!r} is {column.type_name} and has no min and max"
        raise ScenarioError(what, column=column.name, hint="strings have a length, or values")
    least, most = (_bound(column, text) for text in (form.min, form.max))
    if column.type in FLOATS:
        real = (real[0] if least is None else float(least), real[1] if most is None else float(most))
        below = real[0] > real[1]
    else:
        low = low if least is None else ordinal_of(column, least)
        high = high if most is None else ordinal_of(column, most)
        below = low > high
    if below:
        what = f"column {column.name!r}: no value lies between min and max"
        raise ScenarioError(what, column=column.name, hint="name both")
    return low, high, real


def _bound(column: ColumnInfo, text: str | None) -> bytes | None:
    return None if text is None else canonical_of(column, text)


def _length(column: ColumnInfo, form: ColumnForm) -> tuple[int, int]:
    if form.length is None:
        return usual_length(column)
    if not is_string(column):
        what = f"column {column.name!r} is {column.type_name} and has no length"
        raise ScenarioError(what, column=column.name, hint="length is for strings")
    if 0 <= column.length < form.length[1]:
        what = f"column {column.name!r} holds {column.length} at most, not {form.length[1]}"
        raise ScenarioError(what, column=column.name)
    return form.length


def _choices(column: ColumnInfo, form: ColumnForm, seed: int) -> tuple[Value, ...]:
    if form.faker is not None:
        made = fake_values(form.faker, form.locale, form.pool, seed)
        return tuple(canonical_of(column, text) for text in made)
    choices = tuple(canonical_of(column, text) for text in form.values or ())
    if None in choices and not column.nullable:
        raise ScenarioError(f"column {column.name!r} cannot be null", column=column.name)
    return choices


def _adds(column: ColumnInfo, form: ColumnForm, *, keyed: bool) -> str:
    if form.adds and (keyed or column.type not in INTEGERS | {T.NEW_DECIMAL}):
        what = f"nothing can be added to column {column.name!r}"
        raise ScenarioError(what, column=column.name, hint="adds is for integers and DECIMAL outside of keys")
    return _steady(column, form.adds or "")


def _steady(column: ColumnInfo, text: str) -> str:
    found = _UNSTEADY.search(text)
    if found:
        what = f"{found[1].lower()} in the expression of column {column.name!r} differs from run to run"
        raise ScenarioError(what, column=column.name, hint="chance is in draw, a hash")
    return text


def _nulls(column: ColumnInfo, form: ColumnForm, *, keyed: bool) -> float:
    if form.nulls and not column.nullable:
        raise ScenarioError(f"column {column.name!r} cannot be null", column=column.name)
    if form.nulls is not None:
        return form.nulls
    usual = (
        column.nullable and not keyed and not (form.values or form.expression or form.references or form.adds)
    )
    return min(_USUAL_NULLS, 1 - form.edges) if usual and form.distribution != "sequence" else 0.0


def _edges(column: ColumnInfo, form: ColumnForm) -> tuple[Value, ...]:
    """The boundary values: the named ones, else the type's."""
    if not form.edges:
        return ()
    named = [text for text in (form.min, form.max) if text is not None]
    return tuple(canonical_of(column, text) for text in named) or edges_of(column)
