"""The change logs of ``data`` steps and of large dumps, and the rows that exist after a ``data`` step."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.data_steps import Data, DataPlan, LogPlan, SourcePlan, location_of
from ticdc_producer.scenario.dataframe.changes import changes
from ticdc_producer.scenario.file_steps import DumpPlan, StatementSpan
from ticdc_producer.scenario.history import Change
from ticdc_producer.scenario.sql.allocator import RowIds
from ticdc_producer.scenario.sql.session import Session
from ticdc_producer.scenario.sql.storage import Table
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence, stop_job
from ticdc_producer.spark.storage import CHANGE_LOG as LOG_TYPE


def dump_changes(spark: SparkSession, plan: DumpPlan) -> DataFrame:
    """Read the changes of a dump (shape ``CHANGE_LOG``), in the order of the file.

    Duplicate keys are found among the rows that one task reads only. A table without a clustered primary key
    has row keys by the position in the file, and no row ids.
    """
    commits, first = [], plan.first_commit
    for span in plan.step.spans:
        commits.append(first)
        first += span.statements
    spans = list(zip(plan.step.spans, commits, strict=True))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield _changes_of(plan, *spans[number])

    return spark.range(0, len(spans), 1, len(spans)).mapInArrow(read, LOG_TYPE)


def _changes_of(plan: DumpPlan, span: StatementSpan, first_commit: int) -> pa.RecordBatch:
    """Return the changes of the INSERTs of one span."""
    with Path(plan.file).open("rb") as file:
        file.seek(span.start)
        text = file.read(span.end - span.start).decode("utf-8", "surrogateescape")
    table = Table(plan.table, _FileIds(base=span.start, table=plan.table), plan.partitioning)
    session = Session(file=plan.file, database=plan.table.schema, now=plan.commit_time)
    session.adopt(table, plan.mode, first_commit)
    with _collector_paused():
        session.run(text, line=span.line)
        return _batch(session.history().changes, hidden_ids=table.has_hidden_id)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the collector of cyclic garbage in this context: it would visit all rows of a span repeatedly."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(slots=True)
class _FileIds(RowIds):
    """Hidden row ids by the position in the file, since no task knows how many rows come before its own."""

    table: TableInfo | None = None

    def take(self) -> int:
        if self.table is not None and any(column.auto_increment for column in self.table.columns):
            what = "an INSERT of a large dump without a value for its AUTO_INCREMENT column is not supported"
            raise UnsupportedSQL(what, hint="write the values, and a clustered primary key")
        self.base += 1
        return self.base


def _batch(changes: list[Change], *, hidden_ids: bool) -> pa.RecordBatch:
    columns = {name: [getattr(change, name) for change in changes] for name in CHANGE_LOG.names}
    if hidden_ids:
        columns["row_id"] = [0] * len(changes)
    return pa.record_batch(
        [pa.array(columns[field.name], field.type) for field in CHANGE_LOG], schema=CHANGE_LOG
    )


def data_changes(spark: SparkSession, plan: SourcePlan) -> DataFrame:
    """Return the step's changes (shape ``CHANGE_LOG``), in no order.

    :raises ScenarioError: with the step's file and line, for a source that Spark cannot read, and for columns
        that do not fit the table.
    """
    if isinstance(plan, DumpPlan):
        return dump_changes(spark, plan)
    number = F.col("commit_seq")
    if isinstance(plan, LogPlan):
        return plan.frame.spark_frame(spark).withColumn("commit_seq", number + plan.first_commit)
    with _located(plan):
        log = changes(_loaded(spark, plan), plan.table, op=plan.op, order=plan.order, before=plan.before)
    what = f"{plan.order[0]!r} is not below {plan.transactions}, the step's transactions: "
    beyond = stop_job(what, number).cast("long")
    shifted = F.when(number < plan.transactions, number + plan.first_commit).otherwise(beyond)
    return log.withColumn("commit_seq", shifted)


def data_rows(
    spark: SparkSession, plan: SourcePlan, table: TableInfo, commits: int | None = None
) -> DataFrame:
    """Return the rows that exist after the step: columns ``row_key`` and ``row`` (an image), in no order.

    :param table: the table whose rows are returned.
    :param commits: number of commits of the whole history after which the rows are taken; None: all.
    """
    log = data_changes(spark, plan)
    if len(plan.tables) > 1:
        log = log.where(F.col("table_version") == table.version)
    if commits is not None:
        log = log.where(F.col("commit_seq") < commits)
    position = F.struct("commit_seq", "row_seq")
    arrived = log.select(
        "row_key", position.alias("place"), F.struct(F.col("after").alias("row")).alias("left")
    )
    no_row = F.struct(F.lit(None).cast(log.schema["after"].dataType).alias("row"))
    moved = log.where("old_row_key IS NOT NULL")
    gone = moved.select(F.col("old_row_key").alias("row_key"), position.alias("place"), no_row.alias("left"))
    last = arrived.unionByName(gone).groupBy("row_key").agg(F.max_by("left", "place").alias("last"))
    return last.where("last.row IS NOT NULL").select("row_key", F.col("last.row").alias("row"))


def _loaded(spark: SparkSession, plan: DataPlan) -> DataFrame:
    source = plan.source
    if not isinstance(source, Data):
        return source.spark_frame(spark)
    reader = spark.read.format(source.format).options(**source.options)
    if source.schema_ is not None:
        reader = reader.schema(source.schema_)
    return reader.load() if source.path is None else reader.load(location_of(source.path, plan.file))


@contextmanager
def _located(plan: DataPlan) -> Iterator[None]:
    """Add the step's file and line to errors in this context; Spark's errors become ``ScenarioError``."""
    try:
        yield
    except ScenarioError as error:
        raise error.at(plan.file, plan.line) from None
    except READ_ERRORS as error:
        what = f"Spark cannot read the data of {plan.table.qualified_name}: {first_sentence(error)}"
        raise ScenarioError(what, file=plan.file, line=plan.line) from None
