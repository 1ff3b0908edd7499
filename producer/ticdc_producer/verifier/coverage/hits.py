"""A hit: an event that shows a feature, as ``feature``, ``scope``, ``topic``, ``partition``, ``position``."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

PLACE = ("topic", "partition", "position")


def hits(frame: DataFrame, conditions: dict[str, str | Column]) -> DataFrame:
    """The events of a frame that show any of the features.

    :param conditions: feature to condition, as Spark SQL or as a column; NULL means no.
    """
    tests = {name: sf.expr(test) if isinstance(test, str) else test for name, test in conditions.items()}
    shown = sf.array_compact(sf.array(*(sf.when(test, sf.lit(name)) for name, test in tests.items())))
    return frame.select(sf.explode(shown).alias("feature"), sf.lit("").alias("scope"), *PLACE)


def first_place() -> Column:
    """Aggregate: the place of a group's first event, as struct."""
    return sf.min(sf.struct(*PLACE)).alias("place")


def of_groups(groups: DataFrame, conditions: dict[str, str | Column]) -> DataFrame:
    """One hit per feature that a group shows, at the group's ``place``."""
    flags = {f"_{number}": test for number, test in enumerate(conditions.values())}
    columns = [sf.expr(test) if isinstance(test, str) else test for test in flags.values()]
    tested = groups.select("place.*", *(test.alias(name) for name, test in zip(flags, columns, strict=True)))
    return hits(tested, dict(zip(conditions, flags, strict=True)))
