"""Random histories: statements on a few tables, each of which succeeds after those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from ticdc_producer.conformance.fuzz.draft import Draft
from ticdc_producer.conformance.fuzz.random_ddl import (
    add_column,
    change_definitions,
    create_table,
    exchange_partition,
    swap_names,
    truncate,
)
from ticdc_producer.conformance.fuzz.random_rows import change_rows, insert, move_key, swap_keys, transaction
from ticdc_producer.conformance.fuzz.random_tables import RandomTable

_LENIENT = "SET sql_mode = 'STRICT_TRANS_TABLES'"
"""The mode for zero dates."""
_DDL_KINDS = 5
"""Different DDLs from which on a history is a ``ddl-zoo``."""
_TRANSACTIONS = 0.3
"""Share of transactions of several statements."""
_OF_SEVERAL_TABLES = frozenset({"rename-swap", "split-ddl", "replay-one-table"})


@dataclass(frozen=True, kw_only=True)
class RandomHistory:
    """The statements of a history.

    :param traps: traps of the catalogue that they produce.
    """

    statements: tuple[str, ...]
    traps: frozenset[str]


def random_history(random: Random, focus: frozenset[str], *, ddl: float, length: int) -> RandomHistory:
    """A history of some tables that are empty at first.

    :param focus: traps that it should have, as far as statements produce them.
    :param ddl: share of DDLs among the operations.
    :param length: number of operations; a transaction may have several.
    """
    draft = Draft(random, focus)
    for _ in range(max(1 + bool(focus & _OF_SEVERAL_TABLES), random.choice((1, 1, 1, 2, 3)))):
        create_table(draft)
    if any(column.type.sql_mode for table in draft.tables for column in table.columns):
        draft.statements.insert(0, _LENIENT)
    insert(draft, draft.table())
    while length > 0:
        if random.random() < ddl:
            change_definitions(draft)
            length -= 1
        elif random.random() < _TRANSACTIONS:
            length -= transaction(draft)
        else:
            change_rows(draft)
            length -= 1
    for trap, write in _LAST.items():
        if trap in focus and trap not in draft.traps:
            write(draft)
    zoo = {"ddl-zoo"} if len(draft.ddl_kinds) >= _DDL_KINDS else set()
    return RandomHistory(statements=tuple(draft.statements), traps=frozenset(draft.traps | zoo))


def _at_key(write: Callable[[Draft, RandomTable], None]) -> Callable[[Draft], None]:
    def of_keyed(draft: Draft) -> None:
        keyed = [table for table in draft.tables if table.key_clause]
        if keyed:
            write(draft, keyed[0])

    return of_keyed


_LAST: Mapping[str, Callable[[Draft], None]] = {
    "key-update": _at_key(move_key),
    "key-swap": _at_key(swap_keys),
    "rename-swap": swap_names,
    "split-ddl": swap_names,
    "schema-change": add_column,
    "added-column-default": add_column,
    "duplicate-ddl": truncate,
    "ddl-at-resolved-ts": truncate,
    "exchange-partition": exchange_partition,
}
"""What a history does at its end for a trap of the focus that it does not have yet."""
