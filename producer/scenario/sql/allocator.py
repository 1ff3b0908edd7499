"""Counters: the table ids of a cluster, and the row ids of a table."""

from __future__ import annotations

from dataclasses import dataclass

from producer.errors import ScenarioError

FIRST_TABLE_ID = 114
"""What the first table of a fresh cluster gets (golden README, "Ids")."""

_CACHE = 30_000
_MAX_SIGNED = (1 << 63) - 1


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
    """

    base: int = 0
    end: int = 0
    limit: int = _MAX_SIGNED

    def take(self) -> int:
        """The next id.

        :raises ScenarioError: when they are used up.
        """
        if self.base >= self.limit:
            raise ScenarioError("Failed to read auto-increment value from storage engine")
        self.base += 1
        if self.base > self.end:
            self.end = min(self.base - 1 + _CACHE, self.limit)
        return self.base

    def advance(self, used: int) -> None:
        """Take note of an id that was given by hand."""
        if used <= self.base:
            return
        if used > self.end:
            self.end = min(used + _CACHE, self.limit)
        self.base = used
