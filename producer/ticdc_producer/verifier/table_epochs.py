"""DDLs as the borders of what a reader knows of a table's rows and columns.

Nothing is compared across a DDL of the table: it may add columns with their default, turn values into
others, or give the table another handle key, all without a row event. DDLs that move rows between tables
count for all tables, those without table for all of their database (TiCDC puts them into another topic).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import TABLE

EMPTY, UNKNOWN = "empty", "unknown"
_DDLS = "array<struct<commit_ts: bigint, leaves: string>>"


def with_epoch(rows: DataFrame, events: DataFrame, options: VerifyOptions) -> DataFrame:
    """The rows with ``epoch``: commit-ts of the last DDL before them that concerns their table, and in
    which state it leaves the table, ``empty`` or ``unknown``. NULL: the start of the stream.

    A row with the ts of a DDL belongs before it; of one millisecond nobody knows.

    :param events: those of ``Stream``, with the DDLs.
    """
    ddls = events.where("kind = 'ddl'").select("topic", *TABLE, "ddl_effect", _leaves(options).alias("ddl"))
    by_table = "ddl_effect != 'moves' and table != ''"
    own = ddls.where(by_table).groupBy("topic", *TABLE).agg(sf.collect_set("ddl").alias("own_ddls"))
    anyone = sf.when(sf.col("ddl_effect") != "moves", sf.col("schema")).alias("of")
    others = ddls.where(f"not ({by_table})").select(sf.struct(anyone, "ddl").alias("other"))
    collected = others.agg(sf.collect_set("other").alias("other_ddls"))
    joined = rows.join(sf.broadcast(own), ["topic", *TABLE], "left").crossJoin(sf.broadcast(collected))
    return joined.withColumn("epoch", _last(options)).drop("own_ddls", "other_ddls")


def _leaves(options: VerifyOptions) -> Column:
    """A created table is empty, but whoever begins to read somewhere may have missed how it was filled."""
    empty = ["clears", "creates"] if options.from_beginning else ["clears"]
    leaves = sf.when(sf.col("ddl_effect").isin(empty), EMPTY).otherwise(UNKNOWN)
    return sf.struct("commit_ts", leaves.alias("leaves"))


def _last(options: VerifyOptions) -> Column:
    """The last DDL; of several with one ts, one that leaves the table unknown."""
    concerned = sf.filter(
        "other_ddls", lambda other: sf.coalesce(other["of"] == sf.col("schema"), sf.lit(True))
    )
    others = sf.transform(concerned, lambda other: other["ddl"])
    ddls = sf.concat(sf.coalesce("own_ddls", sf.array().cast(_DDLS)), others)

    def before(ddl: Column) -> Column:
        ts = sf.col("commit_ts")
        return ddl["commit_ts"] < ts if options.commit_ts == "exact" else ddl["commit_ts"] <= ts

    return sf.array_max(sf.filter(ddls, before))
