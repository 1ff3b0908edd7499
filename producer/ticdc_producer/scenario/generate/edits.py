"""The effects of SQL on a generated table after its step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo

SQLRows: TypeAlias = tuple[tuple[bytes, tuple[Value, ...]], ...]
"""Row key and image of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """The effects of SQL on a generated table after its step.

    Statements use a few generated rows, which are looked up. From then on these rows are SQL's, like the rows
    that it inserts. All other rows remain unchanged.

    :param first: number of commits before the first statement that used the table.
    :param last: number of commits after the last such statement.
    :param looked_up: numbers of rows, each time with the number of commits before.
    :param tables: the table after each DDL, with the number of commits then.
    :param truncated: the number of commits after the first TRUNCATE TABLE; None: never.
    :param rows: the rows of SQL at the end.
    :param rows_at: the rows of SQL after the requested numbers of commits.
    :param lost_keys: ids of the columns that no longer have all key values that the step generated.
    """

    first: int
    last: int
    looked_up: Sequence[tuple[int, Sequence[int]]] = ()
    tables: Sequence[tuple[int, TableInfo]] = ()
    truncated: int | None = None
    rows: SQLRows = ()
    rows_at: Mapping[int, SQLRows]
    lost_keys: frozenset[int] = frozenset()

    def table_after(self, commits: int | None) -> TableInfo | None:
        """Return the table after a number of commits of the history; None: no DDL of SQL changed it."""
        versions = [table for since, table in self.tables if commits is None or since <= commits]
        return versions[-1] if versions else None

    def rows_after(self, commits: int | None) -> SQLRows:
        """Return the rows of SQL after a number of commits that was requested; None: at the end."""
        if commits is None or commits >= self.last:
            return self.rows
        return () if commits <= self.first else self.rows_at[commits]

    def looked_up_before(self, commits: int | None) -> list[int]:
        """Return the numbers of the generated rows that are SQL's after some commits; None: at the end."""
        return [*chain.from_iterable(rows for at, rows in self.looked_up if commits is None or at < commits)]

    def is_truncated(self, commits: int | None) -> bool:
        """Return whether no generated row exists after a number of commits; None: at the end."""
        return self.truncated is not None and (commits is None or commits >= self.truncated)
