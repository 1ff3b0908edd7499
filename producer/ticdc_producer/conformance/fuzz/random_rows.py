"""Random changes of rows; each statement succeeds after those before it."""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.conformance.fuzz.random_columns import NULL
from ticdc_producer.conformance.fuzz.random_tables import Draft, Key, RandomTable, key_traps

_MOST_IN_TRANSACTION = (2, 2, 3, 4, 6)


def change_rows(draft: Draft) -> None:
    """Write a statement that changes rows of any table; sometimes two."""
    table = draft.table()
    if not table.key_clause:
        insert(draft, table)
        return
    (operation,) = draft.random.choices(
        [function for function, _ in _OPERATIONS], [weight for _, weight in _OPERATIONS]
    )
    operation(draft, table)


def transaction(draft: Draft) -> int:
    """Write BEGIN … COMMIT; returns the number of operations in it."""
    draft.add("BEGIN")
    before, count = len(draft.statements), draft.random.choice(_MOST_IN_TRANSACTION)
    for _ in range(count):
        change_rows(draft)
    if len(draft.statements) == before:
        draft.statements.pop()
    else:
        draft.add("COMMIT")
    return count


def insert(draft: Draft, table: RandomTable, keys: list[Key] | None = None) -> None:
    """Insert rows of some keys, by default of new ones."""
    count = draft.random.choice((1, 1, 2, 3, 8) if "batch-boundaries" in draft.focus else (1, 1, 2, 3))
    if not table.key_clause:
        _insert_rows(draft, table, [()] * count)
        draft.traps.add("no-key-table")
        return
    new_keys = table.free_keys(draft.random, count) if keys is None else keys
    if new_keys:
        _insert_rows(draft, table, new_keys)


def _insert_rows(draft: Draft, table: RandomTable, keys: list[Key]) -> None:
    rows = []
    for key in keys:
        unique = table.free_unique(draft.random) if table.unique else NULL
        if key:
            table.rows[key] = unique
            draft.traps |= key_traps(key)
        parts = dict(zip(table.key, key, strict=False))
        cells = (
            parts.get(column.name) or (unique if column.unique else draft.value(column))
            for column in table.written
        )
        rows.append(f"({', '.join(cells)})")
    names = [column.name for column in table.written]
    listed = "" if len(names) == len(table.columns) else f" ({', '.join(names)})"
    draft.add(f"INSERT INTO {table.sql_name}{listed} VALUES {', '.join(rows)}")
    _note_definition(draft, table)


def _note_definition(draft: Draft, table: RandomTable) -> None:
    generated = " ".join(column.generated for column in table.columns)
    if "VIRTUAL" in generated:
        draft.traps.add("virtual-column")
    if "STORED" in generated and table.unique:
        draft.traps.add("column-flags")
    if table.partitioning and len(table.rows) > 1:
        draft.traps.add("partitioned-table")


def _update(draft: Draft, table: RandomTable) -> None:
    if not table.rows or not table.values:
        insert(draft, table)
        return
    columns = draft.random.sample(table.values, min(len(table.values), draft.random.choice((1, 1, 2))))
    changes = ", ".join(f"{column.name} = {draft.value(column)}" for column in columns)
    where = f" WHERE {table.where(draft.row(table))}" if draft.random.random() < 0.8 else ""
    draft.add(f"UPDATE {table.sql_name} SET {changes}{where}")


def _delete(draft: Draft, table: RandomTable) -> None:
    if not table.rows:
        insert(draft, table)
        return
    if draft.random.random() < 0.1:
        draft.add(f"DELETE FROM {table.sql_name}")
        draft.traps.add("delete-without-value")
        if len(table.rows) > 1:
            draft.traps.add("delete-dispatch")
        table.rows.clear()
        return
    key = draft.row(table)
    del table.rows[key]
    draft.add(f"DELETE FROM {table.sql_name} WHERE {table.where(key)}")
    draft.traps.add("delete-without-value")


def _replace_row(draft: Draft, table: RandomTable) -> None:
    """Delete a row and insert its key again."""
    if not table.rows:
        return
    key = draft.row(table)
    del table.rows[key]
    draft.add(f"DELETE FROM {table.sql_name} WHERE {table.where(key)}")
    _insert_rows(draft, table, [key])


def move_key(draft: Draft, table: RandomTable) -> None:
    """Change the key of a row."""
    free = table.free_keys(draft.random, 1)
    if not table.rows or not free:
        insert(draft, table)
        return
    old, [new] = draft.row(table), free
    _change_key(draft, table, old, new)
    draft.traps |= {"key-update"} | key_traps(new)


def _change_key(draft: Draft, table: RandomTable, old: Key, new: Key) -> None:
    table.rows[new] = table.rows.pop(old)
    parts = zip(table.key, old, new, strict=True)
    changes = ", ".join(f"{name} = {after}" for name, before, after in parts if before != after)
    draft.add(f"UPDATE {table.sql_name} SET {changes} WHERE {table.where(old)}")


def swap_keys(draft: Draft, table: RandomTable) -> None:
    """Exchange the keys of two rows in one transaction."""
    free = table.free_keys(draft.random, 1)
    while len(table.rows) < 2 and table.free_keys(draft.random, 1):
        insert(draft, table)
    if len(table.rows) < 2 or not free or free[0] in table.rows:
        return
    first, second = draft.random.sample(sorted(table.rows), 2)
    inside = draft.in_transaction
    draft.statements += [] if inside else ["BEGIN"]
    for old, new in ((first, free[0]), (second, first), (free[0], second)):
        _change_key(draft, table, old, new)
    draft.statements += [] if inside else ["COMMIT"]
    draft.traps |= {"key-swap", "key-update"}


def _unique(draft: Draft, table: RandomTable) -> None:
    """Change the unique key of a row."""
    if table.unique is None or not table.rows:
        _update(draft, table)
        return
    key, value = draft.row(table), table.free_unique(draft.random)
    if value != table.rows[key]:
        draft.traps.add("unique-key-update")
    table.rows[key] = value
    draft.add(f"UPDATE {table.sql_name} SET {table.unique.name} = {value} WHERE {table.where(key)}")


def change_in_turn(draft: Draft) -> None:
    """Change a row of two tables in turn, in transactions of their own."""
    for _ in range(3):
        for table in draft.tables[:2]:
            if free := table.free_keys(draft.random, 1):
                insert(draft, table, free)
            else:
                _delete(draft, table)


_OPERATIONS: tuple[tuple[Callable[[Draft, RandomTable], None], int], ...] = (
    (insert, 30),
    (_update, 24),
    (_delete, 12),
    (move_key, 12),
    (swap_keys, 4),
    (_unique, 4),
    (_replace_row, 6),
)
"""Operations and how often they are drawn."""
