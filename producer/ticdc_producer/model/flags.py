"""Column flags as TiCDC sends them (field ``f`` of Open Protocol) and how TiDB derives them.

Rules: tiflow ``cdc/model/schema_storage.go`` (``initColumnsFlag``), tidb ``pkg/ddl/index.go``
(``AddIndexColumnFlag``), ticdc ``pkg/sink/codec/open/message.go`` (``initColumnFlags``).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.profile import Profile


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
    columns: Sequence[ColumnInfo],
    indexes: Sequence[IndexInfo],
    handle: IndexInfo | None,
    profile: Profile = "classic",
) -> tuple[int, ...]:
    """The flag of every column, in table order.

    :param indexes: all indexes, the primary key among them whatever its shape.
    :param handle: the index chosen as handle key, if any.
    :param profile: TiCDC new architecture adds nothing to TiDB's own flags of a stored generated column.
    """
    own = [_own_flags(column) for column in columns]
    bare = [profile == "new" and column.generated == "stored" for column in columns]
    by_index = _index_flags(bare, indexes, handle)
    return tuple(int(a | b) for a, b in zip(own, by_index, strict=True))


def written_flag(column: ColumnInfo, flag: int, profile: Profile) -> int:
    """The flag of a column in Open Protocol.

    TiCDC new architecture marks a stored generated column of the handle key only by ``h``, unless it belongs
    to the primary key. Source: ticdc ``initColumnFlags``.
    """
    if profile == "classic" or column.generated != "stored" or flag & F.PRIMARY_KEY:
        return flag
    return int(flag & ~F.HANDLE_KEY)


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


def _index_flags(
    bare: Sequence[bool], indexes: Sequence[IndexInfo], handle: IndexInfo | None
) -> list[ColumnFlag]:
    """The flags that each column has because of its indexes.

    :param bare: per column, whether TiCDC adds nothing to the flags that TiDB sets.
    """
    flags = [F(0)] * len(bare)
    for index in indexes:
        if index.implicit:
            continue
        for position, offset in enumerate(index.offsets):
            flags[offset] |= _tidb_flags(index, position) if bare[offset] else _ticdc_flags(index, position)
            if index is handle:
                flags[offset] |= F.HANDLE_KEY
    return flags


def _ticdc_flags(index: IndexInfo, position: int) -> ColumnFlag:
    flag = F.PRIMARY_KEY | F.HANDLE_KEY if index.primary else F.UNIQUE_KEY if index.unique else F(0)
    # The first column of a non-unique index has the flag too, even if it is the only column.
    if len(index.offsets) > 1 or (position == 0 and not index.unique):
        flag |= F.MULTIPLE_KEY
    return flag


def _tidb_flags(index: IndexInfo, position: int) -> ColumnFlag:
    if index.primary:
        return F.PRIMARY_KEY | F.HANDLE_KEY
    if index.unique and len(index.offsets) == 1:
        return F.UNIQUE_KEY
    return F.MULTIPLE_KEY if position == 0 else F(0)
