"""Columns of decoded events that several features need, as Spark expressions, and views of them.

Types are compared without their parameters, because protocols differ in them; values are the canonical
text that all decoders return. Updates count with their new image, deletes with their old image.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.verifier.events import INDEX_BITS

PARTITION = ("topic", "partition")
TABLE = ("schema", "table")
FIRST_ROW = "kind = 'row' and first_delivery"
_SALTS = (0x5449, 0x4443)


def position() -> Column:
    """Offset and index in the message as one number, see ``verifier.events.positions``."""
    return sf.shiftleft(sf.col("offset"), INDEX_BITS) + sf.col("index")


def event_ref() -> Column:
    """Reference to this event as a struct of topic, partition, offset and index."""
    number = sf.col("position")
    return sf.struct(
        sf.col("topic"),
        sf.col("partition"),
        sf.shiftright(number, INDEX_BITS).alias("offset"),
        number.bitwiseAND(sf.lit((1 << INDEX_BITS) - 1)).cast("int").alias("index"),
    )


def preceding_events(*group: str) -> WindowSpec:
    """Window: the earlier events of the same partition and group."""
    before = Window.partitionBy(*PARTITION, *group).orderBy("position")
    return before.rowsBetween(Window.unboundedPreceding, -1)


def fingerprint(*parts: Column) -> Column:
    """128 bits over the parts: two 64-bit hashes that start from different salts.

    xxhash64 ignores NULL and the boundaries of arrays; a part in which either can differ must be marked
    (:func:`marked`).
    """
    high, low = (sf.xxhash64(sf.lit(salt), *parts) for salt in _SALTS)
    return sf.struct(high.alias("high"), low.alias("low"))


def marked(pairs: Column) -> Column:
    """Fingerprints of name-value pairs; they distinguish SQL NULL from an empty value."""
    return sf.transform(pairs, lambda pair: fingerprint(pair.key, pair.value.isNull(), pair.value))


def key_image() -> Column:
    """The image with the row's key: the old image of a delete, otherwise the new image."""
    return sf.when(sf.col("op") == "delete", sf.col("before")).otherwise(sf.col("after"))


def handle_columns() -> Column:
    """The event's columns that belong to the handle key."""
    bit = sf.lit(int(ColumnFlag.HANDLE_KEY))
    return sf.filter("columns", lambda column: column.flag.bitwiseAND(bit) != 0)


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


EVENT_POSITION = ("topic", "partition", "position")


def first_event() -> Column:
    """Aggregate: topic, partition and position of a group's first event, as struct ``first_event``."""
    return sf.min(sf.struct(*EVENT_POSITION)).alias("first_event")


def of_groups(groups: DataFrame) -> DataFrame:
    """A view of groups: each is at its ``first_event``.

    :param groups: with :func:`first_event` and what else the conditions need.
    :return: :data:`EVENT_POSITION` and the other columns, in no order.
    """
    names = [name for name in groups.columns if name not in ("first_event", *EVENT_POSITION)]
    return groups.select("first_event.*", *names)


def features_found(view: DataFrame, conditions: Mapping[int, str]) -> DataFrame:
    """One row per row of a view and feature that it has: ``feature``, ``scope`` and :data:`EVENT_POSITION`.

    :param view: :data:`EVENT_POSITION`, the columns of the conditions, and possibly ``scope``.
    :param conditions: an SQL condition per feature.
    """
    tests = (sf.when(sf.expr(condition), sf.lit(feature)) for feature, condition in conditions.items())
    found = sf.explode(sf.array_compact(sf.array(*tests))).alias("feature")
    scope = sf.col("scope") if "scope" in view.columns else sf.lit("").alias("scope")
    return view.select(found, scope, *EVENT_POSITION)


def cells(decoded: DataFrame) -> DataFrame:
    """All cells; the scope is the column, as ``schema.table.column``.

    :param decoded: shape ``DECODED``.
    :return: :data:`EVENT_POSITION`, ``scope``, ``type`` (lower case, without parameters), ``flag``
        (``model.column.ColumnFlag``), ``value``, the value as ``text``, and as ``number`` or NULL;
        in no order.
    """
    rows = decoded.filter("kind = 'row'")
    with_image = rows.withColumns({"position": position(), "image": key_image()})
    columns = sf.explode(sf.filter("columns", lambda one: sf.map_contains_key("image", one["name"])))
    named = with_image.select(*EVENT_POSITION, "schema", "table", "image", columns.alias("column"))
    valued = named.select(
        *EVENT_POSITION,
        sf.concat_ws(".", "schema", "table", "column.name").alias("scope"),
        sf.trim(sf.regexp_replace(sf.lower("column.type"), r"\([^)]*\)", "")).alias("type"),
        sf.col("column.flag").alias("flag"),
        sf.try_element_at("image", sf.col("column.name")).alias("value"),
    )
    text = sf.col("value").cast("string")
    return valued.withColumns({"text": text, "number": text.try_cast("decimal(30,0)")})
