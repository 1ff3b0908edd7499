"""The change log of a step of a large dump: each task reads INSERTs from a part of the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.dataframes import CHANGE_LOG as LOG_TYPE
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.dump_file import Span
from ticdc_producer.scenario.dump_step import DumpPlan
from ticdc_producer.scenario.history import Change
from ticdc_producer.scenario.sql.allocator import RowIds
from ticdc_producer.scenario.sql.session import Session
from ticdc_producer.scenario.sql.storage import Table


def dump_changes(spark: SparkSession, plan: DumpPlan) -> DataFrame:
    """The step's changes (shape ``CHANGE_LOG``).

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


def _changes_of(plan: DumpPlan, span: Span, first_commit: int) -> pa.RecordBatch:
    """The changes of the INSERTs of one span."""
    with Path(plan.file).open("rb") as file:
        file.seek(span.start)
        text = file.read(span.end - span.start).decode("utf-8", "surrogateescape")
    table = Table(plan.table, _FileIds(base=span.start, table=plan.table), plan.partitioning)
    session = Session(file=plan.file, database=plan.table.schema, now=plan.commit_time)
    session.adopt(table, plan.mode, first_commit)
    session.run(text, line=span.line)
    return _batch(session.history().changes, hidden_ids=table.has_hidden_id)


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
