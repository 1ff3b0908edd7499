"""The compiled layout of one table version's rows, and their values as Craft's bytes.

Texts are copied in any charset; numbers are binary. Source: tiflow
``message_encoder.go`` (``EncodeTiDBType``).

A plan contains everything that does not depend on values, except the ids of names: these depend on the
dictionary of a message. Values are rendered column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import INTEGERS, NUMBERED, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import (
    ONE_BYTE,
    Fragment,
    concat,
    fixed_width,
    parsed_numbers,
    uvarints,
    varints,
    with_nulls_of,
    zigzag,
)
from ticdc_producer.protocols.batch_options import CraftOptions
from ticdc_producer.protocols.craft.wire import uvarint_chunk

Renderer: TypeAlias = Callable[[pa.Array], pa.Array]

T = MySQLType
_NEVER_SENT = frozenset({T.UNSPECIFIED, T.NULL, T.GEOMETRY})


def renderer(code: MySQLType, *, unsigned: bool) -> Renderer:
    """Return the function that encodes the values of a column; NULL stays null.

    :param unsigned: whether the column has UnsignedFlag. YEAR is signed although it has the flag.
    """
    if code == T.YEAR or (code in INTEGERS and not unsigned):
        return _signed
    if code in INTEGERS or code in NUMBERED:
        return _unsigned
    if code == T.FLOAT:
        return _floats
    if code == T.DOUBLE:
        return _doubles
    return _nulls if code in _NEVER_SENT else _copy


def sizes(column: pa.Array) -> np.ndarray:
    """Return the number of bytes of each value (int32), -1 for NULL.

    >>> sizes(pa.array([b"ab", None])).tolist()
    [2, -1]
    """
    lengths: np.ndarray = pc.fill_null(pc.binary_length(column), -1).to_numpy()
    return lengths


def lengths_chunk(columns: Sequence[np.ndarray]) -> Iterator[Fragment]:
    """Yield the sizes of each row's values, as varints of the nullable chunk.

    Adjacent columns of short values become one fragment, since each fragment costs time per row.

    >>> columns = np.array([2, -1], np.int32), np.array([0, 1], np.int32)
    >>> [fragment.to_pylist() for fragment in lengths_chunk(columns)]
    [[b'\\x04\\x00', b'\\x01\\x02']]
    """
    lengths = [zigzag(column).view(np.uint32) for column in columns]
    for short, run in groupby(lengths, key=lambda column: column.max(initial=0) < ONE_BYTE):
        if short:
            block = np.stack([column.astype(np.uint8) for column in run], axis=1)
            yield fixed_width(block.tobytes(), block.shape[1])
        else:
            yield from map(uvarints, run)


def _copy(values: pa.Array) -> pa.Array:
    return values


def _nulls(values: pa.Array) -> pa.Array:
    return pa.nulls(len(values), pa.binary())


def _signed(values: pa.Array) -> pa.Array:
    return with_nulls_of(values, varints(parsed_numbers(values, pa.int64())))


def _unsigned(values: pa.Array) -> pa.Array:
    return with_nulls_of(values, uvarints(parsed_numbers(values, pa.uint64())))


def _doubles(values: pa.Array) -> pa.Array:
    return with_nulls_of(values, _binary64(parsed_numbers(values, pa.float64())))


def _floats(values: pa.Array) -> pa.Array:
    """Encode FLOAT values as 64 bits, after rounding to the column's 32 bits.

    >>> _floats(pa.array([b"0.1", None])).to_pylist() == [np.float64(np.float32(0.1)).tobytes(), None]
    True
    """
    return with_nulls_of(values, _binary64(parsed_numbers(values, pa.float64()).astype(np.float32)))


def _binary64(numbers: np.ndarray) -> pa.Array:
    return fixed_width(numbers.astype("<f8").tobytes(), 8)


# TiCDC's estimate adds these to the bytes of names and values. Source: tiflow craft ``model.go``.
_ROW_OVERHEAD = 32
_COLUMN_OVERHEAD = 16


@dataclass(frozen=True, slots=True)
class CraftColumnPlan:
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
    """A column group of one table version: its columns, and the parts that are the same for every row.

    :param types_and_flags: the encoded chunks of types and flags.
    :param row_estimate: bytes that a row adds to TiCDC's estimate of a message's size, without its images.
    :param image_estimate: bytes that an image adds to that estimate, without its values.
    """

    schema: str
    table: str
    columns: tuple[CraftColumnPlan, ...]
    types_and_flags: bytes
    row_estimate: int
    image_estimate: int

    def images(self, image: Sequence[pa.Array], rows: int) -> tuple[pa.Array, np.ndarray]:
        """Return the value chunk of each row's image, and the estimated size of each image.

        >>> column = CraftColumnPlan("id", 0, T.VARCHAR, 0, _copy)
        >>> plan = GroupPlan("shop", "orders", (column,), b"", row_estimate=0, image_estimate=18)
        >>> chunks, estimate = plan.images([pa.array([b"ab", None])], 2)
        >>> chunks.to_pylist(), estimate.tolist()
        ([b'\\x04ab', b'\\x01'], [20, 18])
        """
        columns = [column.render(image[column.image_index]) for column in self.columns]
        lengths = [sizes(column) for column in columns]
        estimate = np.full(rows, self.image_estimate)
        for length in lengths:
            estimate += np.maximum(length, 0)
        return concat((*lengths_chunk(lengths), *columns), rows, null=b""), estimate


@dataclass(frozen=True, slots=True)
class CraftTablePlan:
    """One table version: the group of a complete image, and that of a delete."""

    whole: GroupPlan
    deleted: GroupPlan
    partitioned: bool

    def first_group(self, op: Op) -> GroupPlan:
        """Return the first group of rows with this operation."""
        return self.deleted if op == Op.DELETE else self.whole


@dataclass(frozen=True, slots=True)
class CraftRowForm:
    """The form of a row's frame around its values.

    :param plan: plan of the row's groups. An update has two groups, the new values first.
    """

    plan: GroupPlan
    op: Op


def table_plan(table: TableInfo, options: CraftOptions) -> CraftTablePlan:
    """Compile the plan of one table version."""
    columns = tuple(_columns(table))
    whole = deleted = _group_plan(table, columns)
    if options.delete_only_output_handle_key_columns:
        keys = tuple(column for column in columns if column.flag & ColumnFlag.HANDLE_KEY)
        deleted = _group_plan(table, keys)
    return CraftTablePlan(whole, deleted, bool(table.partitions))


def _columns(table: TableInfo) -> Iterator[CraftColumnPlan]:
    for index, (column, flag) in enumerate(zip(table.sent_columns, table.sent_flags, strict=True)):
        render = renderer(column.type, unsigned=bool(flag & ColumnFlag.UNSIGNED))
        yield CraftColumnPlan(column.name, index, column.type, flag, render)


def _group_plan(table: TableInfo, columns: tuple[CraftColumnPlan, ...]) -> GroupPlan:
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
