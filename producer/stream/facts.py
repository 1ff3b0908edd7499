"""What the stages must know of each table version, as one small DataFrame.

Made on the driver from the catalog, joined to the changes by broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

from producer.dispatch.rules import Route
from producer.model.mysql_type import MySQLType
from producer.model.table import TableInfo

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


def facts(spark: SparkSession, tables: Iterable[TableInfo], routes: Mapping[int, Route]) -> DataFrame:
    """One row of facts per table version.

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
    return spark.createDataFrame(rows, FACTS)


def with_facts(changes: DataFrame, facts: DataFrame, *names: str) -> DataFrame:
    """The changes with some facts of their table version beside them."""
    return changes.join(F.broadcast(facts.select("table_version", *names)), "table_version")


def split_places(table: TableInfo) -> list[int]:
    """Image places of the columns whose change splits an update: handle key and unique ones.

    Source: tiflow ``ShouldSplitUpdateEvent``; nullable unique keys count too.
    """
    keys = [index for index in table.indexes if index.unique or index.primary]
    offsets = set(chain.from_iterable(index.offsets for index in keys))
    return [place for offset in sorted(offsets) if (place := table.image_place(offset)) is not None]


def timestamp_places(table: TableInfo) -> list[int]:
    """Image places of TIMESTAMP columns."""
    return [i for i, column in enumerate(table.sent_columns) if column.type == MySQLType.TIMESTAMP]
