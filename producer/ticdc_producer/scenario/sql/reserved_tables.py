"""Tables that a ``generate`` or ``data`` step fills: the SQL session does not hold their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.storage import Table

_HINT = "generated rows are not in the SQL session; put this before the generate step, or use another table"


class ReservedTables:
    """The tables that SQL statements of the scenario may no longer use."""

    def __init__(self) -> None:
        self._reserved: dict[tuple[str, str], TableInfo] = {}
        self._altering = False

    def __contains__(self, name: tuple[str, str]) -> bool:
        """Whether the table of that schema and name is reserved."""
        return (name[0].lower(), name[1].lower()) in self._reserved

    def add(self, table: Table, tables: Iterable[Table]) -> None:
        """Reserve a table for a step.

        :param tables: all tables of the session.
        :raises UnsupportedSQL: if the table holds rows, or has a foreign key, or is referenced by one.
        """
        info = table.info
        self.refuse(info)
        if table.rows:
            raise UnsupportedSQL(f"table {info.qualified_name} holds rows already: generate needs it empty")
        if table.foreign_keys:
            raise UnsupportedSQL(
                f"table {info.qualified_name} has a foreign key: generate does not follow it"
            )
        self._reserved[info.schema.lower(), info.name.lower()] = info
        self.check(tables)

    @contextmanager
    def alteration_by_step(
        self, table: TableInfo, name: str, altered: Callable[[], TableInfo]
    ) -> Iterator[None]:
        """Context in which the step itself may alter its table: both of its names are reserved.

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

    def refuse(self, table: TableInfo) -> None:
        """:raises UnsupportedSQL: if the table is reserved."""
        if (table.schema, table.name) in self:
            raise UnsupportedSQL(f"the rows of {table.qualified_name} were generated", hint=_HINT)

    def check(self, tables: Iterable[Table]) -> None:
        """Check all tables after a DDL.

        :raises UnsupportedSQL: if it changed a reserved table, or made a foreign key to one.
        """
        if self._altering:
            return
        existing = {(table.info.schema.lower(), table.info.name.lower()): table for table in tables}
        for name, info in self._reserved.items():
            if name not in existing or existing[name].info != info:
                what = f"DDL of {info.qualified_name} after its generate step is not supported"
                raise UnsupportedSQL(what, hint=_HINT)
        for table in existing.values():
            for key in table.foreign_keys:
                if key.parent in self:
                    what = f"a foreign key to {'.'.join(key.parent)}, whose rows were generated"
                    raise UnsupportedSQL(f"{what}, is not supported", hint=_HINT)
