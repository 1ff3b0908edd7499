"""What the stages need to know of each table version, as one small DataFrame.

It is made on the driver from the catalog and joined to the changes by broadcast.
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


def split_columns(table: TableInfo) -> list[int]:
    """Image indexes of the columns whose change splits an update: handle key and unique columns.

    A mutation stays on its row key, so integer columns of a clustered key cannot change and are left out.
    Text columns can change to values that are equal under their collation.

    Source: tiflow ``ShouldSplitUpdateEvent``; nullable unique keys count too.
    """
    keys = [index for index in table.indexes if index.unique or index.primary]
    stored_under = table.clustered_key.offsets if table.clustered_key else ()
    unchangeable = {offset for offset in stored_under if table.columns[offset].type in INTEGERS}
    offsets = set(chain.from_iterable(index.offsets for index in keys)) - unchangeable
    return [index for offset in sorted(offsets) if (index := table.image_index(offset)) is not None]


def timestamp_columns(table: TableInfo) -> list[int]:
    """Image indexes of the TIMESTAMP columns."""
    return [i for i, column in enumerate(table.sent_columns) if column.type == MySQLType.TIMESTAMP]
