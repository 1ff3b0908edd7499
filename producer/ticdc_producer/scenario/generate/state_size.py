"""The size of the states of a table's rows, which the task that follows them holds in memory."""

from __future__ import annotations

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan

MOST_STATE_BYTES = 4 << 30
"""Maximum size of the states of the rows that one task follows."""


def check_state_size(plan: GeneratePlan) -> None:
    """Check that the states of a table's rows fit into the memory of a task.

    :raises ScenarioError: with file and line of the step, if they do not.
    """
    columns = 3 + sum(may_change(plan, column) or bool(column.adds) for column in plan.columns)
    size = columns * 8 * plan.all_rows if plan.revisits_rows else 0
    if size > MOST_STATE_BYTES:
        what = (
            f"to follow the {plan.all_rows} rows of {plan.table.qualified_name}, each task needs "
            f"{size >> 20} MiB, more than {MOST_STATE_BYTES >> 20}"
        )
        hint = "set fewer rows, name the columns that updates change, or insert only"
        raise ScenarioError(what, file=plan.file, line=plan.line, hint=hint)


def may_change(plan: GeneratePlan, column: ColumnPlan) -> bool:
    """Whether updates may give a column a new value, other than by adding to it or changing keys."""
    if column.keyed or column.adds:
        return False
    if plan.each:
        return any(column.offset in one.updates for one in plan.each)
    return not plan.updates or column.offset in plan.updates
