"""Determines the topic and partition of every row change."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.dataframes import EVENT_STREAM, in_shape
from ticdc_producer.model.event import Kind
from ticdc_producer.model.profile import Profile
from ticdc_producer.pipeline.topic_partitions import TopicPartitions
from ticdc_producer.spark.generated import partition_rule as rules
from ticdc_producer.spark.generated.table_metadata import TableMetadata, join_table_metadata
from ticdc_producer.spark.partition_columns import partition_index

_NEEDED = ("topic", "rule", "base_hash", "base_text", "key_columns")


def dispatch(
    changes: DataFrame,
    table_metadata: TableMetadata,
    topic_partitions: TopicPartitions,
    *,
    profile: Profile = "classic",
) -> DataFrame:
    """Turn row changes with ``txn_order_key`` into row events of the event stream."""
    skips_null = profile == "new"
    joined = join_table_metadata(changes, table_metadata.rows, *_NEEDED)
    image = F.coalesce("after", "before")
    # `table` has no key columns, so its hash is that of schema and table alone.
    keys = [F.get("key_columns", F.lit(number)) for number in range(table_metadata.key_columns)]
    hashed = rules.row_hash(image, F.col("base_hash"), keys, skips_null=skips_null)
    rule, ts = F.col("rule"), F.col("commit_ts")
    dispatched = joined.withColumn(
        "partition", rules.partition(rule, hashed, ts, topic_partitions.partitions)
    )
    events = dispatched.select(
        partition_index(topic_partitions, F.col("topic"), F.col("partition")).alias("partition_index"),
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
        F.lit(0).alias("restart_epoch"),
        F.col("commit_ts").alias("deliver_after_ts"),
        F.lit(0).cast("byte").alias("kind_order"),
        "txn_order_key",
        F.lit(0).alias("delivery_no"),
    )
    return in_shape(events, EVENT_STREAM)
