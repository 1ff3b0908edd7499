"""A table that a ``generate`` step filled, and that SQL uses after the step.

The session holds only the rows that statements need: those that they change, and those whose keys they may
repeat. The generator computes a row from its number alone, and the number follows from the row's key. So the
rows that a statement needs are found before it runs, and the ordinary statement then runs on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.event import Value
from ticdc_producer.model.row_key import key_handle
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.generate.edited_rows import (
    check_rows_have_keys,
    last_id,
    numbered_columns,
    numbers_in_conflict,
    row_number,
)
from ticdc_producer.scenario.generate.edits import Edits, SQLRows
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.sql.definition.column_changes import is_truncated, only_columns_changed
from ticdc_producer.scenario.sql.definition.generated import fill_generated
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.store.lookup import values_of_column
from ticdc_producer.scenario.sql.store.storage import Row, Table

MOST_ROWS = 10_000
"""Maximum number of generated rows that one statement may look up."""


class GeneratedTable:
    """The generated rows of a table that statements use.

    :param plan: of the step.
    :param commits: returns the number of commits so far.
    :param mode: returns the current SQL mode.
    :cvar POSSIBLE_DDL: the hint of an error about any other DDL.
    """

    POSSIBLE_DDL = "only ADD, DROP and RENAME COLUMN and TRUNCATE TABLE are"

    def __init__(self, plan: GeneratePlan, commits: Callable[[], int], mode: Callable[[], SQLMode]) -> None:
        self._plan, self._commits, self._mode = plan, commits, mode
        self._first = self._last = -1
        self._known: set[int] = set()
        self._announced: set[int] = set()
        self._looked_up: list[tuple[int, Sequence[int]]] = []
        self._key_values: dict[int, set[Value]] = {}
        self._tables: list[tuple[int, TableInfo]] = []
        self._truncated: int | None = None
        self._rows_at: dict[int, SQLRows] = {}

    @property
    def is_used(self) -> bool:
        """True if a statement used the table after its step."""
        return self._first >= 0

    def use(self, table: Table) -> None:
        """Prepare the table for a DML statement.

        :raises UnsupportedSQL: for a table whose rows cannot be looked up.
        """
        if self._truncated is None:
            check_rows_have_keys(self._plan, table.info)
            table.ids.advance(last_id(self._plan))
        self._use(self._commits(), self._commits() + 1)

    def _use(self, first: int, last: int) -> None:
        self._first = first if self._first < 0 else self._first
        self._last = last

    def announce(self, table: Table, where: exp.Expr) -> None:
        """Note the rows that a later statement needs, so that one pass finds the rows of many statements."""
        if self._truncated is None:
            self._announced.update(self._selected(table.info, where) or ())

    def load_selected(self, table: Table, where: exp.Expr | None) -> None:
        """Load the rows that a WHERE may select.

        :raises UnsupportedSQL: for a condition that does not give the keys of the rows, or too many.
        """
        numbers = None if where is None else self._selected(table.info, where)
        if numbers is None:
            columns = numbered_columns(self._plan, table.info)
            names = " or ".join(table.info.columns[offset].name for offset in columns)
            what = f"the rows of {table.info.qualified_name} were generated: WHERE must give their keys"
            hint = f"compare {names} with literals, by = or IN; AND may add other conditions"
            raise UnsupportedSQL(what, hint=hint)
        self._load(table, numbers)

    def _selected(self, table: TableInfo, where: exp.Expr) -> set[int] | None:
        """Return the numbers of the rows that a WHERE may select; None if they do not follow from it."""
        for offset, column in numbered_columns(self._plan, table).items():
            values = values_of_column(where, table.columns[offset], self._mode())
            if values is not None:
                numbers = (row_number(column, value) for value in values)
                return {number for number in numbers if number is not None and number < self._plan.all_rows}
        return None

    def load_conflicting(self, table: Table, rows: Iterable[Sequence[Value]]) -> None:
        """Load the rows that may have a unique key in common with some rows.

        :raises UnsupportedSQL: if they are too many.
        """
        numbers = {number for row in rows for number in numbers_in_conflict(self._plan, table.info, row)}
        self._load(table, numbers)

    def _load(self, table: Table, numbers: set[int]) -> None:
        if len(numbers) > MOST_ROWS:
            what = f"the statement uses {len(numbers)} generated rows of {table.info.qualified_name}"
            raise UnsupportedSQL(f"{what}, more than {MOST_ROWS}", hint="write several statements")
        if numbers <= self._known:
            return
        from ticdc_producer.scenario.generate.edited_rows import generated_rows  # needs Arrow

        missing = sorted((numbers | self._announced) - self._known)
        for key, image in generated_rows(self._plan, missing, table.info):
            table.put(self._row(table, key, image))
        self._known.update(missing)
        self._looked_up.append((self._commits(), tuple(missing)))
        self._announced.clear()

    def _row(self, table: Table, key: bytes, image: Sequence[Value]) -> Row:
        values: list[Value] = [None] * len(table.info.columns)
        for offset, value in zip(table.info.sent, image, strict=True):
            values[offset] = value
        fill_generated(Scope(replace(self._mode(), strict=False), table.info, values))
        for offset, column in numbered_columns(self._plan, table.info).items():
            self._key_values.setdefault(column.column.id, set()).add(values[offset])
        row_id = key_handle(key) if table.has_hidden_id else 0
        return table.make_row(values, row_id, self._plan.table.stored_ids)

    def follow_ddl(self, old: TableInfo, new: TableInfo) -> None:
        """Note a DDL of the table that just ran.

        :raises UnsupportedSQL: for a DDL of another kind than ``POSSIBLE_DDL``.
        """
        truncated = is_truncated(old, new)
        if not truncated and not only_columns_changed(old, new):
            what = f"DDL of {old.qualified_name} after its generate step is not supported"
            raise UnsupportedSQL(what, hint=self.POSSIBLE_DDL)
        commits = self._commits()
        self._use(commits - 1, commits)
        self._tables.append((commits, new))
        if truncated and self._truncated is None:
            self._truncated = commits

    def take_snapshot(self, table: Table, counts: Iterable[int]) -> None:
        """Note the rows of SQL after some numbers of commits."""
        self._rows_at.update(dict.fromkeys(counts, _rows(table)))

    def edits(self, table: Table) -> Edits:
        """Return the edits that SQL made so far."""
        return Edits(
            first=self._first,
            last=self._last,
            looked_up=tuple(self._looked_up),
            tables=tuple(self._tables),
            truncated=self._truncated,
            rows=_rows(table),
            rows_at=dict(self._rows_at),
            lost_keys=self._lost_keys(table),
        )

    def _lost_keys(self, table: Table) -> frozenset[int]:
        """Return the ids of the numbered columns that lost a value or no longer exist."""
        generated = {column.column.id for column in numbered_columns(self._plan, self._plan.table).values()}
        if self._truncated is not None:
            return frozenset(generated)
        offsets = {column.id: offset for offset, column in enumerate(table.info.columns)}
        return frozenset(
            column
            for column in generated
            if column not in offsets
            or not self._key_values.get(column, set())
            <= {row.values[offsets[column]] for row in table.rows.values()}
        )


def _rows(table: Table) -> SQLRows:
    return tuple((row.key, table.image(row.values)) for row in table.scan())
