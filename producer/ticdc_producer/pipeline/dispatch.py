"""Stage 4: every row change finds its topic and partition."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.dispatch import spark as rules
from ticdc_producer.model.dataframes import EVENT_STREAM, in_shape
from ticdc_producer.model.event import Kind
from ticdc_producer.model.profile import Profile
from ticdc_producer.pipeline.table_metadata import Facts, with_facts
from ticdc_producer.pipeline.topic_partitions import Slots

_NEEDED = ("topic", "rule", "base_hash", "base_text", "key_columns")


def dispatch(changes: DataFrame, facts: Facts, slots: Slots, *, profile: Profile = "classic") -> DataFrame:
    """Row changes with a place in their transaction → row events of the event stream."""
    skips_null = profile == "new"
    joined = with_facts(changes, facts.frame, *_NEEDED)
    image = F.coalesce("after", "before")
    # `table` has no key columns, so its hash is that of schema and table alone.
    keys = [F.get("key_columns", F.lit(number)) for number in range(facts.key_columns)]
    hashed = rules.row_hash(image, F.col("base_hash"), keys, skips_null=skips_null)
    rule, ts = F.col("rule"), F.col("commit_ts")
    placed = joined.withColumn("partition", rules.partition(rule, hashed, ts, slots.partitions))
    events = placed.select(
        slots.number(F.col("topic"), F.col("partition")).alias("slot"),
        "topic",
        "partition",
        "commit_ts",
        F.lit(Kind.ROW).cast("byte").alias("kind"),
        "table_version",
        "table_id",
        "row_id",
        "op",
        "before",
        "after",
        rules.dispatch_key(rule, hashed, F.col("base_text"), ts).alias("dispatch_key"),
        F.lit(None).cast("int").alias("ddl"),
        F.lit(None).cast("string").alias("fault"),
        F.lit(0).alias("epoch"),
        F.col("commit_ts").alias("at"),
        F.lit(0).cast("byte").alias("rank"),
        "place",
        F.lit(0).alias("copy"),
    )
    return in_shape(events, EVENT_STREAM)
