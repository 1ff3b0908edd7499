"""The plan of a large frame with several tables: what its tasks have to know besides its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.columns.key_columns import stored_key
from ticdc_producer.scenario.columns.row_images import RowVersions
from ticdc_producer.scenario.frames.frame_rows import FrameColumnNames, FrameColumns
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.store.followed_tables import TableEntry, TableName

if TYPE_CHECKING:
    from ticdc_producer.scenario.frames.frame import Frame

NO_TABLE = -1


@dataclass(frozen=True)
class Numbering:
    """The numbers of the commits of a frame.

    :param column: the name of their column, for messages.
    :param starts: numbers of transactions from which on an offset holds, ascending.
    :param offsets: the number of the commit less that of the transaction.
    :param statements: the numbers of the transactions that are a statement, ascending.
    """

    column: str
    starts: tuple[int, ...]
    offsets: tuple[int, ...]
    statements: tuple[int, ...] = ()

    def commits(self, numbers: Numbers) -> Numbers:
        """Return the numbers of the commits of transactions.

        >>> numbering = Numbering("txn", starts=(1, 3), offsets=(9, 11))  # two statements precede txn 3
        >>> numbering.commits(np.array([1, 2, 3, 4])).tolist()
        [10, 11, 14, 15]
        """
        at = np.searchsorted(np.array(self.starts, np.int64), numbers, side="right") - 1
        commits: Numbers = numbers + np.array(self.offsets, np.int64)[at]
        return commits

    def text(self, commit: int) -> str:
        """Return the transaction of a commit as text, for messages."""
        for start, offset in zip(reversed(self.starts), reversed(self.offsets), strict=True):
            if commit - offset >= start:
                return f"{self.column} {commit - offset}"
        return "an earlier step"


@dataclass(frozen=True, kw_only=True)
class FramePlan:
    """A large frame with several tables, bound to its tables and to its commits.

    :param first_commit: number of its first commit.
    :param stop: number of the first commit after it.
    :param entries: the tables by name, from the first commit to the end of the scenario.
    :param databases: the current databases, each with the number of the first commit that sees it.
    :param table_ids: the tables that the frame fills.
    :param rows_before: rows that the tables had before, by table: the hidden row id, and canonical values of
        all columns.
    :param row_ids: by the id of a table whose rows get hidden row ids, the last one before the frame.
    :param sharing: those of these tables whose AUTO_INCREMENT column has the same counter.
    :param largest_commit: most rows of one transaction; None: it is not known.
    :param earlier: the frames that filled tables before, as they are at the first commit.
    :param mode: the settings of the session, which decide conversions.
    :param has_resolved: whether the rows have all resolved events up to the last commit.
    """

    file: str
    line: int
    frame: Frame
    columns: FrameColumns
    numbering: Numbering
    first_commit: int
    stop: int
    entries: tuple[TableEntry, ...]
    databases: tuple[tuple[int, str], ...]
    table_ids: frozenset[int]
    rows_before: tuple[tuple[TableInfo, tuple[tuple[int, tuple[Value, ...]], ...]], ...]
    row_ids: Mapping[int, int]
    sharing: frozenset[int]
    mode: SQLMode
    largest_commit: int | None = None
    earlier: tuple[FramePlan, ...] = ()
    has_resolved: bool = False

    @property
    def what(self) -> str:
        """The frame in words, as an engine that cannot read it names it; empty if each engine can."""
        frames = (self.frame, *(plan.frame for plan in self.earlier))
        return "" if all(frame.is_local for frame in frames) else "a large DataFrame of Spark or at a URI"

    def origin(self, commit: int) -> str:
        """Return the transaction of a change as text, for messages."""
        return "of an earlier step" if commit < 0 else f"of {self.numbering.text(commit)}"

    @property
    def is_numbered_by_ts(self) -> bool:
        """Whether the commits are numbered by their commit-ts."""
        return self.columns.number == "commit_ts"

    @property
    def deletes_by_key(self) -> bool:
        """Whether the rows before deletes are given by their keys alone."""
        return not isinstance(self.columns, FrameColumnNames) and not self.columns.before

    @property
    def canonical(self) -> bool:
        """Whether the images have canonical values."""
        return isinstance(self.columns, FrameColumnNames) and self.columns.canonical

    @property
    def has_hidden_ids(self) -> bool:
        """Whether rows may have hidden ids, which stay if the handle key of a row changes."""
        tables = (entry.table for entry in self.entries if entry.table is not None)
        return self.canonical and not all(stored_key(table).integer for table in tables)

    @cached_property
    def versions_with_hidden_ids(self) -> list[int]:
        """The versions of tables without a clustered primary key."""
        tables = (entry.table for entry in self.entries if entry.table is not None)
        return [table.version for table in tables if table.clustered_key is None]

    @cached_property
    def versions_with_row_ids(self) -> list[int]:
        """The versions of the tables whose rows get hidden row ids."""
        return [table.version for table in self.versions.tables if table.table_id in self.row_ids]

    @cached_property
    def versions(self) -> RowVersions:
        """All versions of all tables."""
        return RowVersions([entry.table for entry in self.entries if entry.table is not None])

    @cached_property
    def partitioning(self) -> dict[int, Partitioning]:
        """The partitioning of each version that has partitions."""
        entries = ((entry.table, entry.partitioning) for entry in self.entries)
        return {table.version: of for table, of in entries if table is not None and of is not None}

    @cached_property
    def _by_name(self) -> dict[TableName, tuple[Numbers, Numbers]]:
        """The commits from which on a name has a version, and the versions."""
        lists: dict[TableName, list[tuple[int, int]]] = {}
        for entry in self.entries:
            version = NO_TABLE if entry.table is None else entry.table.version
            lists.setdefault(entry.name, []).append((entry.since, version))
        return {name: _two_columns(pairs) for name, pairs in lists.items()}

    def versions_at(self, name: TableName, commits: Numbers) -> Numbers:
        """Return the versions of the table of a name at some commits; ``NO_TABLE`` if there is none.

        >>> table = TableInfo(schema="s", name="t", table_id=1, version=4, columns=())
        >>> entries = TableEntry(2, ("s", "t"), table), TableEntry(5, ("s", "t"), None)  # DROP TABLE
        >>> columns = {"entries": entries, "databases": ((0, "u"), (3, "S"))}  # USE S
        >>> plan, commits = FramePlan(**dict.fromkeys(FramePlan.__annotations__) | columns), np.arange(1, 6)
        >>> plan.versions_at(("s", "t"), commits).tolist(), plan.versions_at(("", "t"), commits).tolist()
        ([-1, 4, 4, 4, -1], [-1, -1, 4, 4, -1])

        :param name: without a schema, that of the current database.
        """
        schema, table = name
        versions = np.full(len(commits), NO_TABLE)
        if not schema:
            since, _ = _two_columns([(first, 0) for first, _ in self.databases])
            current = np.searchsorted(since, commits, side="right") - 1
            for index in np.unique(current).tolist():
                own = current == index
                versions[own] = self.versions_at((self.databases[index][1].lower(), table), commits[own])
            return versions
        if name in self._by_name:
            since, known = self._by_name[name]
            at = np.searchsorted(since, commits, side="right") - 1
            versions = np.where(at < 0, NO_TABLE, known[at])
        return versions

    def tables_after(self, commits: int | None) -> Iterator[TableInfo]:
        """Yield the tables that the frame fills, as they are after some commits; None: after all."""
        current: dict[TableName, TableInfo | None] = {}
        for entry in self.entries:
            if commits is None or entry.since <= commits:
                current[entry.name] = entry.table
        yield from (t for t in current.values() if t is not None and t.table_id in self.table_ids)


def _two_columns(pairs: list[tuple[int, int]]) -> tuple[Numbers, Numbers]:
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]
