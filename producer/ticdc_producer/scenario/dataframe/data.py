"""The change logs of ``data`` steps and of large dumps, and the rows that exist after a ``data`` step."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.engine.dataset import Batches, Dataset, Order
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column_functions import first_of_groups
from ticdc_producer.model.shapes import CHANGE_LOG, IMAGE, TABLE_ROWS, ChangeBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.data_steps import DataPlan, LogPlan, SourcePlan, location_of
from ticdc_producer.scenario.dataframe.changes import changes_in, frame_changes
from ticdc_producer.scenario.file_steps import DumpPlan, StatementSpan
from ticdc_producer.scenario.history import Change
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.store.allocator import RowIds
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence


def dump_changes(engine: SparkEngine, plan: DumpPlan) -> Dataset:
    """Read the changes of a dump (shape ``CHANGE_LOG``), in the order of the file.

    Duplicate keys are found among the rows that one task reads only. A table without a clustered primary key
    has row keys by the position in the file, and no row ids.
    """
    spans = plan.step.spans
    commits = [*accumulate((span.statements for span in spans), initial=plan.first_commit)]
    return engine.of_parts(
        len(spans), lambda part: iter([_changes_of(plan, spans[part], commits[part])]), CHANGE_LOG
    )


def _changes_of(plan: DumpPlan, span: StatementSpan, first_commit: int) -> ChangeBatch:
    """Return the changes of the INSERTs of one span."""
    name = span.file or plan.file
    with Path(name).open("rb") as file:
        file.seek(span.start)
        text = file.read(span.end - span.start).decode("utf-8", "surrogateescape")
    table = Table(
        plan.table, _FileIds(base=span.bytes_before + span.start, table=plan.table), plan.partitioning
    )
    session = Session(file=name, database=plan.table.schema, now=plan.commit_time)
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

    def take(self, _increment: int = 1, _offset: int = 1, _count: int = 1, /) -> int:
        if self.table is not None and any(column.auto_increment for column in self.table.columns):
            what = "an INSERT of a large dump without a value for its AUTO_INCREMENT column is not supported"
            raise UnsupportedSQL(what, hint="write the values, and a clustered primary key")
        self.base += 1
        return self.base


def _batch(changes: list[Change], *, hidden_ids: bool) -> ChangeBatch:
    columns = {name: [getattr(change, name) for change in changes] for name in CHANGE_LOG.names}
    if hidden_ids:
        columns["row_id"] = [0] * len(changes)
    arrays = [pa.array(columns[field.name], field.type) for field in CHANGE_LOG]
    batch: ChangeBatch = pa.record_batch(arrays, schema=CHANGE_LOG)
    return batch


def data_changes(engine: SparkEngine, plan: SourcePlan) -> Dataset:
    """Return the step's changes (shape ``CHANGE_LOG``), in no order; if ``is_by_row``, those of a row follow
    each other.

    :raises ScenarioError: with the step's file and line, for a source that Spark cannot read, and for columns
        that do not fit the table.
    """
    if isinstance(plan, DumpPlan):
        return dump_changes(engine, plan)
    if isinstance(plan, LogPlan):
        frame = plan.frame.spark_frame(engine.spark)
        known = changes_in(frame)
        log: Dataset = engine.of_frame(frame, CHANGE_LOG) if known is None else known.log
    else:
        with _located(plan):
            frame = _loaded(engine.spark, plan)
            location = plan.file, plan.line
            log = frame_changes(
                frame, plan.table, op=plan.op, order=plan.order, before=plan.before, location=location
            ).log
    return log.map(partial(_in_history, plan), CHANGE_LOG)


def is_by_row(engine: SparkEngine, plan: SourcePlan) -> bool:
    """Return whether the step's changes of one row follow each other, in their order."""
    if isinstance(plan, LogPlan):
        known = changes_in(plan.frame.spark_frame(engine.spark))
        return known is not None and known.is_by_row
    return isinstance(plan, DataPlan) and plan.before is None


def _in_history(plan: DataPlan | LogPlan, batches: Batches) -> Batches:
    """Yield changes with the numbers of their transactions in the whole history.

    :raises ScenarioError: for a number that the step does not have.
    """
    index = CHANGE_LOG.get_field_index("commit_seq")
    for batch in batches:
        numbers = batch.column(index)
        if isinstance(plan, DataPlan) and (pc.max(numbers).as_py() or 0) >= plan.transactions:
            what = f"{plan.order[0]!r} is not below {plan.transactions}, the step's transactions"
            value = str(pc.max(numbers))
            error = ScenarioError(f"{what}: {value!r}", column=plan.order[0], value=value)
            raise error.at(plan.file, plan.line)
        yield batch.set_column(index, CHANGE_LOG.field(index), pc.add(numbers, plan.first_commit))


_ROWS_BY_POSITION = pa.schema([
    ("row_key", pa.binary()), ("commit_seq", pa.int64()), ("row_seq", pa.int64()), ("row", IMAGE),
])  # fmt: skip


def data_rows(engine: SparkEngine, plan: SourcePlan, table: TableInfo, commits: int | None = None) -> Dataset:
    """Return the rows that exist after the step (shape ``TABLE_ROWS``), in no order.

    :param table: the table whose rows are returned.
    :param commits: number of commits of the whole history after which the rows are taken; None: all.
    """
    by_key = data_changes(engine, plan).map(partial(_rows_after, table, commits), _ROWS_BY_POSITION)
    if not is_by_row(engine, plan):
        by_key = by_key.shuffle(("row_key",), Order(("row_key", "commit_seq", "row_seq")))
    return by_key.map_groups(_last_rows, ("row_key",), TABLE_ROWS)


def _rows_after(table: TableInfo, commits: int | None, batches: Batches) -> Batches:
    """Yield what each change leaves at its key, and NULL for the key that an update took its row from."""
    for batch in batches:
        counts = pc.equal(batch.column("table_version"), table.version)
        if commits is not None:
            counts = pc.and_(counts, pc.less(batch.column("commit_seq"), commits))
        rows = batch.filter(counts)
        yield rows.rename_columns({"after": "row"}).select(_ROWS_BY_POSITION.names)
        moved = rows.filter(rows.column("old_row_key").is_valid())
        if moved.num_rows:
            positions = [moved.column(name) for name in ("old_row_key", "commit_seq", "row_seq")]
            yield pa.record_batch([*positions, pa.nulls(moved.num_rows, IMAGE)], schema=_ROWS_BY_POSITION)


def _last_rows(by_key: pa.RecordBatch) -> pa.RecordBatch:
    """Return the last row at each key, if there is one."""
    last = by_key.filter(pa.array(np.roll(first_of_groups(by_key, ("row_key",)), -1)))
    rows = last.filter(last.column("row").is_valid())
    return rows.select(TABLE_ROWS.names)


def _loaded(spark: SparkSession, plan: DataPlan) -> DataFrame:
    source = plan.source
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
