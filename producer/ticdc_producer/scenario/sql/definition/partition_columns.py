"""The partitions of many rows, from columns of their values: the scalar rule, once per different row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import ProducerError
from ticdc_producer.model.column_functions import Numbers, distinct_rows
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning


def partitions_of_rows(partitioning: Partitioning, table: TableInfo, columns: Sequence[pa.Array]) -> Numbers:
    """Return the index of the partition of each row; -1 if no partition accepts it.

    :param columns: canonical values of all columns; only those of ``partitioning.uses()`` matter.
    """
    used = partitioning.uses()
    needed = [offset for offset, column in enumerate(table.columns) if column.name.lower() in used]
    first, positions = distinct_rows([columns[offset] for offset in needed])
    rows = zip(*(columns[offset].take(pa.array(first)).to_pylist() for offset in needed), strict=True)
    partitions = np.full(len(first), -1)
    values: list[Value] = [None] * len(table.columns)
    for number, row in enumerate(rows):
        for offset, value in zip(needed, row, strict=True):
            values[offset] = value
        try:
            partitions[number] = partitioning.locate(table, values)
        except (ProducerError, ValueError, ArithmeticError, LookupError):  # a topic may hold any values
            continue
    located: Numbers = partitions[positions]
    return located
