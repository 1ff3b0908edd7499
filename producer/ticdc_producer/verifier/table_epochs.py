"""Table epochs: the time between two DDLs of a table, and the effect of a DDL on the known rows.

Events of different epochs are not compared: a DDL may add columns with their default, change values, or
change the handle key, all without a row event. A DDL that moves rows between tables counts for all tables;
a DDL without table counts for all tables of its database (TiCDC sends it to another topic).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ticdc_producer.model.catalog import CLEARS_TABLES, Action
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.verifier.events import NOTHING, Effect, Events
from ticdc_producer.verifier.options import VerifyOptions


@dataclass(frozen=True, kw_only=True)
class TableDDL:
    """A DDL of the stream.

    :param table: empty for a DDL of a database.
    :param action: TiDB's action code; 0 if unknown.
    """

    topic: str
    schema: str
    table: str
    commit_ts: int
    effect: Effect
    action: int


class TableEpochs:
    """The DDLs of each table."""

    def __init__(self, ddls: Iterable[TableDDL], options: VerifyOptions) -> None:
        self._ddls = list(ddls)
        exact = options.fidelity.commit_ts == "exact"
        self._side: Literal["left", "right"] = "left" if exact else "right"
        # A created table is empty; but a stream read from the middle may lack rows inserted after CREATE.
        self._emptying = {Effect.CLEARS} | ({Effect.CREATES} if options.from_beginning else set())
        self._of_table: dict[tuple[str, str, str], tuple[Numbers, Flags]] = {}

    def before(self, events: Events) -> tuple[Numbers, Flags]:
        """Return commit-ts of the last DDL of each row's table before it, and whether the table was empty.

        The commit-ts is -1 before the first DDL. A row with the ts of a DDL belongs before it; if both are
        exact to the millisecond only, their order is unknown.

        >>> ddl = TableDDL(topic="t", schema="s", table="a", commit_ts=7, effect=Effect.CLEARS, action=11)
        >>> columns = {"topic": "t", "schema": "s", "table": ["a", "a", "b"], "commit_ts": [7, 8, 8]}
        >>> ts, empty = TableEpochs([ddl], VerifyOptions()).before(Events.with_columns(3, **columns))
        >>> ts.tolist(), empty.tolist()
        ([-1, 7, -1], [False, True, False])
        """
        ts, empty = np.full(len(events), NOTHING), np.zeros(len(events), bool)
        if not self._ddls:
            return ts, empty
        topic_codes, topics = events.topics
        table_codes, tables = events.tables
        both, numbers = np.unique(topic_codes * len(tables) + table_codes, return_inverse=True)
        for number, code in enumerate(both.tolist()):
            topic, table = divmod(code, len(tables))
            moments, leaves = self._of(topics[topic], *tables[table])
            rows = np.flatnonzero(numbers == number)
            last = np.searchsorted(moments, events.commit_ts[rows], self._side) - 1
            known = last >= 0
            ts[rows[known]], empty[rows[known]] = moments[last[known]], leaves[last[known]]
        return ts, empty

    def _of(self, topic: str, schema: str, table: str) -> tuple[Numbers, Flags]:
        """Return the DDLs of a table in order; of equal ts, those after which rows are unknown come last."""
        name = topic, schema, table
        if name not in self._of_table:
            ddls = sorted(
                {
                    (ddl.commit_ts, ddl.effect not in self._emptying)
                    for ddl in self._ddls
                    if _concerns(ddl, topic, schema, table)
                }
            )
            moments = np.array([ts for ts, _ in ddls], np.int64)
            self._of_table[name] = moments, np.array([not unknown for _, unknown in ddls], bool)
        return self._of_table[name]


def _concerns(ddl: TableDDL, topic: str, schema: str, table: str) -> bool:
    if ddl.effect == Effect.MOVES:
        return True
    if not ddl.table:
        return ddl.schema == schema
    return (ddl.topic, ddl.schema, ddl.table) == (topic, schema, table)


_MOVES = (Action.RENAME_TABLE, Action.RENAME_TABLES, Action.EXCHANGE_TABLE_PARTITION)
_MOVES_TEXT = re.compile(r"\b(rename|exchange)\b", re.IGNORECASE)
_CREATES = re.compile(r"\s*create\s+table\b", re.IGNORECASE)
_CLEARS = re.compile(r"\s*(truncate|drop\s+(table|database|schema))\b", re.IGNORECASE)


def ddl_effect(query: str, action: int) -> Effect:
    """Return what a DDL does to the known rows of its table.

    :param action: TiDB's action code; 0 if the protocol has none, and the first words of the query decide.
    """
    if action == Action.CREATE_TABLE or (not action and _CREATES.match(query)):
        return Effect.CREATES
    if action in CLEARS_TABLES or (not action and _CLEARS.match(query)):
        return Effect.CLEARS
    if action in _MOVES or _MOVES_TEXT.search(query):
        return Effect.MOVES
    return Effect.CHANGES
