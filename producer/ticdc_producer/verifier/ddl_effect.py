"""The effect of a DDL on the known rows of its table, derived from its event."""

from __future__ import annotations

import re

from ticdc_producer.model.ddl_action import CLEARS_TABLES, Action
from ticdc_producer.verifier.events import Effect

_MOVES = (Action.RENAME_TABLE, Action.RENAME_TABLES, Action.EXCHANGE_TABLE_PARTITION)
_MOVES_TEXT = re.compile(r"\b(rename|exchange)\b", re.IGNORECASE)
_CREATES = re.compile(r"\s*create\s+table\b", re.IGNORECASE)
_CLEARS = re.compile(r"\s*(truncate|drop\s+(table|database|schema))\b", re.IGNORECASE)


def ddl_effect(query: str, action: int) -> Effect:
    """What a DDL does to the known rows of its table.

    :param action: TiDB's action code; 0 if the protocol has none, and the first words of the query decide.
    """
    if action == Action.CREATE_TABLE or (not action and _CREATES.match(query)):
        return Effect.CREATES
    if action in CLEARS_TABLES or (not action and _CLEARS.match(query)):
        return Effect.CLEARS
    if action in _MOVES or _MOVES_TEXT.search(query):
        return Effect.MOVES
    return Effect.CHANGES
