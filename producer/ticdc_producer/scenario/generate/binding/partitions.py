"""Checks that every row of a ``generate`` step has a partition, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.mysql_type import INTEGERS, TEMPORALS
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.partitions import partition_columns, partitions_of_versions
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from ticdc_producer.scenario.generate.row_history import NEVER, Versions
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning

_AT_ONCE = 1 << 16


def check_partitions(plan: GeneratePlan, partitioning: Partitioning) -> None:
    """Check that partitions accept all keys that rows may get: their first keys, and those of key changes.

    :raises ScenarioError: for a row without a partition, with its values and the line of the step.
    :raises UnsupportedSQL: if the values that decide the partitions are not known before the run.
    """
    columns = partition_columns(plan)
    _check_columns(plan, partitioning, columns)
    for first, last in _key_numbers(plan):
        start = last - 1 if _largest_suffices(partitioning, columns) else first
        for numbers in _in_parts(start, last):
            changed = numbers >= plan.all_rows
            keys = np.where(changed, numbers - plan.all_rows, NEVER)
            rows = np.where(changed, 0, numbers)
            partitions_of_versions(plan, rows, Versions(np.zeros(len(rows), np.int64), keys))
            if partitioning.accepts_all:  # the types fit; only an overflow of the function may end the run
                return


def _check_columns(plan: GeneratePlan, partitioning: Partitioning, columns: Sequence[ColumnPlan]) -> None:
    name = plan.table.qualified_name
    virtual = sorted(partitioning.uses() - {column.column.name.lower() for column in columns})
    if virtual:
        what = f"the virtual column {virtual[0]!r} decides the partitions of {name}: no rows can be generated"
        raise UnsupportedSQL(what, file=plan.file, line=plan.line)
    for column in columns:
        if column.expression:
            what = f"column {column.column.name!r} decides the partitions of {name} and has an expression"
            hint = "the partitions must be known without Spark: use values, or min and max"
            raise UnsupportedSQL(what, file=plan.file, line=column.line, hint=hint)


def _key_numbers(plan: GeneratePlan) -> Iterator[tuple[int, int]]:
    """Yield ranges of the numbers of keys: those of rows, then those of changes that may change the keys."""
    if plan.all_rows:
        yield 0, plan.all_rows
    if plan.key_changes:
        first = plan.all_rows + plan.rows
        yield first, first + plan.transactions * plan.rows_per_transaction


def _largest_suffices(partitioning: Partitioning, columns: Sequence[ColumnPlan]) -> bool:
    """Return whether all keys have a partition if the key with the largest number has one."""
    if partitioning.kind != "RANGE" or not partitioning.is_of_plain_column:
        return False
    [column] = columns
    return column.sequence and column.column.type in INTEGERS | TEMPORALS


def _in_parts(start: int, stop: int) -> Iterator[Longs]:
    for first in range(start, stop, _AT_ONCE):
        yield np.arange(first, min(first + _AT_ONCE, stop))
