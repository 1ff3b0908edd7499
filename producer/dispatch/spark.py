"""The partition rule as Spark expressions: hashed in the JVM, a whole stream at a time.

The same rule as ``partition.dispatch``, which a test holds against this one.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

NULL_TEXT = b"null"
"""What the classic program hashes for SQL NULL."""


def row_hash(image: Column, base_hash: Column, key_columns: Column, *, skips_null: bool = False) -> Column:
    """Hash of a row: schema and table, xor name and value of every key column (CRC-32 IEEE).

    :param image: the new image, of a delete the old one.
    :param key_columns: array of (name, place in the image).
    :param skips_null: whether NULL columns are left out, as by the new program.
    """

    def add(hashed: Column, column: Column) -> Column:
        value = F.get(image, column["place"])
        part = F.crc32(F.concat(column["name"], F.coalesce(value, F.lit(NULL_TEXT))))
        with_part = hashed.bitwiseXOR(part)
        return F.when(value.isNull(), hashed).otherwise(with_part) if skips_null else with_part

    return F.aggregate(key_columns, base_hash, add)


def dispatch_key(rule: Column, hashed: Column, base_text: Column, commit_ts: Column) -> Column:
    """The partition key text: ``schema.table``, the hash or the commit-ts in decimal."""
    by_value = F.when(rule == "ts", commit_ts.cast("string")).otherwise(hashed.cast("string"))
    return F.when(rule == "table", base_text).otherwise(by_value)


def partition(rule: Column, hashed: Column, commit_ts: Column, partitions: int) -> Column:
    """Number of the Kafka partition."""
    source = F.when(rule == "ts", commit_ts).otherwise(hashed)
    return (source % F.lit(partitions)).cast("int")
