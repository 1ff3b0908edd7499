"""Columns of a table, as its rows show them: names, types and flags."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import TABLE, Stream, Violation, place
from ticdc_producer.verifier.table_epochs import with_epoch


def shapes_differ(stream: Stream) -> DataFrame:
    """INV-SCHEMA: rows of a table with other columns than its rows before, and no DDL between them.

    Rows that show their handle key alone are left out, and of updates the new image counts. A filter or
    the start-ts may hide the DDL, hence a warning; in a stream ``from_beginning`` nothing does, and it is
    an error.
    """
    epoch = ("topic", *TABLE, "epoch")
    shapes = (
        _whole_rows(stream)
        .groupBy(*epoch, "shape")
        .agg(sf.min(sf.struct("commit_ts", "partition", "position")).alias("seen"))
    )
    in_turn = Window.partitionBy(*epoch).orderBy("seen")
    found = shapes.withColumn("before", sf.lag("seen").over(in_turn)).where("before is not null")
    severity = sf.lit("error" if stream.options.from_beginning else "warning")
    detail = sf.format_string(
        "columns of %s.%s differ from those of its rows before, in names, types or flags", *TABLE
    )
    return found.select(*Violation(severity, (_at("before"), _at("seen")), detail).found())


def _whole_rows(stream: Stream) -> DataFrame:
    rows = stream.rows.where("shape is not null and not untraced")
    told = with_epoch(rows, stream.events, stream.options)
    if stream.options.commit_ts == "exact":
        return told
    return told.where("epoch is null or commit_ts > epoch.commit_ts")


def _at(event: str) -> Column:
    seen = sf.col(event)
    return place(seen["position"], seen["partition"])


def odd_columns(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-FLAGS: columns with flags that no TiDB gives."""
    detail = sf.concat(sf.lit("flags of "), sf.array_join("odd_flags", ", "))
    return Violation(sf.lit("info"), (place(),), detail, sf.expr("kind = 'row' and odd_flags is not null"))
