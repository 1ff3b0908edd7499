"""The partitions of the rows of a partitioned table, whose columns belong to every unique key.

So a row moves to another partition only if its keys change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import ProducerError, ScenarioError
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import display_value
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.cells import cells, no_expressions, sources
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from ticdc_producer.scenario.generate.row_history import Versions
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
