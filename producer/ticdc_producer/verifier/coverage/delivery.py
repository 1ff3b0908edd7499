"""Features of delivery: repeated, reordered and late events, and the sizes of messages.

They are computed on the classified stream. A repeated row without handle key does not count as duplicate,
because it may be a second row. Repeated events are grouped by *islands*: the events of a partition between
one first-time row and the next.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.verifier.coverage.columns import FIRST_ROW, PARTITION, TABLE, event_ref, preceding_events
from ticdc_producer.verifier.coverage.features_found import features_found, features_of_groups, first_event

_BY_VALUE = "rule in ('index-value', 'columns')"
_ROW_AGAIN = "kind = 'row' and again and not repeated"
_STALE = "kind = 'resolved' and commit_ts <= resolved_max and not repeated"

_CONDITIONS = {
    "duplicate-message": "repeated and index = 0",
    "duplicate-event": f"{_ROW_AGAIN} and rows_again = 1 and stale = 0",
    "resolved-fallback": "kind = 'resolved' and commit_ts < resolved_max",
    "duplicate-ddl": "kind = 'ddl' and not first_delivery",
    "ddl-at-resolved-ts": "kind = 'ddl' and first_delivery and commit_ts = resolved_max",
    "regrouped-batches": f"{FIRST_ROW} and commit_ts < table_max and {_BY_VALUE}",
    "resolved-lag": "kind = 'resolved' and first_delivery and commit_ts < row_max and "
    "commit_ts > coalesce(resolved_max, 0)",
    "raw-key-update": "kind = 'row' and op = 'update' and size(key_change) > 0",
    "delete-dispatch": f"{FIRST_ROW} and op = 'delete' and {_BY_VALUE}",
    "replay-partial": f"{FIRST_ROW} and replaying and commit_ts <= replayed_max",
}


def delivery_features(events: DataFrame, max_batch_size: int | None) -> DataFrame:
    """All features of delivery.

    :param events: the result of :func:`with_repetitions`; read several times.
    :param max_batch_size: maximum number of events in a message; None: unknown.
    """
    found = [features_found(_replays(events), dict(_CONDITIONS)), _whole_replays(events), _idle(events)]
    if max_batch_size is not None:
        found.append(_batches(events, max_batch_size))
    return reduce(DataFrame.union, found)


def with_repetitions(events: DataFrame) -> DataFrame:
    """Adds to classified events whether they are repeated, and the newest ts before each.

    :param events: the result of ``classify``.
    """
    return _islands(_repetitions(events))


def _repetitions(events: DataFrame) -> DataFrame:
    """Adds ``again`` (a duplicate), ``repeated`` (its message repeats the previous one) and ``index``."""
    known = (sf.col("kind") != "row") | sf.col("row_key").isNotNull()
    indexed = events.withColumns(
        {
            "again": ~sf.col("first_delivery") & known,
            "offset": event_ref()["offset"],
            "index": event_ref()["index"],
        }
    )
    message = Window.partitionBy(*PARTITION, "offset")
    identities = sf.sort_array(sf.collect_list(sf.struct("index", "identity")).over(message))
    held = indexed.withColumns(
        {"content": sf.xxhash64(identities), "all_again": sf.min("again").over(message)}
    )
    before = Window.partitionBy(*PARTITION).orderBy("offset").rangeBetween(-1, -1)
    repeated = sf.col("all_again") & (sf.col("content") == sf.max("content").over(before))
    return held.withColumn("repeated", sf.coalesce(repeated, sf.lit(False)))


def _islands(events: DataFrame) -> DataFrame:
    """Adds the newest ts before an event, and the number of repeated events in its island."""
    before, by_position = preceding_events(), Window.partitionBy(*PARTITION).orderBy("position")
    row_ts = sf.when(sf.expr(FIRST_ROW), sf.col("commit_ts"))
    newest = events.withColumns(
        {
            "resolved_max": sf.max(sf.when(sf.col("kind") == "resolved", sf.col("commit_ts"))).over(before),
            "row_max": sf.max(row_ts).over(before),
            "table_max": sf.max(row_ts).over(preceding_events(*TABLE)),
            "island": sf.count_if(sf.expr(FIRST_ROW)).over(by_position),
        }
    )
    island = Window.partitionBy(*PARTITION, "island")
    return newest.withColumns(
        {
            "rows_again": sf.count_if(sf.expr(_ROW_AGAIN)).over(island),
            "stale": sf.count_if(sf.expr(_STALE)).over(island),
        }
    )


def _replays(events: DataFrame) -> DataFrame:
    """Adds ``replaying`` (after a restart, within the partition) and ``replayed_max`` of the topic."""
    restart = sf.expr(f"({_STALE}) or ({_ROW_AGAIN} and (rows_again > 1 or stale > 0))")
    replayed = events.filter(restart & (sf.col("kind") == "row"))
    newest = replayed.groupBy("topic").agg(sf.max("commit_ts").alias("replayed_max"))
    joined = events.join(sf.broadcast(newest), "topic", "left")
    return joined.withColumn(
        "replaying", sf.coalesce(sf.max(restart).over(preceding_events()), sf.lit(False))
    )


def _whole_replays(events: DataFrame) -> DataFrame:
    """Islands with repeated rows of the whole changefeed, or of one table only.

    A restart of the changefeed repeats rows of several tables, or a resolved-ts.
    """
    again = events.filter(_ROW_AGAIN)
    by_island = again.groupBy(*PARTITION, "island", "rows_again", "stale").agg(
        sf.count_distinct(*TABLE).alias("tables"), first_event()
    )
    tables = events.filter("kind = 'row'").groupBy("topic").agg(sf.count_distinct(*TABLE).alias("of_tables"))
    runs = by_island.filter("rows_again > 1").join(sf.broadcast(tables), "topic")
    return features_of_groups(
        runs,
        {
            "replay-suffix": "stale > 0 or tables > 1",
            "replay-one-table": "stale = 0 and tables = 1 and of_tables > 1",
        },
    )


def _idle(events: DataFrame) -> DataFrame:
    partitions = events.groupBy(*PARTITION).agg(
        sf.count_if(sf.col("kind") == "resolved").alias("resolved"),
        sf.count_if(sf.col("kind") == "row").alias("rows"),
        first_event(),
    )
    return features_of_groups(partitions, {"idle-partition": "resolved > 0 and rows = 0"})


def _batches(events: DataFrame, max_batch_size: int) -> DataFrame:
    rows = events.filter("kind = 'row'")
    messages = rows.groupBy(*PARTITION, event_ref()["offset"]).agg(sf.count("*").alias("rows"), first_event())
    return features_of_groups(
        messages, {"message-of-one": "rows = 1", "message-full": f"rows = {max_batch_size}"}
    )
