"""Checks of a table's columns in its rows: names, types and flags."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import TABLE, Stream, Violation, event_ref
from ticdc_producer.verifier.table_epochs import with_epoch


def check_schema(stream: Stream) -> DataFrame:
    """INV-SCHEMA: rows whose columns differ from those of earlier rows, without a DDL between them.

    Rows with the handle key only are ignored; updates count with their new image. It is a warning, because
    a filter or the start-ts may hide the DDL, and an error in a stream ``from_beginning``.
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
        "columns of %s.%s differ from those of its earlier rows, in names, types or flags", *TABLE
    )
    return found.select(*Violation(severity, (_ref("before"), _ref("seen")), detail).found())


def _whole_rows(stream: Stream) -> DataFrame:
    rows = stream.rows.where("shape is not null and not untracked")
    with_epochs = with_epoch(rows, stream.events, stream.options)
    if stream.options.commit_ts == "exact":
        return with_epochs
    return with_epochs.where("epoch is null or commit_ts > epoch.commit_ts")


def _ref(event: str) -> Column:
    seen = sf.col(event)
    return event_ref(seen["position"], seen["partition"])


def check_flags(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-FLAGS: columns with flags that TiDB never produces."""
    detail = sf.concat(sf.lit("flags of "), sf.array_join("odd_flags", ", "))
    return Violation(
        sf.lit("info"), (event_ref(),), detail, sf.expr("kind = 'row' and odd_flags is not null")
    )
