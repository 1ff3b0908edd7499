"""Views of DDL events and of the table definitions in row events."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.model.trap_coverage import View
from ticdc_producer.verifier.coverage.columns import PARTITION, first_event, of_groups, position

_RENAMED = r"(?i)(?:rename\s+table|,)\s+(\S+?)\s+to\s+([^\s,;]+)"


def definition_views(decoded: DataFrame) -> dict[View, DataFrame]:
    """The views ``ddl``, ``ddls-of-commit``, ``ddls-of-topic``, ``table-columns`` and ``table-ids``.

    :param decoded: decoded events (``DECODED``).
    :return: ``columns.EVENT_POSITION`` and the columns of the conditions, in no order.
    """
    with_position = decoded.withColumn("position", position())
    ddls, rows = with_position.filter("kind = 'ddl'"), with_position.filter("kind = 'row'")
    return {
        "ddl": ddls,
        "ddls-of-commit": of_groups(_of_one_commit_ts(ddls)),
        "ddls-of-topic": of_groups(_of_topics(ddls)),
        "table-columns": of_groups(_column_sets(rows)),
        "table-ids": of_groups(_table_ids(rows)),
    }


def _of_one_commit_ts(ddls: DataFrame) -> DataFrame:
    """DDLs of one commit-ts in one partition: parts of one statement, and the names that it changes."""
    names = sf.lower(sf.replace("query", sf.lit("`"), sf.lit("")))
    return ddls.groupBy(*PARTITION, "commit_ts").agg(
        sf.count_distinct("query", "schema", "table").alias("parts"),
        sf.flatten(sf.collect_set(sf.regexp_extract_all(names, sf.lit(_RENAMED), 1))).alias("old"),
        sf.flatten(sf.collect_set(sf.regexp_extract_all(names, sf.lit(_RENAMED), 2))).alias("new"),
        first_event(),
    )


def _of_topics(ddls: DataFrame) -> DataFrame:
    """Kinds of DDL, distinguished by the first two words of the query, which every protocol has."""
    words = sf.upper(sf.regexp_extract("query", r"^\s*(\w+\s+\w+)", 1))
    return ddls.groupBy("topic").agg(sf.count_distinct(words).alias("kinds"), first_event())


def _column_sets(rows: DataFrame) -> DataFrame:
    # Deletes and too large rows may have the handle key only.
    whole = rows.filter("op <> 'delete' and coalesce(handle_key_only, 0) = 0")
    names = sf.xxhash64(sf.sort_array(sf.transform("columns", lambda one: one["name"])))
    return whole.groupBy("topic", "schema", "table").agg(
        (sf.min(names) != sf.max(names)).alias("changed"), first_event()
    )


def _table_ids(rows: DataFrame) -> DataFrame:
    return (
        rows.filter("table_id > 0")
        .groupBy("topic", "schema", "table")
        .agg(sf.count_distinct("table_id").alias("parts"), first_event())
    )
