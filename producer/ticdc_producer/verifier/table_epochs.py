"""Table epochs: the time between two DDLs of a table.

Events of different epochs are not compared: a DDL may add columns with their default, change values, or
change the handle key, all without a row event. A DDL that moves rows between tables counts for all tables;
a DDL without table counts for all tables of its database (TiCDC sends it to another topic).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import TABLE

EMPTY, UNKNOWN = "empty", "unknown"
_DDLS = "array<struct<commit_ts: bigint, leaves: string>>"


def with_epoch(rows: DataFrame, events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Adds ``epoch``: the last DDL of the row's table before the row; NULL: the start of the stream.

    It has the DDL's commit-ts and the state in which the DDL leaves the table, ``empty`` or ``unknown``. A
    row with the ts of a DDL belongs before it; if both are exact to the millisecond only, their order is
    unknown.

    :param events: the events of ``Stream``, with the DDLs.
    """
    ddls = events.where("kind = 'ddl'").select("topic", *TABLE, "ddl_effect", _leaves(options).alias("ddl"))
    by_table = "ddl_effect != 'moves' and table != ''"
    own = ddls.where(by_table).groupBy("topic", *TABLE).agg(sf.collect_set("ddl").alias("own_ddls"))
    database = sf.when(sf.col("ddl_effect") != "moves", sf.col("schema")).alias("of")
    others = ddls.where(f"not ({by_table})").select(sf.struct(database, "ddl").alias("other"))
    collected = others.agg(sf.collect_set("other").alias("other_ddls"))
    joined = rows.join(sf.broadcast(own), ["topic", *TABLE], "left").crossJoin(sf.broadcast(collected))
    return joined.withColumn("epoch", _last(options)).drop("own_ddls", "other_ddls")


def _leaves(options: VerifyOptions) -> Column:
    """A created table is empty; but a stream read from the middle may lack the rows inserted after CREATE."""
    empty = ["clears", "creates"] if options.from_beginning else ["clears"]
    leaves = sf.when(sf.col("ddl_effect").isin(empty), EMPTY).otherwise(UNKNOWN)
    return sf.struct("commit_ts", leaves.alias("leaves"))


def _last(options: VerifyOptions) -> Column:
    """The last DDL; if several have its ts, one that leaves the table unknown."""
    concerned = sf.filter(
        "other_ddls", lambda other: sf.coalesce(other["of"] == sf.col("schema"), sf.lit(True))
    )
    others = sf.transform(concerned, lambda other: other["ddl"])
    ddls = sf.concat(sf.coalesce("own_ddls", sf.array().cast(_DDLS)), others)

    def before(ddl: Column) -> Column:
        ts = sf.col("commit_ts")
        return ddl["commit_ts"] < ts if options.commit_ts == "exact" else ddl["commit_ts"] <= ts

    return sf.array_max(sf.filter(ddls, before))
