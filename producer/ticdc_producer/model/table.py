"""Tables as TiCDC's sink knows them: columns, indexes, handle key, versions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.flags import column_flags
from ticdc_producer.model.profile import Profile


@dataclass(frozen=True, kw_only=True)
class PartitionInfo:
    """One partition of a partitioned table; ``id`` is its physical table id."""

    id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class TableInfo:
    """One version of a table: what a DDL left behind.

    :param table_id: logical table id; equals the physical one of a table without partitions.
    :param version: number of this entry in the catalog.
    :param columns: in table order, virtual and hidden ones included.
    :param partitions: empty for a table that is not partitioned.
    :param last_column_id: the largest id that a column of the table ever had.
    :param update_ts: TSO at which TiDB last changed this version's definition; 0 where it is not known.
    :param left_out: offsets of the columns that a column selector leaves out of row events.
    :param profile: the program that replicates the table; it decides which keys may be the handle key.
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
    left_out: tuple[int, ...] = ()

    def __hash__(self) -> int:
        # Encoders look a table up for every batch; its columns would take longer than their rows.
        return hash((self.schema, self.name, self.table_id, self.version))

    @cached_property
    def primary_key(self) -> IndexInfo | None:
        return next((index for index in self.indexes if index.primary), None)

    @cached_property
    def handle_index(self) -> IndexInfo | None:
        """The handle key: the primary key, else the best unique index without NULLs, else none.

        Best is the fewest columns, then the lowest id; a key on a virtual column counts for the new
        program only. Source: tiflow ``findHandleIndex``, ticdc ``initIndexColumns``.
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
        """Offsets of the columns that reach the sink: all but virtual generated ones and those left out.

        Row images hold just these, in this order. Source: tiflow ``IsColCDCVisible``.
        """
        shown = (i for i, column in enumerate(self.columns) if not column.is_virtual)
        return tuple(i for i in shown if i not in self.left_out)

    @cached_property
    def generated(self) -> tuple[int, ...]:
        """Offsets of the generated columns."""
        return tuple(i for i, column in enumerate(self.columns) if column.generated)

    @cached_property
    def sent_columns(self) -> tuple[ColumnInfo, ...]:
        return tuple(self.columns[i] for i in self.sent)

    @cached_property
    def sent_flags(self) -> tuple[int, ...]:
        return tuple(self.flags[i] for i in self.sent)

    def image_place(self, offset: int) -> int | None:
        """Where a column of ``columns`` stands in a row image; None if it is in none."""
        return self.sent.index(offset) if offset in self.sent else None

    @cached_property
    def clustered_key(self) -> IndexInfo | None:
        """The primary key that rows are stored under, if any."""
        key = self.primary_key
        return key if key is not None and key.clustered else None

    @property
    def eligible(self) -> bool:
        """Whether TiCDC replicates the table without ``force-replicate``."""
        return self.is_view or self.handle_index is not None

    @property
    def qualified_name(self) -> str:
        return f"{self.schema}.{self.name}"
