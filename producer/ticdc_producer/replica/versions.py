"""Versions of tables, and what becomes of their rows when a DDL ends a version."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.partitioning import Partitioning

LENIENT = SQLMode(strict=False, zero_dates=True, zero_in_date=True, invalid_dates=True, utf8_check=False)
"""What the upstream accepted is not checked again."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """What the DDLs of a stream say of a table.

    :param info: without ids; columns that are added come last.
    :param next_index_id: the id of the next index; of equal candidates for the handle key the lowest wins.
    """

    info: TableInfo
    partitioning: Partitioning | None = None
    next_index_id: int = 1

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Names of the columns of the handle key; empty without one."""
        index = self.info.handle_index
        return () if index is None else tuple(self.info.columns[offset].name for offset in index.offsets)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Where a column's values come from when a DDL changes a table.

    :param source: name of the column before the DDL; empty for a new column.
    :param constant: value of a new column.
    :param before: the column before the DDL, if its values have to be converted.
    :param after: the column after the DDL, likewise.
    """

    name: str
    source: str = ""
    constant: bytes | None = None
    before: ColumnInfo | None = None
    after: ColumnInfo | None = None

    @property
    def is_unchanged(self) -> bool:
        """Whether name and values stay."""
        return self.source == self.name and self.after is None


@dataclass(frozen=True, kw_only=True)
class Move:
    """The rows that a DDL moves from one version to another.

    :param target: number of the version.
    :param cells: columns of the target; None if all columns stay as they are.
    :param partitions: indexes of the partitions whose rows move; None: all rows.
    :param doubt: why the values after the DDL cannot be derived from the stream; empty if they can.
    """

    target: int
    cells: tuple[Cell, ...] | None = None
    partitions: frozenset[int] | None = None
    doubt: str = ""


@dataclass(kw_only=True)
class Version:
    """A table under one name and definition, between two DDLs.

    :param number: position among all versions, in the order of their DDLs.
    :param schema: name of the database; ``table``: of the table.
    :param since: commit-ts of the DDL that made it.
    :param until: commit-ts of the DDL that ended it; None: it did not end.
    :param moves: what becomes of its rows at its end; rows without a move are gone.
    :param doubt: why its rows cannot be derived from the stream; empty if they can.
    """

    number: int
    schema: str
    table: str
    since: int
    definition: Definition
    until: int | None = None
    moves: list[Move] = field(default_factory=list)
    doubt: str = ""

    @property
    def name(self) -> tuple[str, str]:
        """Schema and table."""
        return self.schema, self.table
