"""Columns and indexes of a table, as TiDB's metadata describes them, and TiCDC's flags of columns.

Rules: tiflow ``cdc/model/schema_storage.go`` (``initColumnsFlag``), tidb ``pkg/ddl/index.go``
(``AddIndexColumnFlag``), ticdc ``pkg/sink/codec/open/message.go`` (``initColumnFlags``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Literal

from ticdc_producer.model.mysql_type import TYPES, MySQLType, bare_name
from ticdc_producer.model.parameter import Profile

Generated = Literal["", "virtual", "stored"]


@dataclass(frozen=True, kw_only=True)
class ColumnInfo:
    """One column of one version of a table.

    :param name: the name, in the case of the definition.
    :param id: TiDB's column id, which grows with each added column; 0 if it is not known.
    :param type: MySQL type code.
    :param length: TiDB's ``flen``: display width, characters, bytes or digits, by type; -1 unspecified.
    :param decimal: scale or fsp; -1 unspecified.
    :param unsigned: UNSIGNED or ZEROFILL; always true for BIT and YEAR.
    :param charset: ``binary`` for every type without a charset.
    :param elements: members of an ENUM or SET.
    :param default: canonical value of the DEFAULT; None if there is none or it is NULL.
    :param default_text: the DEFAULT in TiDB's metadata, if it differs from the stored value: the
        user's digits of a number, trailing blanks of a CHAR, the bytes of a BIT.
    :param default_expression: SQL text of a DEFAULT that is computed per row (``CURRENT_TIMESTAMP``…).
    :param default_dropped: whether DROP DEFAULT made a value necessary, even if the column is nullable.
    :param origin_default: value of this column in rows that were written before ``ADD COLUMN``.
    :param auto_random: the numbers of bits of AUTO_RANDOM: of the shard, and of the whole value.
    :param generated: ``virtual`` columns are not in messages; ``stored`` columns are.
    :param expression: SQL text of a generated column.
    :param hidden: a column that ``*`` does not name: of an expression index, or for soft deletes.
    """

    name: str
    type: MySQLType
    length: int = -1
    decimal: int = -1
    unsigned: bool = False
    zerofill: bool = False
    charset: str = "binary"
    collation: str = "binary"
    elements: tuple[str, ...] = ()
    nullable: bool = True
    default: bytes | None = None
    has_default: bool = False
    default_text: bytes | None = None
    default_expression: str = ""
    on_update_now: bool = False
    default_dropped: bool = False
    origin_default: bytes | None = None
    auto_increment: bool = False
    auto_random: tuple[int, int] | None = None
    generated: Generated = ""
    expression: str = ""
    hidden: bool = False
    comment: str = ""
    id: int = 0

    @property
    def metadata_default(self) -> bytes | None:
        """The DEFAULT in TiDB's metadata; None if there is none or it is NULL."""
        return self.default if self.default is None else self.default_text or self.default

    @property
    def binary(self) -> bool:
        """Whether TiCDC sets BinaryFlag: for every type without a charset, and for byte strings."""
        return self.charset == "binary"

    @property
    def is_virtual(self) -> bool:
        """Whether the column is generated and not stored, so that no message contains it."""
        return self.generated == "virtual"

    @property
    def type_name(self) -> str:
        """SQL type without parameters, such as ``int unsigned``."""
        return bare_name(self.type, binary=self.binary, unsigned=self.unsigned)

    @property
    def zero(self) -> bytes:
        """The implicit DEFAULT of a NOT NULL column: zero, empty, the zero date; of an ENUM, no member."""
        spec = TYPES[self.type]
        if self.decimal > 0 and (spec.has_fsp or spec.family == "decimal"):
            return spec.zero + b"." + b"0" * self.decimal
        if self.type == MySQLType.STRING and self.binary:
            return spec.zero.ljust(self.length, b"\0")
        return spec.zero


@dataclass(frozen=True, kw_only=True)
class IndexInfo:
    """One index.

    :param id: grows with creation order; TiCDC takes the lowest of equal handle key candidates.
    :param offsets: columns as offsets into ``TableInfo.columns``, in index order.
    :param lengths: prefix length per column, in characters or bytes; -1 for the whole column.
    :param clustered: for a primary key: whether it is the key of the stored rows.
    :param implicit: created by CREATE TABLE for a foreign key; TiDB sets no column flags for it.
    :param is_global: whether one index has the rows of all partitions of the table.
    """

    id: int
    name: str
    offsets: tuple[int, ...]
    lengths: tuple[int, ...] = ()
    unique: bool = False
    primary: bool = False
    clustered: bool = False
    implicit: bool = False
    is_global: bool = False


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
    """Return the flag of every column, in table order.

    :param indexes: all indexes, the primary key among them whatever its shape.
    :param handle: the index that is the handle key, if any.
    :param profile: TiCDC new architecture adds nothing to TiDB's own flags of a stored generated column.
    """
    own = [_own_flags(column) for column in columns]
    bare = [profile == "new" and column.generated == "stored" for column in columns]
    by_index = _index_flags(bare, indexes, handle)
    return tuple(int(a | b) for a, b in zip(own, by_index, strict=True))


def written_flag(column: ColumnInfo, flag: int, profile: Profile) -> int:
    """Return the flag of a column in Open Protocol.

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
    """Return the flags that each column has because of its indexes.

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
    # The first column of a non-unique index has the flag as well, even if it is the only column.
    if len(index.offsets) > 1 or (position == 0 and not index.unique):
        flag |= F.MULTIPLE_KEY
    return flag


def _tidb_flags(index: IndexInfo, position: int) -> ColumnFlag:
    if index.primary:
        return F.PRIMARY_KEY | F.HANDLE_KEY
    if index.unique and len(index.offsets) == 1:
        return F.UNIQUE_KEY
    return F.MULTIPLE_KEY if position == 0 else F(0)
