"""What the stages must know of each table version, as one small DataFrame.

Made on the driver from the catalog, joined to the changes by broadcast.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from ticdc_producer.dispatch.rules import Route
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo

KEY_COLUMNS = ArrayType(
    StructType([StructField("name", BinaryType()), StructField("place", IntegerType())]), containsNull=False
)
FACTS = StructType(
    [
        StructField("table_version", IntegerType()),
        StructField("topic", StringType()),
        StructField("rule", StringType()),
        StructField("base_hash", LongType()),
        StructField("base_text", StringType()),
        StructField("key_columns", KEY_COLUMNS),
        StructField("split_places", ArrayType(IntegerType(), containsNull=False)),
        StructField("timestamp_places", ArrayType(IntegerType(), containsNull=False)),
    ]
)


@dataclass(frozen=True)
class Facts:
    """The facts of all table versions.

    Spark compiles no expression that goes through an array, but one that names its first, second, … item; so
    it counts how many there are at most.

    :param frame: one row per table version (``FACTS``).
    :param key_columns: the most columns of a table that are hashed.
    :param split_places: the most columns of a table whose change splits an update.
    """

    frame: DataFrame
    key_columns: int
    split_places: int


def facts(spark: SparkSession, tables: Collection[TableInfo], routes: Mapping[int, Route]) -> Facts:
    """The facts of each table version.

    :param tables: the versions that are replicated; the others' rows find no facts and are left out.
    :param routes: where the rows of each version go, by version.
    """
    rows = [
        (
            table.version,
            routes[table.version].topic,
            routes[table.version].rule,
            routes[table.version].base_hash,
            table.qualified_name,
            [(name.encode(), place) for name, place in routes[table.version].key_columns],
            split_places(table),
            timestamp_places(table),
        )
        for table in tables
    ]
    return Facts(
        frame=spark.createDataFrame(rows, FACTS),
        key_columns=max((len(routes[table.version].key_columns) for table in tables), default=0),
        split_places=max((len(split_places(table)) for table in tables), default=0),
    )


def with_facts(changes: DataFrame, facts: DataFrame, *names: str) -> DataFrame:
    """The changes with some facts of their table version beside them."""
    return changes.join(F.broadcast(facts.select("table_version", *names)), "table_version")


def split_places(table: TableInfo) -> list[int]:
    """Image places of the columns whose change splits an update: handle key and unique ones.

    A mutation stays on its row key, so that the integers of a clustered key are not looked at: they cannot
    change. Its texts can, to others that are equal by their collation.

    Source: tiflow ``ShouldSplitUpdateEvent``; nullable unique keys count too.
    """
    keys = [index for index in table.indexes if index.unique or index.primary]
    stored_under = table.clustered_key.offsets if table.clustered_key else ()
    steady = {offset for offset in stored_under if table.columns[offset].type in INTEGERS}
    offsets = set(chain.from_iterable(index.offsets for index in keys)) - steady
    return [place for offset in sorted(offsets) if (place := table.image_place(offset)) is not None]


def timestamp_places(table: TableInfo) -> list[int]:
    """Image places of TIMESTAMP columns."""
    return [i for i, column in enumerate(table.sent_columns) if column.type == MySQLType.TIMESTAMP]
