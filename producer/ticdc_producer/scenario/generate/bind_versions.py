"""Extends a plan whose table is altered between its transactions by the versions of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.bind_column import bind_column
from ticdc_producer.scenario.generate.column_spec import ColumnSpec
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan

_DEFAULT_SPEC = ColumnSpec()


def with_table_versions(plan: GeneratePlan, versions: Sequence[TableInfo]) -> GeneratePlan:
    """The plan with the columns that DDLs of its step add.

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
    """The first event that may belong to a version of the table."""
    return plan.rows + version * plan.ddl_every * plan.rows_per_transaction
