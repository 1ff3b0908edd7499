"""Views of rows and keys: rows that move to another key, swap keys, or have none."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.model.trap_coverage import View
from ticdc_producer.verifier.coverage.columns import (
    EVENT_POSITION,
    PARTITION,
    fingerprint,
    first_event,
    handle_columns,
    handle_entries,
    marked,
    of_groups,
    position,
)

_TRANSACTION = ("topic", "schema", "table", "commit_ts")


def key_views(decoded: DataFrame, *, claim_check: bool) -> dict[View, DataFrame]:
    """The views ``row``, ``known-row``, ``row-commit``, ``moved-row`` and ``swapped-keys``.

    :param decoded: decoded events (``DECODED``).
    :param claim_check: whether the changefeed stores too large rows.
    :return: ``columns.EVENT_POSITION`` and the columns of the conditions, in no order.
    """
    rows = decoded.filter("kind = 'row'").withColumns(
        {
            "position": position(),
            "key_size": sf.size(handle_entries()),
            "claim_check": sf.lit(claim_check),
        }
    )
    with_key = rows.filter("key_size > 0")
    moved = _moves(with_key)
    return {
        "row": rows,
        "known-row": _filled(with_key),
        "row-commit": of_groups(_paired(with_key)),
        "moved-row": of_groups(moved),
        "swapped-keys": of_groups(_swaps(moved)),
    }


def _moves(rows: DataFrame) -> DataFrame:
    """Rows that a transaction moved to another key: ``old_key``, ``new_key``, ``first_event``, ``left``.

    Such a row has an old and a new image with different keys and equal other columns, split or not.
    ``left``: the row of the old key was deleted.
    """
    keyed = rows.withColumns({"old": _key(sf.col("before")), "new": _key(sf.col("after"))})
    old, new = _images(keyed, "before", "old"), _images(keyed, "after", "new")
    is_old = sf.col("image") == "before"
    by_rest = (
        old.union(new)
        .groupBy(*_TRANSACTION, "rest")
        .agg(
            sf.min(sf.when(is_old, sf.col("key"))).alias("old_key"),
            sf.min(sf.when(~is_old, sf.col("key"))).alias("new_key"),
            sf.max("left").alias("left"),
            first_event(),
        )
    )
    return by_rest.filter("old_key <> new_key")


def _images(rows: DataFrame, image: str, key: str) -> DataFrame:
    others = sf.map_filter(sf.col(image), lambda name, _value: ~sf.array_contains(_key_names(), name))
    rest = fingerprint(marked(sf.sort_array(sf.map_entries(others))))
    left = (sf.col("op") == "delete") | (sf.col("old") != sf.col("new"))
    # Rows without other columns cannot be matched.
    return rows.filter(sf.size(others) > 0).select(
        *_TRANSACTION,
        *EVENT_POSITION,
        sf.lit(image).alias("image"),
        rest.alias("rest"),
        sf.col(key).alias("key"),
        sf.coalesce(left, sf.lit(False)).alias("left"),
    )


def _key_names() -> Column:
    return sf.transform(handle_columns(), lambda one: one["name"])


def _key(image: Column) -> Column:
    return sf.when(image.isNotNull(), fingerprint(marked(handle_entries(image))))


def _swaps(moves: DataFrame) -> DataFrame:
    """Pairs of keys between which a transaction moved rows both ways."""
    pair = (sf.least("old_key", "new_key").alias("one"), sf.greatest("old_key", "new_key").alias("other"))
    return moves.groupBy(*_TRANSACTION, *pair).agg(
        sf.count_distinct("old_key").alias("ways"), sf.min("first_event").alias("first_event")
    )


def _paired(rows: DataFrame) -> DataFrame:
    """Whether a row was deleted and inserted at one commit-ts, which a net change never does."""
    key = fingerprint(marked(handle_entries()))
    return rows.groupBy(*_TRANSACTION, key.alias("key")).agg(
        (sf.count_if(sf.col("op") == "delete") > 0).alias("deleted"),
        (sf.count_if(sf.col("op") == "insert") > 0).alias("inserted"),
        first_event(),
    )


def _filled(rows: DataFrame) -> DataFrame:
    """Whether a row's old image has a value in a column that the row's previous event lacked."""
    key = fingerprint(sf.col("schema"), sf.col("table"), marked(handle_entries()))
    by_row = Window.partitionBy(*PARTITION, "row").orderBy("position")
    names = sf.transform("columns", lambda one: one["name"])
    values = sf.map_keys(sf.map_filter("before", lambda _name, value: value.isNotNull()))
    known = rows.withColumn("row", key).withColumn("known", sf.lag(names).over(by_row))
    return known.withColumn("filled", sf.size(sf.array_except(values, sf.col("known"))) > 0)
