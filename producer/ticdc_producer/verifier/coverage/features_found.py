"""Features found in events, as rows of ``feature``, ``scope``, ``topic``, ``partition``, ``position``."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

EVENT_POSITION = ("topic", "partition", "position")


def features_found(frame: DataFrame, conditions: dict[str, str | Column]) -> DataFrame:
    """One row per event and feature that it has.

    :param conditions: feature to condition, as Spark SQL or as a column; NULL counts as false.
    """
    tests = {name: sf.expr(test) if isinstance(test, str) else test for name, test in conditions.items()}
    found = sf.array_compact(sf.array(*(sf.when(test, sf.lit(name)) for name, test in tests.items())))
    return frame.select(sf.explode(found).alias("feature"), sf.lit("").alias("scope"), *EVENT_POSITION)


def first_event() -> Column:
    """Aggregate: topic, partition and position of a group's first event, as struct ``first_event``."""
    return sf.min(sf.struct(*EVENT_POSITION)).alias("first_event")


def features_of_groups(groups: DataFrame, conditions: dict[str, str | Column]) -> DataFrame:
    """One row per group and feature that it has, at the group's ``first_event``."""
    flags = {f"_{number}": test for number, test in enumerate(conditions.values())}
    columns = [sf.expr(test) if isinstance(test, str) else test for test in flags.values()]
    tested = groups.select(
        "first_event.*", *(test.alias(name) for name, test in zip(flags, columns, strict=True))
    )
    return features_found(tested, dict(zip(conditions, flags, strict=True)))
