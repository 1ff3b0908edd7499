"""The tables that a large DataFrame fills: their versions from its first commit on.

The session runs the DDL of these tables without their rows. The tasks that read the DataFrame find the
version of a table by the commit of a change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from ticdc_producer.model.catalog import Action
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.store.allocator import RowIds
from ticdc_producer.scenario.sql.store.storage import Table

TableName = tuple[str, str]
"""Schema and name in lower case."""
TableCheck = Callable[[TableInfo | None, TableInfo, int], None]
"""Raises an error if the rows of a table cannot follow a DDL. It gets the table before it, None for a new
one; the table after it; and the action code of the DDL, 0 before any."""


@dataclass(frozen=True, slots=True)
class TableEntry:
    """The table that a name has from a commit on.

    :param since: number of the first commit that sees it.
    :param table: None: no table has the name any more.
    :param partitioning: of the table; None if it has no partitions.
    """

    since: int
    name: TableName
    table: TableInfo | None
    partitioning: Partitioning | None = None


class FollowedTables:
    """The versions of all tables from the first commit of a large DataFrame on.

    :param names: the names of the tables that its rows change; without a schema in any database.
    :param commits: returns the number of commits so far.
    :ivar entries: in the order of their commits.
    :ivar table_ids: the tables that the DataFrame fills.
    :ivar counters: by the id of a table that the DataFrame fills, its counter of row ids: as it was first,
        and as it is.
    :ivar load: stores the rows that the DataFrame leaves in a table of the session.
    """

    load: Callable[[Table], None]

    def __init__(
        self,
        names: Collection[TableName],
        commits: Callable[[], int],
        check: TableCheck,
    ) -> None:
        self.entries: list[TableEntry] = []
        self.table_ids: set[int] = set()
        self.counters: dict[int, tuple[RowIds, RowIds]] = {}
        self._names, self._commits, self._check = frozenset(names), commits, check
        self._current: dict[TableName, TableInfo] = {}
        self._parents: frozenset[TableName] = frozenset()
        self._is_open = True
        self._ended: set[int] = set()

    def close(self) -> None:
        """Note that the DataFrame has ended: tables that get one of its names later are not filled by it."""
        self._is_open = False

    def end(self, table: TableInfo) -> None:
        """Note that the rows of a table are no longer those of the DataFrame after the next commit."""
        self._ended.add(table.table_id)
        self.entries.append(TableEntry(self._commits() + 1, table_name(table), None))

    def fills(self, table: TableInfo) -> bool:
        """Return whether the DataFrame changes the rows of a table."""
        if table.table_id in self._ended:
            return False
        if table.table_id in self.table_ids or not self._is_open:
            return table.table_id in self.table_ids
        schema, name = table_name(table)
        return (schema, name) in self._names or ("", name) in self._names

    def follow(self, tables: Iterable[Table], action: int = 0) -> None:
        """Note the tables that a DDL changed.

        :param tables: all tables after it.
        :param action: its action code; 0: there was no DDL.
        :raises UnsupportedSQL: if the rows of a filled table cannot follow the DDL.
        """
        existing = {table_name(table.info): table for table in tables}
        by_id = {table.table_id: table for table in self._current.values()}
        for name in self._current.keys() - existing.keys():
            self.entries.append(TableEntry(self._commits(), name, None))
        for name, table in existing.items():
            if self.fills(table.info):
                first = self.counters.get(table.info.table_id, (replace(table.ids),))[0]
                self.counters[table.info.table_id] = first, table.ids
            if self._current.get(name) == table.info or table.info.table_id in self._ended:
                continue
            before = self._current.get(name)
            if self.fills(table.info):
                self.table_ids.add(table.info.table_id)
                self._check(by_id.get(table.info.table_id), table.info, action)
            elif before is not None and self.fills(before) and action == Action.EXCHANGE_TABLE_PARTITION:
                self._check(before, table.info, action)
            self.entries.append(TableEntry(self._commits(), name, table.info, table.partitioning))
        self._current = {name: table.info for name, table in existing.items()}
        self._parents = frozenset(
            (key.parent[0].lower(), key.parent[1].lower())
            for table in existing.values()
            if table.foreign_keys and self.fills(table.info)
            for key in table.foreign_keys
        )

    def is_related_to(self, table: Table) -> bool:
        """Return whether a foreign key connects a table and one that the DataFrame fills."""
        parents = ((key.parent[0].lower(), key.parent[1].lower()) for key in table.foreign_keys)
        known = (self._current.get(parent) for parent in parents)
        return table_name(table.info) in self._parents or any(
            parent is not None and self.fills(parent) for parent in known
        )


def table_name(table: TableInfo) -> TableName:
    """Return schema and name of a table in lower case."""
    return table.schema.lower(), table.name.lower()
