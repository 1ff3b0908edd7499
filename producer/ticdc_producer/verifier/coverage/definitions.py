"""Features of DDL events and of the table definitions in row events."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.coverage.columns import PARTITION, position
from ticdc_producer.verifier.coverage.features_found import (
    EVENT_POSITION,
    features_found,
    features_of_groups,
    first_event,
)

_OF_TABLE = r"query rlike r'(?i)^\s*(create|alter)\s+table\b'"
_VIRTUAL = r"query rlike r'(?i)\bvirtual\b'"
_GENERATED_BY_DEFAULT = r"query rlike r'(?i)\bas\s*\(' and not query rlike r'(?i)\bstored\b'"
_BY_TEXT = {
    "virtual-column": f"{_OF_TABLE} and ({_VIRTUAL} or ({_GENERATED_BY_DEFAULT}))",
    "exchange-partition": r"query rlike r'(?i)\bexchange\s+partition\b'",
    "ddl-of-database": r"query rlike r'(?i)^\s*\w+\s+(database|schema)\b'",
}
_RENAMED = r"(?i)(?:rename\s+table|,)\s+(\S+?)\s+to\s+([^\s,;]+)"
_KINDS_OF_DDL = 5


def definition_features(decoded: DataFrame) -> DataFrame:
    """All features of definitions.

    :param decoded: decoded events (``DECODED``).
    """
    with_position = decoded.withColumn("position", position())
    ddls = with_position.filter("kind = 'ddl'")
    found = [
        features_found(ddls, dict(_BY_TEXT)),
        _of_one_commit_ts(ddls),
        _many_kinds(ddls),
        *_of_rows(with_position),
    ]
    return reduce(DataFrame.union, found)


def _of_one_commit_ts(ddls: DataFrame) -> DataFrame:
    """DDLs of one commit-ts in one partition: parts of one statement, and names swapped in it."""
    names = sf.lower(sf.replace("query", sf.lit("`"), sf.lit("")))
    by_ts = ddls.groupBy(*PARTITION, "commit_ts").agg(
        sf.count_distinct("query", "schema", "table").alias("parts"),
        sf.flatten(sf.collect_set(sf.regexp_extract_all(names, sf.lit(_RENAMED), 1))).alias("old"),
        sf.flatten(sf.collect_set(sf.regexp_extract_all(names, sf.lit(_RENAMED), 2))).alias("new"),
        first_event(),
    )
    return features_of_groups(
        by_ts, {"split-ddl": "parts > 1", "rename-swap": sf.arrays_overlap("old", "new")}
    )


def _many_kinds(ddls: DataFrame) -> DataFrame:
    """Kinds of DDL, distinguished by the first two words of the query, which every protocol has."""
    words = sf.upper(sf.regexp_extract("query", r"^\s*(\w+\s+\w+)", 1))
    kinds = ddls.groupBy("topic").agg(sf.count_distinct(words).alias("kinds"), first_event())
    return features_of_groups(kinds, {"ddl-of-many-kinds": f"kinds >= {_KINDS_OF_DDL}"})


def _of_rows(with_position: DataFrame) -> list[DataFrame]:
    rows = with_position.filter("kind = 'row'")
    # Deletes and too large rows may have the handle key only.
    whole = rows.filter("op <> 'delete' and coalesce(handle_key_only, 0) = 0")
    names = sf.xxhash64(sf.sort_array(sf.transform("columns", lambda one: one["name"])))
    by_table = whole.groupBy("topic", "schema", "table").agg(
        (sf.min(names) != sf.max(names)).alias("changed"), first_event()
    )
    parts = (
        rows.filter("table_id > 0")
        .groupBy("topic", "schema", "table")
        .agg(sf.count_distinct("table_id").alias("parts"), first_event())
    )
    large = features_found(
        rows.select(*EVENT_POSITION, "handle_key_only"), {"handle-key-only-row": "handle_key_only <> 0"}
    )
    return [
        features_of_groups(by_table, {"schema-change": "changed"}),
        features_of_groups(parts, {"partitioned-table": "parts > 1"}),
        large,
    ]
