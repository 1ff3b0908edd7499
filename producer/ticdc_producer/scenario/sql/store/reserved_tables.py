"""Tables that a step or a large dump fills: the SQL session does not hold all their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.store.cluster import TiDBCluster
from ticdc_producer.scenario.sql.store.followed_tables import FollowedTables
from ticdc_producer.scenario.sql.store.storage import Table

if TYPE_CHECKING:
    from ticdc_producer.scenario.sql.store.generated_table import GeneratedTable

_HINT = "the SQL session does not hold its rows; put this before the step, or use another table"


class ReservedTables:
    """The tables that SQL statements of the scenario may no longer use, or within limits only."""

    def __init__(self) -> None:
        self._reserved: dict[tuple[str, str], TableInfo] = {}
        self._generated: dict[tuple[str, str], GeneratedTable] = {}
        self._dumped: dict[tuple[str, str], Table] = {}
        self._followed: list[FollowedTables] = []
        self._altering = False

    def __contains__(self, name: tuple[str, str]) -> bool:
        """Return whether the table of that schema and name is reserved for a step or a dump."""
        return (name[0].lower(), name[1].lower()) in self._reserved

    def lacks_rows_of(self, table: TableInfo) -> bool:
        """Return whether the session does not have all rows of a table."""
        return (table.schema, table.name) in self or self._is_followed(table)

    def _is_followed(self, table: TableInfo) -> bool:
        return any(followed.fills(table) for followed in self._followed)

    def follow(self, followed: FollowedTables, tables: Iterable[Table]) -> list[FollowedTables]:
        """Follow the tables that a large DataFrame fills.

        :param tables: all tables of the session.
        :return: what followed some of them for the DataFrames before.
        :raises UnsupportedSQL: if another step fills one of them.
        """
        tables, before = [*tables], list[FollowedTables]()
        for table in tables:
            if not followed.fills(table.info):
                continue
            if (table.info.schema, table.info.name) in self:
                raise self._refused(table.info, "one step fills a table; use another table")
            for other in self._followed:
                if other.fills(table.info):
                    other.end(table.info)
                    before.append(other)
        followed.follow(tables)
        self._followed.append(followed)
        return before

    def add(self, table: Table, tables: Iterable[Table], *, enforced: bool = True) -> None:
        """Reserve a table for a step.

        :param tables: all tables of the session.
        :param enforced: whether foreign keys are enforced; a dump turns that off.
        :raises UnsupportedSQL: if the table holds rows, or has a foreign key, or is referenced by one.
        """
        info = table.info
        if self.lacks_rows_of(info):
            raise self._refused(info, "one step fills a table; use another table")
        if table.temporary:
            raise ScenarioError(f"table {info.qualified_name} is temporary: a step cannot fill it")
        if table.rows:
            raise UnsupportedSQL(f"table {info.qualified_name} holds rows already: its step needs it empty")
        if not enforced:
            self._dumped[_name(info)] = table
        elif table.foreign_keys:
            raise UnsupportedSQL(
                f"table {info.qualified_name} has a foreign key: its step does not follow it"
            )
        self._reserved[_name(info)] = info
        self.check(tables, 0)

    def open(self, table: Table, generated: GeneratedTable) -> None:
        """Let statements after a ``generate`` step use the rows of its table."""
        self._generated[_name(table.info)] = generated
        table.source = generated

    def generated(self, table: TableInfo) -> GeneratedTable:
        """Return the table that was opened under the name of ``table``."""
        return self._generated[_name(table)]

    @property
    def has_generated(self) -> bool:
        """True if a ``generate`` step filled a table."""
        return bool(self._generated)

    @contextmanager
    def alteration_by_step(
        self, table: TableInfo, name: str, altered: Callable[[], TableInfo]
    ) -> Iterator[None]:
        """Let the step itself alter its table in the context: both of its names are reserved.

        :param name: name of the table after the DDL.
        :param altered: returns the table after the DDL.
        """
        old_name, new_name = (table.schema.lower(), table.name.lower()), (table.schema.lower(), name.lower())
        self._reserved[new_name] = table
        self._altering = True
        try:
            yield
        finally:
            self._altering = False
        del self._reserved[old_name]
        self._reserved[new_name] = altered()

    def announce(self, table: Table, where: exp.Expr) -> None:
        """Note the rows that a later statement will select, if they were generated."""
        generated = self._generated.get(_name(table.info))
        if generated is not None:
            generated.announce(table, where)

    def use(self, table: Table, *, enforced: bool = True) -> None:
        """Prepare a table for a DML statement.

        :param enforced: whether foreign keys are enforced.
        :raises UnsupportedSQL: if the table is reserved, and its rows cannot be looked up.
        """
        for followed in self._followed:
            if followed.fills(table.info):
                followed.load(table)
                followed.end(table.info)
        if enforced and any(followed.is_related_to(table) for followed in self._followed):
            what = f"a foreign key between {table.info.qualified_name} and a table of a large DataFrame"
            raise UnsupportedSQL(f"{what} is not enforced", hint="set foreign_key_checks = 0 before")
        if not self._reserved:
            return
        name = _name(table.info)
        if name in self._generated:
            self._generated[name].use(table)
        elif name in self._reserved:
            raise self._refused(table.info, _HINT)
        if enforced and self._is_related_to_dumped(table):
            what = f"a foreign key between {table.info.qualified_name} and a table of a large dump"
            raise UnsupportedSQL(f"{what} is not enforced", hint="set foreign_key_checks = 0 before")

    def _is_related_to_dumped(self, table: Table) -> bool:
        if any(_lower(key.parent) in self._dumped for key in table.foreign_keys):
            return True
        name = _name(table.info)
        return any(
            _lower(key.parent) == name for dumped in self._dumped.values() for key in dumped.foreign_keys
        )

    def check(self, tables: Iterable[Table], action: int) -> None:
        """Check all tables after a DDL.

        :param action: the action code of its job; 0 if there is none.
        :raises UnsupportedSQL: if it made a foreign key to a reserved table, or changed one in a way
            that statements after a ``generate`` step may not.
        """
        if self._altering:
            return
        tables = [*tables]
        for followed in self._followed:
            followed.follow(tables, action)
        existing = {_name(table.info): table for table in tables}
        partition_ids = {part.id for table in existing.values() for part in table.info.partitions}
        for name, info in self._reserved.items():
            new = existing[name].info if name in existing else None
            self._follow(name, info, new, is_exchanged=info.table_id in partition_ids)
        for table in existing.values():
            for key in table.foreign_keys:
                if key.parent in self and _lower(key.parent) not in self._dumped:
                    what = f"a foreign key to {'.'.join(key.parent)}, whose rows were generated"
                    raise UnsupportedSQL(f"{what}, is not supported", hint=_HINT)

    def _follow(
        self, name: tuple[str, str], old: TableInfo, new: TableInfo | None, *, is_exchanged: bool
    ) -> None:
        """Check a reserved table after a DDL.

        :param is_exchanged: whether the table became a partition of another table.
        """
        if new == old:
            return
        if new is None or name not in self._generated or is_exchanged:
            generated = self._generated.get(name)
            step = "the step that fills it" if generated is None else "its generate step"
            what = f"DDL of {old.qualified_name} after {step} is not supported"
            raise UnsupportedSQL(what, hint=_HINT if generated is None else generated.POSSIBLE_DDL)
        self._generated[name].follow_ddl(old, new)
        self._reserved[name] = new

    def _refused(self, table: TableInfo, hint: str) -> UnsupportedSQL:
        origin = "were generated" if _name(table) in self._generated else "come from a step or a dump"
        return UnsupportedSQL(f"the rows of {table.qualified_name} {origin}", hint=hint)

    def take_snapshot(self, cluster: TiDBCluster, counts: Iterable[int]) -> None:
        """Note the rows of generated tables that statements used, after some numbers of commits."""
        counts = [*counts]
        for (schema, name), generated in self._generated.items():
            table = cluster.databases[schema].tables.get(name) if schema in cluster.databases else None
            if table is not None:  # else the DDL that removed it is refused
                generated.take_snapshot(table, counts)


def _name(table: TableInfo) -> tuple[str, str]:
    return table.schema.lower(), table.name.lower()


def _lower(name: tuple[str, str]) -> tuple[str, str]:
    return name[0].lower(), name[1].lower()
