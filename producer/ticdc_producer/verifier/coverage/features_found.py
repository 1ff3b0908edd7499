"""Views of the events, and the features that their rows have."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

EVENT_POSITION = ("topic", "partition", "position")


def first_event() -> Column:
    """Aggregate: topic, partition and position of a group's first event, as struct ``first_event``."""
    return sf.min(sf.struct(*EVENT_POSITION)).alias("first_event")


def of_groups(groups: DataFrame) -> DataFrame:
    """A view of groups: each is at its ``first_event``."""
    names = [name for name in groups.columns if name not in ("first_event", *EVENT_POSITION)]
    return groups.select("first_event.*", *names)


def features_found(view: DataFrame, conditions: Mapping[int, str]) -> DataFrame:
    """One row per row of a view and feature that it has: ``feature``, ``scope`` and the position.

    :param view: the position of an event, the columns of the conditions, and possibly ``scope``.
    :param conditions: an SQL condition per feature.
    """
    tests = (sf.when(sf.expr(condition), sf.lit(feature)) for feature, condition in conditions.items())
    found = sf.explode(sf.array_compact(sf.array(*tests))).alias("feature")
    scope = sf.col("scope") if "scope" in view.columns else sf.lit("").alias("scope")
    return view.select(found, scope, *EVENT_POSITION)
