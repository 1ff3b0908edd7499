"""Tables that a ``generate`` step fills: the session does not have their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.storage import Table

_HINT = "generated rows are not in the SQL session; put this before the generate step, or use another table"


class GeneratedTables:
    """What must not be touched any more."""

    def __init__(self) -> None:
        self._closed: dict[tuple[str, str], TableInfo] = {}
        self._changing = False

    def __contains__(self, name: tuple[str, str]) -> bool:
        """Whether the table of that schema and name is one."""
        return (name[0].lower(), name[1].lower()) in self._closed

    def add(self, table: Table, tables: Iterable[Table]) -> None:
        """Close a table behind its ``generate`` step.

        :param tables: all there are.
        :raises UnsupportedSQL: if it holds rows, or a foreign key ties it to another table.
        """
        info = table.info
        self.refuse(info)
        if table.rows:
            raise UnsupportedSQL(f"table {info.qualified_name} holds rows already: generate needs it empty")
        if table.foreign_keys:
            raise UnsupportedSQL(
                f"table {info.qualified_name} has a foreign key: generate does not follow it"
            )
        self._closed[info.schema.lower(), info.name.lower()] = info
        self.check(tables)

    @contextmanager
    def changing(self, table: TableInfo, name: str, changed: Callable[[], TableInfo]) -> Iterator[None]:
        """While the step that a table was left to changes it: it is closed under both of its names.

        :param name: what the table is called in the end; ``changed`` gives it as it is then.
        """
        before, behind = (table.schema.lower(), table.name.lower()), (table.schema.lower(), name.lower())
        self._closed[behind] = table
        self._changing = True
        try:
            yield
        finally:
            self._changing = False
        del self._closed[before]
        self._closed[behind] = changed()

    def refuse(self, table: TableInfo) -> None:
        """:raises UnsupportedSQL: for a table whose rows were generated."""
        if (table.schema, table.name) in self:
            raise UnsupportedSQL(f"the rows of {table.qualified_name} were generated", hint=_HINT)

    def check(self, tables: Iterable[Table]) -> None:
        """Look at all tables after a DDL.

        :raises UnsupportedSQL: if it changed a closed one, or tied another to it.
        """
        if self._changing:
            return
        there = {(table.info.schema.lower(), table.info.name.lower()): table for table in tables}
        for name, info in self._closed.items():
            if name not in there or there[name].info != info:
                what = f"DDL of {info.qualified_name} behind its generate step is not supported"
                raise UnsupportedSQL(what, hint=_HINT)
        for table in there.values():
            for key in table.foreign_keys:
                if key.parent in self:
                    what = f"a foreign key to {'.'.join(key.parent)}, whose rows were generated"
                    raise UnsupportedSQL(f"{what}, is not supported", hint=_HINT)
