"""What a DDL does to the rows that a reader knows of its table, as far as its event tells."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf

from ticdc_producer.model.ddl_action import CLEARS_TABLES, Action

_SEVERAL = (Action.RENAME_TABLE, Action.RENAME_TABLES, Action.EXCHANGE_TABLE_PARTITION)
_SEVERAL_WORDS = r"(?i)\b(rename|exchange)\b"
_CREATES = r"(?i)^\s*create\s+table\b"
_CLEARS = r"(?i)^\s*(truncate|drop\s+(table|database|schema))\b"


def ddl_effect() -> Column:
    """One of:

    * ``creates``: the table has no rows yet;
    * ``clears``: the table, or all of the database's, have no rows any more;
    * ``moves``: rows of several tables change places; the event names one of the tables only;
    * ``changes``: anything else. A column's values may be others then, or another key may be the handle key.

    Where a protocol does not tell TiDB's action code, the first words of the query do.
    """
    action = sf.coalesce(sf.col("ddl_type"), sf.lit(0))
    moves = action.isin([int(one) for one in _SEVERAL]) | sf.rlike("query", sf.lit(_SEVERAL_WORDS))
    untold = action == 0
    creates = (action == int(Action.CREATE_TABLE)) | (untold & sf.rlike("query", sf.lit(_CREATES)))
    clears = action.isin(sorted(int(one) for one in CLEARS_TABLES))
    return (
        sf.when(creates, "creates")
        .when(clears | (untold & sf.rlike("query", sf.lit(_CLEARS))), "clears")
        .when(moves, "moves")
        .otherwise("changes")
    )
