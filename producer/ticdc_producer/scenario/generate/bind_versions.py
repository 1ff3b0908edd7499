"""A plan whose table is changed between its transactions: what its versions add to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.bind_column import bind_column
from ticdc_producer.scenario.generate.column_form import ColumnForm
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan

_USUAL = ColumnForm()


def with_table_versions(plan: GeneratePlan, versions: Sequence[TableInfo]) -> GeneratePlan:
    """The plan with the columns that DDLs of its step add.

    :param versions: the table as the step finds it, and as each of the DDLs leaves it.
    """
    return replace(plan, versions=tuple(versions), columns=(*plan.columns, *_added(plan, versions)))


def _added(plan: GeneratePlan, versions: Sequence[TableInfo]) -> Iterator[ColumnPlan]:
    known = {column.name for column in plan.table.columns}
    offset = len(plan.table.columns)
    for number, table in enumerate(versions):
        for column in table.columns:
            if column.name not in known:
                known.add(column.name)
                usual = bind_column(
                    column, offset, _USUAL, keyed=False, last_number=-1, line=plan.line, seed=0
                )
                yield replace(usual, since=_first_event(plan, number))
                offset += 1


def _first_event(plan: GeneratePlan, version: int) -> int:
    """The first that may be of a version of the table."""
    return plan.rows + version * plan.ddl_every * plan.rows_per_transaction
