"""Checks of single events: topic, partition, time stamp and keys."""

from __future__ import annotations

from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.routing import expected_partition
from ticdc_producer.verifier.stream import FIRST_ROW, Violation, event_ref

_YEAR_2015 = 1_420_070_400_000
"""In Unix milliseconds; the year in which the development of TiDB started."""


def check_row_partition(options: VerifyOptions) -> Violation:
    """INV-ROW-PARTITION: rows in another partition than the dispatch rule gives."""
    expected = expected_partition(sf.col("dispatch_key"), options.partitions)
    severity = sf.when(sf.col("certain"), "error").otherwise("warning")
    text = "rule %s: dispatch key %d belongs in partition %d, found in %d"
    detail = sf.format_string(text, "rule", "dispatch_key", expected, "partition")
    wrong = (sf.col("kind") == "row") & (expected != sf.col("partition"))
    return Violation(severity, (event_ref(),), detail, wrong)


def check_key_update_split(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-KEY-UPDATE-SPLIT: updates that change a handle or unique column."""
    detail = sf.concat(sf.lit("changes "), sf.array_join("key_change", ", "))
    wrong = sf.expr(f"{FIRST_ROW} and size(key_change) > 0")
    return Violation(sf.lit("error"), (event_ref(),), detail, wrong)


def check_topic(options: VerifyOptions) -> Violation:
    """INV-TOPIC: rows and DDLs in another topic than the changefeed's rules give.

    A DDL that renames a table goes to the topic of the old name, which its event lacks; it is not checked.
    Resolved events go to every topic.
    """
    none = sf.lit(None).cast("string")
    of_database = none if options.default_topic is None else sf.lit(options.default_topic)
    expected = sf.when(sf.expr("kind = 'ddl' and table = ''"), of_database).otherwise(sf.col("rule_topic"))
    checked = sf.expr("kind = 'row' or (kind = 'ddl' and ddl_effect != 'moves')")
    detail = sf.format_string("belongs in topic %s", expected)
    return Violation(sf.lit("error"), (event_ref(),), detail, checked & (expected != sf.col("topic")))


def check_ts_sane(options: VerifyOptions) -> Violation:
    """INV-TS-SANE: commit-ts and resolved-ts that do not decode to a plausible time."""
    milliseconds = sf.shiftright("commit_ts", 18)
    if options.ts_range is None:
        tomorrow = sf.unix_millis(sf.current_timestamp()) + 86_400_000
        wrong = (milliseconds < _YEAR_2015) | (milliseconds > tomorrow)
    else:
        first, last = options.ts_range
        wrong = ~milliseconds.between(first, last)
    detail = sf.format_string("ts %d is %s", "commit_ts", sf.timestamp_millis(milliseconds).cast("string"))
    return Violation(sf.lit("warning"), (event_ref(),), detail, (sf.col("kind") != "error") & wrong)


def check_handle(options: VerifyOptions) -> Violation:
    """INV-HANDLE: rows without handle key, or with NULL in their handle key."""
    keyless = "false" if options.force_replicate else "row_key is null"
    detail = sf.when(sf.col("row_key").isNull(), "no column belongs to a handle key").otherwise(
        "a column of the handle key is NULL"
    )
    wrong = sf.expr(f"kind = 'row' and ({keyless} or coalesce(null_handle, false))")
    return Violation(sf.lit("warning"), (event_ref(),), detail, wrong)
