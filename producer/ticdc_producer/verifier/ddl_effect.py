"""The effect of a DDL on the known rows of its table, derived from its event."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf

from ticdc_producer.model.ddl_action import CLEARS_TABLES, Action

_MOVES = (Action.RENAME_TABLE, Action.RENAME_TABLES, Action.EXCHANGE_TABLE_PARTITION)
_MOVES_TEXT = r"(?i)\b(rename|exchange)\b"
_CREATES = r"(?i)^\s*create\s+table\b"
_CLEARS = r"(?i)^\s*(truncate|drop\s+(table|database|schema))\b"


def ddl_effect() -> Column:
    """One of:

    * ``creates``: a new table without rows;
    * ``clears``: the table, or all tables of the database, lose all rows;
    * ``moves``: rows move between tables; the event names only one of them;
    * ``changes``: anything else. The values of a column, or the handle key, may have changed.

    If a protocol has no action code of TiDB, the first words of the query decide.
    """
    action = sf.coalesce(sf.col("ddl_type"), sf.lit(0))
    moves = action.isin([int(one) for one in _MOVES]) | sf.rlike("query", sf.lit(_MOVES_TEXT))
    unverifiable = action == 0
    creates = (action == int(Action.CREATE_TABLE)) | (unverifiable & sf.rlike("query", sf.lit(_CREATES)))
    clears = action.isin(sorted(int(one) for one in CLEARS_TABLES))
    return (
        sf.when(creates, "creates")
        .when(clears | (unverifiable & sf.rlike("query", sf.lit(_CLEARS))), "clears")
        .when(moves, "moves")
        .otherwise("changes")
    )
