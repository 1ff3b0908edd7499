"""The identity of events and rows, as Spark expressions.

*Row key*: schema, table, physical table id, and name and value of every handle key column.
*Identical events*: same kind, commit-ts, row key and images (docs/stream-semantics.md §11).
Both are compared by fingerprints of 128 bits, so that no images have to be stored.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf

from ticdc_producer.model.flags import ColumnFlag

_SALTS = (0x5449, 0x4443)


def fingerprint(*parts: Column) -> Column:
    """128 bits over the parts: two 64-bit hashes that start from different salts.

    xxhash64 ignores NULL and the boundaries of arrays; a part in which either can differ must be marked
    (:func:`marked`) or preceded by its size.
    """
    high, low = (sf.xxhash64(sf.lit(salt), *parts) for salt in _SALTS)
    return sf.struct(high.alias("high"), low.alias("low"))


def entries(image: Column) -> Column:
    """An image as an array of (key, value), sorted by column name: protocols differ in column order."""
    return sf.sort_array(sf.map_entries(image))


def marked(pairs: Column) -> Column:
    """Fingerprints of name-value pairs; they distinguish SQL NULL from an empty value."""
    return sf.transform(pairs, lambda pair: fingerprint(pair.key, pair.value.isNull(), pair.value))


def key_image() -> Column:
    """The image with the row's key: the old image of a delete, otherwise the new image."""
    return sf.when(sf.col("op") == "delete", sf.col("before")).otherwise(sf.col("after"))


def has_flag(flag: Column, bits: int) -> Column:
    """Whether any of these bits is set."""
    return flag.bitwiseAND(sf.lit(bits)) != 0


def handle_columns() -> Column:
    """The event's columns that belong to the handle key."""
    return sf.filter("columns", lambda column: has_flag(column.flag, ColumnFlag.HANDLE_KEY))


def handle_entries(image: Column | None = None) -> Column:
    """Name and value of the handle key columns, sorted by name; NULL or empty without a handle key.

    :param image: :func:`key_image`, if a column has it already.
    """
    values = key_image() if image is None else image
    pairs = sf.transform(
        handle_columns(),
        lambda column: sf.struct(
            column["name"].alias("key"), sf.try_element_at(values, column["name"]).alias("value")
        ),
    )
    return sf.sort_array(pairs)


def row_key(handle: Column) -> Column:
    """Fingerprint of the row key; NULL for tables without handle key, whose rows have no identity."""
    key = fingerprint(sf.col("schema"), sf.col("table"), sf.col("table_id"), marked(handle))
    return sf.when(sf.size(handle) > 0, key)


def image_fingerprint(image: Column) -> Column:
    """Fingerprint of all columns of an image, regardless of their order; NULL without an image."""
    return sf.when(image.isNotNull(), fingerprint(sf.size(image), marked(entries(image))))


def identity(old: Column | None = None, new: Column | None = None) -> Column:
    """Fingerprint that identical events share, regardless of their partition.

    :param old: :func:`image_fingerprint` of the old image, if a column has it already; ``new`` likewise.
    """
    images = (
        image_fingerprint(sf.col("before")) if old is None else old,
        image_fingerprint(sf.col("after")) if new is None else new,
    )
    plain = [sf.coalesce(sf.col(name), sf.lit("")) for name in ("kind", "op", "schema", "table", "query")]
    numbers = [sf.coalesce(sf.col(name), sf.lit(-1)) for name in ("commit_ts", "table_id", "ddl_type")]
    return fingerprint(*plain, *numbers, *(part for image in images for part in (image.isNull(), image)))


def readable(value: Column) -> Column:
    """A value for display: its text, or hex if it is not UTF-8; truncated to 40 characters."""
    text = sf.coalesce(sf.try_validate_utf8(value.cast("string")), sf.concat(sf.lit("0x"), sf.hex(value)))
    return sf.coalesce(sf.substring(text, 1, 40), sf.lit("NULL"))


def readable_entries(pairs: Column) -> Column:
    """Name-value pairs for display: ``id=3, name=ann``."""
    return sf.array_join(
        sf.transform(pairs, lambda pair: sf.concat(pair.key, sf.lit("="), readable(pair.value))), ", "
    )


def text() -> Column:
    """An event in one line: handle key, query, or error code of a message that does not decode."""
    return (
        sf.when(sf.col("kind") == "row", readable_entries(handle_entries()))
        .when(sf.col("kind") == "ddl", sf.substring("query", 1, 120))
        .otherwise(sf.coalesce(sf.col("error"), sf.lit("")))
    )
