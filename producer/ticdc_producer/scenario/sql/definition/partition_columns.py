"""The partitions of many rows, from columns of their values: the scalar rule, once per different row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import ProducerError
from ticdc_producer.model.column_functions import Numbers, row_codes
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning


def partitions_of_rows(partitioning: Partitioning, table: TableInfo, columns: Sequence[pa.Array]) -> Numbers:
    """Return the index of the partition of each row; -1 if no partition accepts it.

    :param columns: canonical values of all columns; only those of ``partitioning.uses()`` matter.
    """
    used = partitioning.uses()
    needed = [offset for offset, column in enumerate(table.columns) if column.name.lower() in used]
    rows, codes = distinct_rows([columns[offset] for offset in needed])
    partitions = np.full(len(rows), -1)
    values: list[Value] = [None] * len(table.columns)
    for number, row in enumerate(rows):
        for offset, value in zip(needed, row, strict=True):
            values[offset] = value
        try:
            partitions[number] = partitioning.locate(table, values)
        except (ProducerError, ValueError, ArithmeticError, LookupError):  # a topic may hold any values
            continue
    located: Numbers = partitions[codes]
    return located


def distinct_rows(columns: Sequence[pa.Array]) -> tuple[list[tuple[Value, ...]], Numbers]:
    """Return the different rows of some columns, and for each row the number of its own.

    >>> rows, numbers = distinct_rows([pa.array([b"y", b"x", b"y"]), pa.array([b"1", b"1", b"1"])])
    >>> rows, numbers.tolist()
    ([(b'y', b'1'), (b'x', b'1')], [0, 1, 0])
    """
    _, first, numbers = np.unique(row_codes(columns), return_index=True, return_inverse=True)
    first_rows = pa.array(first)
    values = [column.take(first_rows).to_pylist() for column in columns]
    return [*zip(*values, strict=True)], numbers
