"""Table versions as TiCDC's sink knows them: columns, indexes, handle key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property

import msgspec

from ticdc_producer.model.column import ColumnFlag, ColumnInfo, IndexInfo, column_flags
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.parameter import Profile

SOFT_DELETE_TIME, ORIGIN_TS = "_tidb_softdelete_time", "_tidb_origin_ts"
"""The columns of tables with soft deletes, and of active-active tables. Source: ticdc
``pkg/common/event/active_active.go``."""


@dataclass(frozen=True, kw_only=True)
class PartitionInfo:
    """One partition of a partitioned table; ``id`` is its physical table id."""

    id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class TableInfo:
    """One version of a table: its definition after a DDL.

    :param table_id: logical table id; equal to the physical one if the table has no partitions.
    :param version: index of this entry in the catalog.
    :param columns: in table order, including virtual and hidden columns.
    :param partitions: empty for a table that is not partitioned.
    :param last_column_id: the largest id that a column of the table ever had.
    :param update_ts: TSO at which TiDB last changed the definition of this version; 0 if it is not known.
    :param profile: the TiCDC program that replicates the table; it decides which keys may be the handle key.
    :param cached_flags: the flags of an earlier version that TiCDC new architecture sends in Open Protocol;
        empty if it sends those of this version.
    :param unselected: offsets of the columns that column selectors remove from row events.
    :param upstream: its database and name in TiDB, if messages have others; the rules of a changefeed apply
        to them.
    :param soft_delete: the value of its option SOFTDELETE, such as ``RETENTION 7 DAY``: TiDB marks its rows
        as deleted, in the column ``SOFT_DELETE_TIME``; empty if it deletes them.
    :param active_active: whether several clusters write it; then it has the column ``ORIGIN_TS``, too.
    """

    schema: str
    name: str
    table_id: int
    columns: tuple[ColumnInfo, ...]
    indexes: tuple[IndexInfo, ...] = ()
    partitions: tuple[PartitionInfo, ...] = ()
    version: int = 0
    charset: str = "utf8mb4"
    collation: str = "utf8mb4_bin"
    comment: str = ""
    is_view: bool = field(default=False)
    last_column_id: int = 0
    update_ts: int = 0
    profile: Profile = "classic"
    unselected: tuple[int, ...] = ()
    cached_flags: tuple[int, ...] = ()
    upstream: tuple[str, str] | None = None
    soft_delete: str = ""
    active_active: bool = False

    def __hash__(self) -> int:
        # Encoders look up a table for every batch; hashing its columns would take longer than encoding.
        return hash((self.schema, self.name, self.table_id, self.version))

    @cached_property
    def primary_key(self) -> IndexInfo | None:
        return next((index for index in self.indexes if index.primary), None)

    @cached_property
    def visible_offsets(self) -> dict[str, int]:
        """The offset of each column that statements can name, by its name in lower case."""
        return {
            column.name.lower(): offset for offset, column in enumerate(self.columns) if not column.hidden
        }

    @cached_property
    def soft_delete_offset(self) -> int | None:
        """The offset of the time of the soft delete; None if the table has no soft deletes."""
        if not self.soft_delete:
            return None
        return next(i for i, column in enumerate(self.columns) if column.name == SOFT_DELETE_TIME)

    @cached_property
    def internal_offsets(self) -> dict[str, int]:
        """The offsets of the columns that TiDB added for soft deletes, by their names."""
        if not self.soft_delete:
            return {}
        return {
            column.name: offset
            for offset, column in enumerate(self.columns)
            if column.name in (SOFT_DELETE_TIME, ORIGIN_TS)
        }

    @cached_property
    def stored_ids(self) -> bytes:
        """The ids of the columns that TiDB stores in a row, as text; NULLs are stored, too."""
        return b",".join(b"%d" % number for number in sorted(c.id for c in self.columns if not c.is_virtual))

    @cached_property
    def handle_index(self) -> IndexInfo | None:
        """The handle key: the primary key, else the best unique index without NULLs, else None.

        The best index has the fewest columns, then the lowest id. Only TiCDC new architecture accepts an
        index on a virtual column. Source: tiflow ``findHandleIndex``, ticdc ``initIndexColumns``.
        """
        if self.primary_key is not None:
            return self.primary_key
        candidates = [index for index in self.indexes if index.unique and self._never_null(index)]
        return min(candidates, key=lambda index: (len(index.offsets), index.id), default=None)

    def _never_null(self, index: IndexInfo) -> bool:
        columns = [self.columns[offset] for offset in index.offsets]
        virtual_too = self.profile == "new"
        return all(not column.nullable and (virtual_too or not column.is_virtual) for column in columns)

    @cached_property
    def flags(self) -> tuple[int, ...]:
        """TiCDC's flag of every column, in table order."""
        return column_flags(self.columns, self.indexes, self.handle_index, self.profile)

    @cached_property
    def sent(self) -> tuple[int, ...]:
        """Offsets of the columns that reach the sink: all except virtual generated and unselected columns.

        Row images contain exactly these columns, in this order. Source: tiflow ``IsColCDCVisible``.
        """
        visible = (i for i, column in enumerate(self.columns) if not column.is_virtual)
        return tuple(i for i in visible if i not in self.unselected)

    @cached_property
    def generated(self) -> tuple[int, ...]:
        """Offsets of the generated columns."""
        return tuple(i for i, column in enumerate(self.columns) if column.generated)

    @cached_property
    def unique_indexes(self) -> tuple[IndexInfo, ...]:
        """The unique indexes, the primary key first."""
        unique = [index for index in self.indexes if index.unique]
        return tuple(sorted(unique, key=lambda index: not index.primary))

    @cached_property
    def padded(self) -> tuple[int, ...]:
        """Offsets of the CHAR columns that were added later: older rows have the blanks of their DEFAULT."""
        return tuple(
            i
            for i, column in enumerate(self.columns)
            if column.origin_default is not None and column.type == MySQLType.STRING and not column.binary
        )

    @cached_property
    def not_null(self) -> tuple[int, ...]:
        """Offsets of the NOT NULL columns."""
        return tuple(i for i, column in enumerate(self.columns) if not column.nullable)

    @cached_property
    def auto_increment(self) -> tuple[int, ...]:
        """Offsets of the AUTO_INCREMENT columns."""
        return tuple(i for i, column in enumerate(self.columns) if column.auto_increment)

    @cached_property
    def updated_by_clock(self) -> tuple[int, ...]:
        """Offsets of the columns with ON UPDATE CURRENT_TIMESTAMP."""
        return tuple(i for i, column in enumerate(self.columns) if column.on_update_now)

    @cached_property
    def sent_columns(self) -> tuple[ColumnInfo, ...]:
        return tuple(self.columns[i] for i in self.sent)

    @cached_property
    def sent_flags(self) -> tuple[int, ...]:
        return tuple(self.flags[i] for i in self.sent)

    @cached_property
    def visible_flags(self) -> tuple[int, ...]:
        """The flags of the sent columns that a reader knows: those that are sent, and the handle key."""
        if not self.cached_flags:
            return self.sent_flags
        return tuple(self.cached_flags[i] | self.flags[i] & ColumnFlag.HANDLE_KEY for i in self.sent)

    def image_index(self, offset: int) -> int | None:
        """Return the index in a row image of the column at ``offset``; None if images lack it."""
        return self.sent.index(offset) if offset in self.sent else None

    @cached_property
    def clustered_key(self) -> IndexInfo | None:
        """The clustered primary key, under which TiDB stores the rows; None if there is none."""
        key = self.primary_key
        return key if key is not None and key.clustered else None

    @property
    def eligible(self) -> bool:
        """Whether TiCDC replicates the table without ``force-replicate``."""
        return self.is_view or self.handle_index is not None

    @property
    def upstream_name(self) -> tuple[str, str]:
        """Its database and name in TiDB."""
        return self.upstream or (self.schema, self.name)

    @property
    def qualified_name(self) -> str:
        return f"{self.schema}.{self.name}"


_DEFAULTS = {field.name: field.default for field in fields(ColumnInfo) if field.default is not MISSING}


def table_json(table: TableInfo) -> dict[str, object]:
    """Convert a table to JSON: ``schema``, ``table``, ``columns``, ``handle_key`` and ``virtual``.

    Attributes of a column that have their default value are omitted.
    """
    handle = table.handle_index
    offsets = () if handle is None else handle.offsets
    return {
        "schema": table.schema,
        "table": table.name,
        "columns": [_column_json(column) for column in table.sent_columns],
        "handle_key": [table.columns[offset].name for offset in offsets],
        "virtual": [column.name for column in table.columns if column.is_virtual],
    }


def _column_json(column: ColumnInfo) -> dict[str, object]:
    fields_set = {name: value for name, value in _DEFAULTS.items() if getattr(column, name) != value}
    return {
        "name": column.name,
        "type": int(column.type),
        **{name: msgspec.to_builtins(getattr(column, name)) for name in fields_set},
    }


def column_from_json(content: Mapping[str, object]) -> ColumnInfo:
    """Convert one of the ``columns`` of ``table_json`` to a column.

    :raises ValueError: if the JSON does not match.
    """
    return msgspec.convert(content, ColumnInfo)


_OTHER = 400
"""Upper bound in bytes for numbers and times; the longest is a DOUBLE with 308 digits and sign."""
_MOST_BYTES_PER_CHARACTER = 4
_UNBOUNDED = LOBS | {MySQLType.JSON, MySQLType.VECTOR_FLOAT32, MySQLType.GEOMETRY}


def max_row_bytes(table: TableInfo) -> int | None:
    """Return the maximum size of a row image in bytes; None if a column has no useful bound."""
    return max_image_bytes(table.sent_columns)


def max_image_bytes(columns: Sequence[ColumnInfo]) -> int | None:
    """Return the maximum size of the values of some columns in bytes; None if one has no useful bound."""
    sizes = [_max_bytes(column) for column in columns]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _max_bytes(column: ColumnInfo) -> int | None:
    if column.type in _UNBOUNDED:
        return None
    if column.type not in STRINGS:
        return _OTHER
    return None if column.length < 0 else column.length * _MOST_BYTES_PER_CHARACTER
