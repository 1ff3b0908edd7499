"""Views of delivery: repeated, reordered and late events, and the sizes of messages.

They are computed on the classified stream. A repeated row without handle key does not count as duplicate,
because it may be a second row. Repeated events are grouped by *islands*: the events of a partition between
one first-time row and the next.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.model.trap_coverage import View
from ticdc_producer.verifier.coverage.columns import (
    FIRST_ROW,
    PARTITION,
    TABLE,
    event_ref,
    first_event,
    of_groups,
    preceding_events,
)

_BY_VALUE = "rule in ('index-value', 'columns')"
_ROW_AGAIN = "kind = 'row' and again and not repeated"
_STALE = "kind = 'resolved' and commit_ts <= resolved_max and not repeated"


def delivery_views(events: DataFrame, max_batch_size: int | None) -> dict[View, DataFrame]:
    """The views ``event``, ``island``, ``partition`` and ``message``.

    :param events: the result of :func:`with_repetitions`; read several times.
    :param max_batch_size: maximum number of events in a message; None: unknown.
    :return: ``columns.EVENT_POSITION`` and the columns of the conditions, in no order.
    """
    return {
        "event": _replays(events),
        "island": of_groups(_islands_with_rows_again(events)),
        "partition": of_groups(_partitions(events)),
        "message": of_groups(_messages(events, max_batch_size)),
    }


def with_repetitions(events: DataFrame) -> DataFrame:
    """Adds to classified events whether they are repeated, and the newest ts before each.

    :param events: the result of ``classify``.
    :return: the same with ``offset``, ``index``, ``again`` (a duplicate), ``repeated`` (its message repeats
        the previous one), ``resolved_max``, ``row_max`` and ``table_max`` (TSO; NULL if none), the number of
        its ``island``, and the counts ``rows_again`` and ``stale`` of the island, in no order.
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
    replaying = sf.coalesce(sf.max(restart).over(preceding_events()), sf.lit(False))
    return events.join(sf.broadcast(newest), "topic", "left").withColumns(
        {
            "replaying": replaying,
            "first_row": sf.expr(FIRST_ROW),
            "row_again": sf.expr(_ROW_AGAIN),
            "by_value": sf.expr(_BY_VALUE),
        }
    )


def _islands_with_rows_again(events: DataFrame) -> DataFrame:
    """Islands with repeated rows, of the whole changefeed or of one table only.

    A restart of the changefeed repeats rows of several tables, or a resolved-ts.
    """
    again = events.filter(_ROW_AGAIN)
    by_island = again.groupBy(*PARTITION, "island", "rows_again", "stale").agg(
        sf.count_distinct(*TABLE).alias("tables"), first_event()
    )
    tables = events.filter("kind = 'row'").groupBy("topic").agg(sf.count_distinct(*TABLE).alias("of_tables"))
    return by_island.filter("rows_again > 1").join(sf.broadcast(tables), "topic")


def _partitions(events: DataFrame) -> DataFrame:
    return events.groupBy(*PARTITION).agg(
        sf.count_if(sf.col("kind") == "resolved").alias("resolved"),
        sf.count_if(sf.col("kind") == "row").alias("rows"),
        first_event(),
    )


def _messages(events: DataFrame, max_batch_size: int | None) -> DataFrame:
    rows = events.filter("kind = 'row'")
    messages = rows.groupBy(*PARTITION, event_ref()["offset"].alias("offset"))
    counted = messages.agg(sf.count("*").alias("rows"), first_event())
    return counted.withColumn("max_batch_size", sf.lit(max_batch_size).cast("int"))
