"""The partition rule as Spark expressions, evaluated in the JVM.

A test compares it with ``partition.dispatch``, which implements the same rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.dispatch.partition import NULL_TEXT


def row_hash(
    image: Column, base_hash: Column, key_columns: Iterable[Column], *, skips_null: bool = False
) -> Column:
    """Hash of a row: schema and table, xor name and value of every key column (CRC-32 IEEE).

    :param image: the new image, or the old image of a delete.
    :param key_columns: structs of ``name`` and ``image_index``, or NULL, which is ignored.
    :param skips_null: whether NULL columns are not hashed, as in TiCDC new architecture.
    """

    def part(column: Column) -> Column:
        value = F.get(image, column["image_index"])
        text = value if skips_null else F.coalesce(value, F.lit(NULL_TEXT))
        return F.coalesce(F.crc32(F.concat(column["name"], text)), F.lit(0))

    return reduce(Column.bitwiseXOR, map(part, key_columns), base_hash)


def dispatch_key(rule: Column, hashed: Column, base_text: Column, commit_ts: Column) -> Column:
    """The dispatch key: ``schema.table``, or the hash or commit-ts in decimal."""
    by_value = F.when(rule == "ts", commit_ts.cast("string")).otherwise(hashed.cast("string"))
    return F.when(rule == "table", base_text).otherwise(by_value)


def partition(rule: Column, hashed: Column, commit_ts: Column, partitions: int) -> Column:
    """The number of the Kafka partition."""
    source = F.when(rule == "ts", commit_ts).otherwise(hashed)
    return (source % F.lit(partitions)).cast("int")
