"""What the stages need to know of each table version, as one small DataFrame.

It is made on the driver from the catalog and joined to the changes by broadcast.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

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
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.local_time import timestamp_columns
from ticdc_producer.pipeline.split import split_columns

KEY_COLUMNS = ArrayType(
    StructType([StructField("name", BinaryType()), StructField("image_index", IntegerType())]),
    containsNull=False,
)
TABLE_METADATA = StructType(
    [
        StructField("table_version", IntegerType()),
        StructField("topic", StringType()),
        StructField("rule", StringType()),
        StructField("base_hash", LongType()),
        StructField("base_text", StringType()),
        StructField("key_columns", KEY_COLUMNS),
        StructField("split_columns", ArrayType(IntegerType(), containsNull=False)),
        StructField("timestamp_columns", ArrayType(IntegerType(), containsNull=False)),
    ]
)


@dataclass(frozen=True)
class TableMetadata:
    """The metadata of all table versions.

    The numbers are needed because Spark compiles expressions on the first, second, … element of an array,
    but not higher-order functions on arrays.

    :param rows: one row per table version (``TABLE_METADATA``).
    :param key_columns: the largest number of hashed columns of a table.
    :param split_columns: the largest number of columns of a table whose change splits an update.
    """

    rows: DataFrame
    key_columns: int
    split_columns: int


def table_metadata(
    spark: SparkSession, tables: Collection[TableInfo], routes: Mapping[int, Route]
) -> TableMetadata:
    """The metadata of each table version.

    :param tables: the replicated versions; joining the metadata removes the rows of all others.
    :param routes: dispatch routes by version.
    """
    rows = [
        (
            table.version,
            routes[table.version].topic,
            routes[table.version].rule,
            routes[table.version].base_hash,
            table.qualified_name,
            [(name.encode(), index) for name, index in routes[table.version].key_columns],
            split_columns(table),
            timestamp_columns(table),
        )
        for table in tables
    ]
    return TableMetadata(
        rows=spark.createDataFrame(rows, TABLE_METADATA),
        key_columns=max((len(routes[table.version].key_columns) for table in tables), default=0),
        split_columns=max((len(split_columns(table)) for table in tables), default=0),
    )


def join_table_metadata(changes: DataFrame, table_metadata: DataFrame, *names: str) -> DataFrame:
    """Add columns of the table metadata to the changes; rows of other tables are removed."""
    return changes.join(F.broadcast(table_metadata.select("table_version", *names)), "table_version")
