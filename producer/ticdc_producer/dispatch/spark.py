"""The partition rule as Spark expressions: hashed in the JVM, a whole stream at a time.

The same rule as ``partition.dispatch``, which a test holds against this one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

NULL_TEXT = b"null"
"""What the classic program hashes for SQL NULL."""


def row_hash(
    image: Column, base_hash: Column, key_columns: Iterable[Column], *, skips_null: bool = False
) -> Column:
    """Hash of a row: schema and table, xor name and value of every key column (CRC-32 IEEE).

    :param image: the new image, of a delete the old one.
    :param key_columns: each a pair of name and place in the image, or NULL, which adds nothing.
    :param skips_null: whether NULL columns are left out, as by the new program.
    """

    def part(column: Column) -> Column:
        value = F.get(image, column["place"])
        text = value if skips_null else F.coalesce(value, F.lit(NULL_TEXT))
        return F.coalesce(F.crc32(F.concat(column["name"], text)), F.lit(0))

    return reduce(Column.bitwiseXOR, map(part, key_columns), base_hash)


def dispatch_key(rule: Column, hashed: Column, base_text: Column, commit_ts: Column) -> Column:
    """The partition key text: ``schema.table``, the hash or the commit-ts in decimal."""
    by_value = F.when(rule == "ts", commit_ts.cast("string")).otherwise(hashed.cast("string"))
    return F.when(rule == "table", base_text).otherwise(by_value)


def partition(rule: Column, hashed: Column, commit_ts: Column, partitions: int) -> Column:
    """Number of the Kafka partition."""
    source = F.when(rule == "ts", commit_ts).otherwise(hashed)
    return (source % F.lit(partitions)).cast("int")
