"""Counters: the table ids of a cluster, and the row ids of a table."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.table import TableInfo

FIRST_TABLE_ID = 114
"""What the first table of a fresh cluster gets (golden README, "Ids")."""

_CACHE = 30_000
_MAX_SIGNED = (1 << 63) - 1
_MAX_UNSIGNED = (1 << 64) - 2


@dataclass(slots=True)
class ObjectIds:
    """Ids of databases, tables, partitions and DDL jobs: one counter for all."""

    following: int = FIRST_TABLE_ID

    def take(self) -> int:
        taken = self.following
        self.following += 1
        return taken


@dataclass(slots=True)
class RowIds:
    """AUTO_INCREMENT and ``_tidb_rowid`` of one table, which share it.

    Ids are cached in runs of 30000; an explicit value inside the run moves ``base`` on, one beyond it
    starts a new run. Source: tidb ``pkg/meta/autoid`` (``alloc4Signed``, ``rebase4Signed``).

    :param base: the last id that is taken; ``end`` the last of the cached run.
    :param cache: length of a run: AUTO_ID_CACHE.
    """

    base: int = 0
    end: int = 0
    limit: int = _MAX_SIGNED
    cache: int = _CACHE

    def take(self) -> int:
        """The next id.

        :raises ScenarioError: when they are used up.
        """
        if self.base >= self.limit:
            raise ScenarioError("Failed to read auto-increment value from storage engine")
        self.base += 1
        if self.base > self.end:
            self.end = min(self.base - 1 + self.cache, self.limit)
        return self.base

    def advance(self, used: int) -> None:
        """Take note of an id that was given by hand."""
        if used <= self.base:
            return
        if used > self.end:
            self.end = min(used + self.cache, self.limit)
        self.base = used

    def forget_cache(self) -> None:
        """Go on behind the cached run, as after a DDL that gives the table a new allocator.

        Source: tidb ``pkg/infoschema/builder.go`` (``getKeptAllocators``).
        """
        self.base = self.end = max(self.base, self.end)

    def resize(self, cache: int) -> None:
        """``AUTO_ID_CACHE = cache``; 0 leaves it as it is."""
        self.forget_cache()
        self.cache = cache or self.cache

    def rebase(self, following: int) -> None:
        """``AUTO_INCREMENT = following``: never back below what was cached."""
        self.forget_cache()
        self.base = self.end = max(self.base, following - 1)


def row_ids(table: TableInfo, *, following: int = 0, cache: int = 0) -> RowIds:
    """The counter of a new table; an unsigned AUTO_INCREMENT column lets it run twice as far.

    :param following: AUTO_INCREMENT of the table; 0 without it.
    :param cache: AUTO_ID_CACHE; 0 without it.
    """
    unsigned = any(column.auto_increment and column.unsigned for column in table.columns)
    limit = _MAX_UNSIGNED if unsigned else _MAX_SIGNED
    return RowIds(base=max(following - 1, 0), limit=limit, cache=cache or _CACHE)
