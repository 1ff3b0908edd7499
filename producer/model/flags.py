"""Column flags as TiCDC sends them (field ``f`` of Open Protocol) and how TiDB derives them.

Rules: tiflow ``cdc/model/schema_storage.go`` (``initColumnsFlag``), tidb ``pkg/ddl/index.go``
(``AddIndexColumnFlag``).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from producer.model.table import ColumnInfo, IndexInfo


class ColumnFlag(IntFlag):
    """Bits of a column's flag."""

    BINARY = 0x01
    HANDLE_KEY = 0x02
    GENERATED = 0x04
    PRIMARY_KEY = 0x08
    UNIQUE_KEY = 0x10
    MULTIPLE_KEY = 0x20
    NULLABLE = 0x40
    UNSIGNED = 0x80


F = ColumnFlag


def column_flags(
    columns: Sequence[ColumnInfo], indexes: Sequence[IndexInfo], handle: IndexInfo | None
) -> tuple[int, ...]:
    """The flag of every column, in table order.

    :param indexes: all indexes, the primary key among them whatever its shape.
    :param handle: the index chosen as handle key, if any.
    """
    own = [_own_flags(column) for column in columns]
    by_index = _index_flags(len(columns), indexes, handle)
    return tuple(int(a | b) for a, b in zip(own, by_index, strict=True))


def _own_flags(column: ColumnInfo) -> ColumnFlag:
    flag = F(0)
    if column.charset == "binary":
        flag |= F.BINARY
    if column.generated:
        flag |= F.GENERATED
    if column.nullable:
        flag |= F.NULLABLE
    if column.unsigned:
        flag |= F.UNSIGNED
    return flag


def _index_flags(count: int, indexes: Sequence[IndexInfo], handle: IndexInfo | None) -> list[ColumnFlag]:
    flags = [F(0)] * count
    for index in indexes:
        if index.implicit:
            continue
        composite = len(index.offsets) > 1
        for place, offset in enumerate(index.offsets):
            if index.primary:
                flags[offset] |= F.PRIMARY_KEY | F.HANDLE_KEY
            elif index.unique:
                flags[offset] |= F.UNIQUE_KEY
            # The first column of a plain index has it too, whatever its width.
            if composite or (place == 0 and not index.unique):
                flags[offset] |= F.MULTIPLE_KEY
            if index is handle:
                flags[offset] |= F.HANDLE_KEY
    return flags
