"""The partitions of the rows of a partitioned table, whose columns belong to every unique key.

A row therefore moves to another partition only if its keys change. Every row must have a partition, which is
checked before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import ProducerError, ScenarioError, UnsupportedSQL
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import INTEGERS, TEMPORALS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import display_value
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.cells import cells, no_expressions, sources
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from ticdc_producer.scenario.generate.row_history import NEVER, Versions
from ticdc_producer.scenario.sql.definition.partition_columns import partitions_of_rows
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning


def partition_columns(plan: GeneratePlan) -> list[ColumnPlan]:
    """Return the columns that decide the partitions of rows."""
    used = set() if plan.partitioning is None else plan.partitioning.uses()
    return [column for column in plan.columns if column.column.name.lower() in used]


def partitions_of_values(plan: GeneratePlan, values: Mapping[int, pa.Array]) -> Longs:
    """Return the index of the partition of each row.

    :param values: canonical values of ``partition_columns``, by offset.
    :raises ScenarioError: for a row without a partition, with its values and the line of the step.
    """
    if plan.partitioning is None:
        raise ValueError(f"table {plan.table.qualified_name} has no partitions")
    rows = len(next(iter(values.values())))
    unused = pa.nulls(rows, pa.binary())
    columns = [values.get(offset, unused) for offset in range(len(plan.table.columns))]
    partitions = partitions_of_rows(plan.partitioning, plan.table, columns)
    outside = np.flatnonzero(partitions < 0)
    if len(outside):
        row = [column[int(outside[0])].as_py() for column in columns]
        raise _rejected(plan, plan.partitioning, row, sorted(values))
    return partitions


def partitions_of_versions(plan: GeneratePlan, rows: Longs, versions: Versions) -> Longs:
    """Return the index of the partition of rows with some versions; only those of the keys matter.

    :raises ScenarioError: for a row without a partition, with its values and the line of the step.
    """
    values = {
        column.offset: cells(plan, column, sources(plan, column, rows, versions), no_expressions)
        for column in partition_columns(plan)
    }
    return partitions_of_values(plan, values)


def physical_ids(plan: GeneratePlan, table: TableInfo, values: Mapping[int, pa.Array]) -> Longs:
    """Return the physical table ids of rows: those of their partitions.

    :param table: the version of the table.
    :param values: canonical values of ``partition_columns``, by offset.
    """
    ids = np.array([partition.id for partition in table.partitions], np.int64)
    return ids[partitions_of_values(plan, values)]


def _rejected(
    plan: GeneratePlan, partitioning: Partitioning, row: Sequence[Value], offsets: Sequence[int]
) -> ScenarioError:
    """Return the error of a row without a partition; TiDB's is 1526.

    :param offsets: of the columns that decide the partition.
    """
    columns = plan.table.columns
    names = ", ".join(f"{columns[offset].name} = {_displayed(row[offset])}" for offset in offsets)
    what, hint = f"a generated row of {plan.table.qualified_name} has {names}", ""
    try:
        partitioning.locate(plan.table, row)
    except ProducerError as error:
        what, hint = f"{what}: {error.what}", error.hint
    except (ValueError, ArithmeticError, LookupError) as error:
        what = f"{what}: the partition function fails: {error}"
    hint = hint or "limit the column by min and max or by values, or add a partition to the table"
    return ScenarioError(what, file=plan.file, line=plan.line, hint=hint)


def _displayed(value: Value) -> str:
    if value is None:
        return "NULL"
    return display_value(value if isinstance(value, str) else value.decode("utf-8", "backslashreplace"))


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
