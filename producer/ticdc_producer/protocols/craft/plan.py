"""The compiled layout of one table version's rows.

A plan contains everything that does not depend on values, except the ids of names: these depend on the
dictionary of a message. Values are rendered column by column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ticdc_producer.model.event import Op
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import concat
from ticdc_producer.protocols.craft.options import CraftOptions
from ticdc_producer.protocols.craft.value_encoding import Renderer, lengths_chunk, renderer, sizes
from ticdc_producer.protocols.craft.varint import uvarint_chunk

# What TiCDC's estimate adds to the bytes of names and values. Source: tiflow craft ``model.go``.
_ROW_OVERHEAD = 32
_COLUMN_OVERHEAD = 16


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One column.

    :param image_index: index into the row image.
    """

    name: str
    image_index: int
    code: int
    flag: int
    render: Renderer


@dataclass(frozen=True, slots=True, eq=False)
class GroupPlan:
    """A column group of one table version: its columns, and what is the same for every row.

    :param types_and_flags: the encoded chunks of types and flags.
    :param row_estimate: bytes that a row adds to TiCDC's estimate of a message's size, without its images.
    :param image_estimate: bytes that an image adds to that estimate, without its values.
    """

    schema: str
    table: str
    columns: tuple[ColumnPlan, ...]
    types_and_flags: bytes
    row_estimate: int
    image_estimate: int

    def images(self, image: Sequence[pa.Array], rows: int) -> tuple[pa.Array, np.ndarray]:
        """The value chunk of each row's image, and the images' estimated sizes."""
        columns = [column.render(image[column.image_index]) for column in self.columns]
        lengths = [sizes(column) for column in columns]
        estimate = np.full(rows, self.image_estimate)
        for length in lengths:
            estimate += np.maximum(length, 0)
        return concat((*lengths_chunk(lengths), *columns), rows, null=b""), estimate


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table version: the group of a complete image, and that of a delete."""

    whole: GroupPlan
    deleted: GroupPlan
    partitioned: bool

    def first_group(self, op: Op) -> GroupPlan:
        """The first group of rows with this operation."""
        return self.deleted if op == Op.DELETE else self.whole


@dataclass(frozen=True, slots=True)
class RowForm:
    """Determines how the values of a row are framed.

    :param plan: plan of the row's groups. An update has two groups, the new values first.
    """

    plan: GroupPlan
    op: Op


def table_plan(table: TableInfo, options: CraftOptions) -> TablePlan:
    """Compile the plan of one table version."""
    columns = tuple(_columns(table))
    whole = deleted = _group_plan(table, columns)
    if options.delete_only_output_handle_key_columns:
        keys = tuple(column for column in columns if column.flag & ColumnFlag.HANDLE_KEY)
        deleted = _group_plan(table, keys)
    return TablePlan(whole, deleted, bool(table.partitions))


def _columns(table: TableInfo) -> Iterator[ColumnPlan]:
    for index, (column, flag) in enumerate(zip(table.sent_columns, table.sent_flags, strict=True)):
        render = renderer(column.type, unsigned=bool(flag & ColumnFlag.UNSIGNED))
        yield ColumnPlan(column.name, index, column.type, flag, render)


def _group_plan(table: TableInfo, columns: tuple[ColumnPlan, ...]) -> GroupPlan:
    types = uvarint_chunk(column.code for column in columns)
    flags = uvarint_chunk(column.flag for column in columns)
    names = sum(len(column.name.encode()) for column in columns)
    return GroupPlan(
        schema=table.schema,
        table=table.name,
        columns=columns,
        types_and_flags=types + flags,
        row_estimate=_ROW_OVERHEAD + len(table.schema.encode()) + len(table.name.encode()),
        image_estimate=names + _COLUMN_OVERHEAD * len(columns),
    )
