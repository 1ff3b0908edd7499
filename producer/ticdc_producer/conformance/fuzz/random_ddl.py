"""Random DDLs between the changes of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ticdc_producer.conformance.fuzz.random_columns import RandomColumn, random_type, random_value, renamed
from ticdc_producer.conformance.fuzz.random_rows import insert
from ticdc_producer.conformance.fuzz.random_tables import Draft, random_table

_MAX_TABLES = 3
_LENIENT = "SET sql_mode = 'STRICT_TRANS_TABLES'"
"""The mode for zero dates."""


def change_definitions(draft: Draft) -> None:
    """Write a DDL, if the tables allow the one that is drawn."""
    (operation,) = draft.random.choices(
        [function for function, _ in _OPERATIONS], [weight for _, weight in _OPERATIONS]
    )
    operation(draft)


def create_table(draft: Draft) -> None:
    """Create one more table, as long as there are few.

    The first statement sets the mode for zero dates, whenever a table has them.
    """
    if len(draft.tables) < _MAX_TABLES:
        table = random_table(draft.random, draft.created, draft.focus if not draft.tables else frozenset())
        draft.created = (draft.created + 1) % _MAX_TABLES
        if table.sql_name not in {existing.sql_name for existing in draft.tables}:
            draft.tables.append(table)
            draft.add(table.definition, "create")
            if any(column.type.sql_mode for column in table.columns) and _LENIENT not in draft.statements:
                draft.statements.insert(0, _LENIENT)


def truncate(draft: Draft) -> None:
    """Remove the rows of a table, if possible of one that has some."""
    table = max(
        draft.random.sample(draft.tables, len(draft.tables)), key=lambda candidate: bool(candidate.rows)
    )
    table.rows.clear()
    draft.add(f"TRUNCATE TABLE {table.sql_name}", "truncate")


def _recreate(draft: Draft) -> None:
    table = draft.table()
    table.rows.clear()
    table.as_defined = True
    draft.add(f"DROP TABLE {table.sql_name}", "drop")
    draft.add(table.definition, "create")


def add_column(draft: Draft) -> None:
    """Add a column, and update a row from before."""
    table, kind = draft.table(), random_type(draft.random)
    name = f"a{len(table.columns)}"
    if kind.sql_mode or any(column.name == name for column in table.columns):
        return
    column = RandomColumn(name=name, type=kind)
    if kind.name in ("int", "varchar", "bigint", "decimal", "enum"):
        column = replace(column, default=random_value(draft.random, replace(column, nullable=False)).literal)
        if column.default.startswith(("UNHEX", "REPEAT")):
            column = replace(column, default="")
    before = set(table.rows)
    table.columns.append(column)
    draft.add(f"ALTER TABLE {table.sql_name} ADD COLUMN {column.definition}", "add")
    if before and table.key_clause:
        draft.traps.add("schema-change")
        if column.default:
            draft.traps.add("added-column-default")
        draft.add(
            f"UPDATE {table.sql_name} SET {table.values[0].name} = {draft.value(table.values[0])} "
            f"WHERE {table.where(draft.row(table))}"
        )


def _drop_column(draft: Draft) -> None:
    table = draft.table()
    if len(table.values) > 1 and table.independent:
        column = draft.random.choice(table.independent)
        table.columns.remove(column)
        table.as_defined = False
        draft.add(f"ALTER TABLE {table.sql_name} DROP COLUMN {column.name}", "drop column")
        draft.traps.add("schema-change")


def _rename_column(draft: Draft) -> None:
    table = draft.table()
    if table.independent:
        column = draft.random.choice(table.independent)
        name = f"r{len(draft.statements)}"
        table.columns[table.columns.index(column)] = renamed(column, name)
        text = f"ALTER TABLE {table.sql_name} RENAME COLUMN {column.name} TO {name}"
        draft.add(text, "rename column")
        draft.traps.add("schema-change")


def _index(draft: Draft) -> None:
    table = draft.table()
    table.as_defined = False
    text = f"CREATE INDEX i{len(draft.statements)} ON {table.sql_name} ({table.columns[0].name})"
    draft.add(text, "index")


def _rename(draft: Draft) -> None:
    table, name = draft.table(), f"n{len(draft.statements)}"
    draft.add(f"RENAME TABLE {table.sql_name} TO {table.schema}.{name}", "rename")
    table.name = name


def swap_names(draft: Draft) -> None:
    """Exchange the names of two tables."""
    if len(draft.tables) > 1:
        first, second = draft.random.sample(draft.tables, 2)
        spare = f"test.n{len(draft.statements)}"
        steps = ((first.sql_name, spare), (second.sql_name, first.sql_name), (spare, second.sql_name))
        draft.add(f"RENAME TABLE {', '.join(f'{old} TO {new}' for old, new in steps)}", "rename")
        first.name, second.name = second.name, first.name
        draft.traps |= {"rename-swap", "split-ddl"}


def exchange_partition(draft: Draft) -> None:
    """Exchange the first partition of a table for the rows of a new table with the same columns.

    TiDB compares the indexes and the ids of columns, too.
    """
    partitioned = [
        table for table in draft.tables if table.partitioning and table.key_clause and table.as_defined
    ]
    if not partitioned:
        return
    table = draft.random.choice(partitioned)
    twin = replace(
        table, name=f"x{len(draft.statements)}", partitioning="", columns=[*table.columns], rows={}
    )
    draft.tables.append(twin)
    draft.add(twin.definition, "create")
    insert(draft, twin, [key for key in twin.free_keys(draft.random, 2) if table.in_first_partition(key)])
    draft.add(f"ALTER TABLE {table.sql_name} EXCHANGE PARTITION p0 WITH TABLE {twin.sql_name}", "exchange")
    moved = {key: value for key, value in table.rows.items() if table.in_first_partition(key)}
    others = {key: value for key, value in table.rows.items() if key not in moved}
    table.rows, twin.rows = {**others, **twin.rows}, moved
    draft.traps.add("exchange-partition")


def _database(draft: Draft) -> None:
    draft.add("ALTER DATABASE test CHARACTER SET utf8mb4", "database")


_KINDS_OF_ZOO = 5


def has_ddl_zoo(draft: Draft) -> bool:
    """Return whether there are DDLs of many kinds, one of them of a database, as a ``ddl-zoo`` has them."""
    return len(draft.ddl_kinds) >= _KINDS_OF_ZOO and "database" in draft.ddl_kinds


def complete_ddl_zoo(draft: Draft) -> None:
    """Write DDLs of kinds that the history lacks, until it has a ``ddl-zoo``."""
    simple = {"database": _database, "index": _index, "truncate": truncate, "drop": _recreate}
    for kind, write in simple.items():
        if kind not in draft.ddl_kinds and not has_ddl_zoo(draft):
            write(draft)


_OPERATIONS: tuple[tuple[Callable[[Draft], None], int], ...] = (
    (truncate, 6),
    (_recreate, 2),
    (create_table, 3),
    (add_column, 3),
    (_drop_column, 2),
    (_rename_column, 1),
    (_index, 2),
    (_rename, 1),
    (swap_names, 1),
    (exchange_partition, 2),
    (_database, 1),
)
"""Operations and how often they are drawn."""
