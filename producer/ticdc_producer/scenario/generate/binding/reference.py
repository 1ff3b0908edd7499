"""References to rows of other generated tables; every reference names an existing row.

Three rules guarantee this: rows of a referenced table are never deleted, their keys never change, and the
table has a row before the first row that refers to it. The existing rows at any change are therefore those
inserted before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.domain import default_range, is_string
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan, Reference
from ticdc_producer.scenario.generate.table_schedule import TableSchedule
from ticdc_producer.scenario.generate.table_spec import ColumnSpec


def bind_reference(
    spec: ColumnSpec,
    column: ColumnInfo,
    table: TableInfo,
    earlier: Sequence[GeneratePlan],
    first: tuple[int, int],
    table_schedule: TableSchedule,
) -> Reference | None:
    """Bind the reference of a column; None if its spec has none.

    :param earlier: the plans of earlier tables.
    :param first: number of the step's first commit, and number of rows that the table gets first.
    :raises ScenarioError: for a table or column that cannot be referenced.
    """
    if spec.references is None:
        return None
    where, _, name = spec.references.rpartition(".")
    parent = _parent(where, column, table, earlier)
    _check_rows_exist(parent, column)
    step_commit, rows = first
    same_step = parent.step_commit == step_commit
    if not _rows_before(parent, rows, table_schedule, same_step=same_step):
        what = f"column {column.name!r}: {parent.table.qualified_name} has no row to refer to yet"
        raise ScenarioError(what, column=column.name, hint="give it rows, or insert into it first")
    named = _key(name, column, parent)
    _check_keys_remain(parent, named, column)
    _check_type(parent, named, column)
    # Tasks get the plan with the reference, which needs none of SQL's rows.
    return Reference(parent=replace(parent, edits=None), column=named, same_step=same_step)


def _parent(name: str, column: ColumnInfo, table: TableInfo, earlier: Sequence[GeneratePlan]) -> GeneratePlan:
    parent_name = name if "." in name else f"{table.schema}.{name}"
    parents = {plan.table.qualified_name.lower(): plan for plan in earlier}
    if parent_name.lower() not in parents:
        what = f"column {column.name!r}: no earlier generate step fills a table {parent_name}"
        raise ScenarioError(what, column=column.name, hint=nearest(parent_name, parents))
    return parents[parent_name.lower()]


def _key(name: str, column: ColumnInfo, parent: GeneratePlan) -> ColumnPlan:
    """Return the referenced column: a key column whose values number the rows."""
    table = parent.table.qualified_name
    names = {info.id: info.name.lower() for info in parent.table_after(None).columns}
    columns = {names[plan.column.id]: plan for plan in parent.columns if plan.column.id in names}
    key = columns.get(name.lower())
    if key is None:
        what = f"column {column.name!r}: table {table} has no column {name!r}"
        raise ScenarioError(what, column=column.name, hint=nearest(name, columns))
    if not (key.keyed and key.sequence):
        what = f"column {column.name!r}: {name} is not a numbered key column of {table}"
        numbered = [plan.column.name for plan in parent.columns if plan.keyed and plan.sequence]
        raise ScenarioError(what, column=column.name, hint=f"use {' or '.join(numbered)}")
    return key


def _check_rows_exist(parent: GeneratePlan, column: ColumnInfo) -> None:
    name = parent.table.qualified_name
    if parent.deletes:
        what = f"column {column.name!r}: rows of {name} are deleted, so a reference may name an absent row"
        raise ScenarioError(
            what, column=column.name, hint="remove delete from its mix, and replace from its each"
        )
    if parent.key_changes:
        what = f"column {column.name!r}: keys of {name} change, so a reference may name an absent row"
        raise ScenarioError(what, column=column.name, hint=f"remove key-changes of {name}")


def _check_keys_remain(parent: GeneratePlan, named: ColumnPlan, column: ColumnInfo) -> None:
    """Check that SQL after the step of the referenced table removed none of the generated keys."""
    if parent.edits is not None and named.column.id in parent.edits.lost_keys:
        name = f"{parent.table.qualified_name}.{named.column.name}"
        what = f"column {column.name!r}: SQL removed values of {name}, so a reference may name an absent row"
        raise ScenarioError(what, column=column.name, hint="put that SQL after this step")


def _rows_before(parent: GeneratePlan, rows: int, table_schedule: TableSchedule, *, same_step: bool) -> int:
    """Return the number of rows of the parent before the first change of the table that refers to it."""
    if not same_step:
        return parent.all_rows
    if rows or not table_schedule.positions:
        return parent.rows
    return parent.rows + parent.new_rows_before(table_schedule.positions[0])


def _check_type(parent: GeneratePlan, named: ColumnPlan, column: ColumnInfo) -> None:
    last = parent.all_rows - 1
    if named.column.charset == "binary" and named.column.type == MySQLType.STRING:
        fits = column.type == MySQLType.STRING and column.length == named.column.length  # padded
    elif is_string(named.column) and is_string(column):
        fits = column.length < 0 or len(str(last)) <= column.length
    elif named.column.type in INTEGERS and column.type in INTEGERS:
        fits = named.low + last <= default_range(column)[1]
    else:
        alike = named.column.type == column.type and named.column.decimal == column.decimal
        fits = alike and named.low + last <= default_range(column)[1]
    if not fits:
        name = f"{parent.table.qualified_name}.{named.column.name}"
        what = f"column {column.name!r} cannot hold what {name} holds"
        raise ScenarioError(what, column=column.name, hint=f"make it {named.column.type_name}")
