"""Checks that the sums of ``adds`` fit their column, from the plan, before anything is written."""

from __future__ import annotations

from fractions import Fraction

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, integer_range
from ticdc_producer.scenario.generate.amounts import check_conditions
from ticdc_producer.scenario.generate.bounds import Bounds, bounds_of
from ticdc_producer.scenario.generate.domain import DECIMAL_DIGITS
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan

_LONG = Bounds(Fraction(-(1 << 63)), Fraction((1 << 63) - 1))


def check_added(plan: GeneratePlan, column: ColumnPlan) -> None:
    """Check the worst case: every update hits the same row and adds the largest amount.

    :raises ScenarioError: without file and line, if a value might leave the column's range.
    """
    each = bounds_of(column.adds, _names(plan))
    check_conditions(column.adds)
    most = _updates(plan, column)
    if column.column.type in INTEGERS:
        each = each.outward(1)
    low, high = most * min(each.low, Fraction(0)), most * max(each.high, Fraction(0))
    unit = Fraction(1, 10 ** min(_scale(column.column), DECIMAL_DIGITS))
    first = Bounds(column.low * unit, column.high * unit)
    room = _room(column.column)
    fits = first.low + low >= room.low and first.high + high <= room.high
    if not fits or low < _LONG.low or high > _LONG.high:
        reached = first.low + low if first.low + low < room.low else first.high + high
        what = (
            f"column {column.column.name!r} may reach {float(reached):.6g}: "
            f"{most} updates of one row, if all hit the same row"
        )
        hint = "set min and max, use a wider type, or fewer transactions"
        raise ScenarioError(what, column=column.column.name, hint=hint)


def _updates(plan: GeneratePlan, column: ColumnPlan) -> int:
    """Maximum number of updates of a row."""
    if not plan.each:
        return plan.events - plan.rows
    named = sum(column.offset in one.updates for one in plan.each)
    return min(plan.transactions * named, plan.table_picks)


def _names(plan: GeneratePlan) -> dict[str, Bounds]:
    counted = {
        "row": (0, plan.all_rows - 1),
        "transaction": (plan.step_commit, plan.commits_after - 1),
        "place": (0, plan.rows_per_transaction - 1),
    }
    return {name: Bounds(Fraction(low), Fraction(high)) for name, (low, high) in counted.items()} | {
        "draw": _LONG
    }


def _scale(column: ColumnInfo) -> int:
    return 0 if column.type in INTEGERS else max(column.decimal, 0)


def _room(column: ColumnInfo) -> Bounds:
    if column.type in INTEGERS:
        low, high = integer_range(column.type, unsigned=column.unsigned)
        return Bounds(Fraction(low), Fraction(high))
    most = Fraction(10**column.length - 1, 10 ** _scale(column))
    return Bounds(Fraction(0) if column.unsigned else -most, most)
