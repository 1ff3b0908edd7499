"""Generated events are the same whichever way they are drawn: by partition, by rows, or from all changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from tests.runs.test_generate import SCENARIO
from ticdc_producer.faults.legal import moved_tables
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.shapes import EVENT_STREAM
from ticdc_producer.pipeline.event_stream import event_stream
from ticdc_producer.runs.change_log import RunChangeLog, change_log
from ticdc_producer.runs.generated_stream import GeneratedPartitions
from ticdc_producer.runs.prepare import Job, prepare
from ticdc_producer.runs.simulate import change_batch
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.changes import ChangeSource
from ticdc_producer.spark.event_stream import ordered_events
from ticdc_producer.spark.row_events import row_events

OVERRIDES = ["steps[1].generate.transactions=40", "steps[1].generate.rows=20"]
MOVING = SCENARIO.replace("PROTOCOL", "open-protocol").replace(
    "key-changes: 0.2", "key-changes: 0.5\n      changes-per-row: 3\n      rows-per-transaction: 9"
).replace("      rows-per-transaction: 4\n", "")  # fmt: skip
HIDDEN = SCENARIO.replace("PROTOCOL", "open-protocol").replace("PRIMARY KEY,", "PRIMARY KEY NONCLUSTERED,", 1)
RULES = {
    "index-value": "partition: index-value",
    "ts": "partition: ts",
    "table": "partition: table",
    "a column that updates change": "partition: columns, columns: [kind]",
    "topics by table": "partition: index-value, topic: 'of_{schema}_{table}'",
}


def whole(job: Job, faults: EventFaults | None = None) -> pa.Table:
    """The event stream of all changes, each of them drawn and then collapsed."""
    source = ChangeSource(plans=job.history.generated, expressions=no_expressions, net=False)
    changes = [change_batch(job.history.changes), *source.batches()]
    return pa.Table.from_batches([event_stream(pa.concat_batches(changes), job.stream, faults)])


def by_partition(
    job: Job, faults: EventFaults | None = None, moved: Mapping[int, int] = MappingProxyType({})
) -> pa.Table:
    few = change_batch(job.history.changes)
    partitions = GeneratedPartitions(job.stream, job.history.generated, few, faults, moved)
    indexes = range(len(job.stream.topic_partitions))
    batches = [batch for index in indexes for batch in partitions.events(index, no_expressions)]
    return pa.Table.from_batches(batches)


def in_partitions(committed: RunChangeLog, job: Job, faults: EventFaults | None = None) -> DataFrame:
    """The events that a task of Spark draws for each partition."""
    schema = from_arrow_schema(EVENT_STREAM)
    return committed.events(job.stream, faults).mapped(lambda batches: batches, schema, EVENT_STREAM.names)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scenario", [MOVING, HIDDEN], ids=["keys change", "hidden row ids"])
def test_a_partition_draws_what_all_changes_lead_to(tmp_path: Path, scenario: str, rule: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(scenario.replace("partition: index-value", RULES[rule]))
    if rule.startswith("a column"):
        path.write_text(path.read_text().replace("matcher: ['*.*']", "matcher: ['test.accounts']"))
    job = prepare(path)
    assert whole(job).combine_chunks().equals(by_partition(job).combine_chunks())


@pytest.mark.parametrize("name", ["sysbench", "bank", "orders", "ddl-mix", "all-types", "wide", "large-rows"])
def test_shipped_workloads_by_partition(name: str) -> None:
    job = prepare(name)
    assert whole(job).combine_chunks().equals(by_partition(job).combine_chunks())


LEGAL = (
    "duplicate-event:rate=0.1", "duplicate-ddl", "batch-boundaries:rate=0.1", "regrouped-batches:rate=0.5",
    "replay-suffix:rate=0.2", "replay-partial:rate=0.2", "replay-one-table:rate=0.2", "resolved-lag:rate=0.1",
    "resolved-fallback:rate=0.1", "ddl-at-resolved-ts",
)  # fmt: skip


@pytest.mark.parametrize(
    "inject", [LEGAL, LEGAL[:4], (*LEGAL, "lost-row:times=2"), ("corrupt-bytes",)], ids=len
)
@pytest.mark.parametrize("name", ["sysbench", "ddl-mix"])
def test_a_partition_has_the_faults_of_the_whole_stream(
    spark: SparkSession, name: str, inject: tuple[str, ...]
) -> None:
    """Those that TiCDC would send, too; where they are depends on no other partition."""
    job = prepare(name, inject=inject)
    faults = job.event_faults(illegal=False)
    assert faults is not None
    everything = whole(job, faults)
    assert pc.any(pc.is_valid(everything["fault"])).as_py() or inject == ("corrupt-bytes",)
    moved = moved_tables(whole(job).to_batches(), faults.plan)
    tables = {segment: table for segment, (_, table) in moved.items()}
    assert by_partition(job, faults, tables).combine_chunks().equals(everything.combine_chunks())
    drawn = in_partitions(change_log(spark, job.history), job, faults).toArrow().cast(EVENT_STREAM)
    assert drawn.combine_chunks().equals(everything.combine_chunks())


@pytest.mark.parametrize("scenario", [MOVING, HIDDEN], ids=["keys change", "hidden row ids"])
def test_tasks_draw_partitions_or_rows(spark: SparkSession, tmp_path: Path, scenario: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(scenario)
    job = prepare(path)
    committed = change_log(spark, job.history)
    partitions = in_partitions(committed, job)
    rows = ordered_events(committed.rows(job.stream), job.stream)
    every_change = ordered_events(row_events(committed.changes, job.stream), job.stream)
    assert committed.changes.count() == job.history.row_changes
    wanted = whole(job).to_pylist()
    for found in (partitions, rows, every_change):
        assert found.toArrow().to_pylist() == wanted


def test_columns_with_expressions(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "expressions.yaml"
    text = (
        SCENARIO.replace("PROTOCOL", "open-protocol")
        .replace(" UNIQUE", "")
        .replace(
            "      key-changes: 0.2\n",
            """\
      columns:
        owner: {expression: "concat('owner ', number)"}
        balance: {expression: "cast(pmod(draw, 1000) AS DECIMAL(12,2)) / 10"}
        rate: {expression: "row / 3"}
""",
        )
    )
    path.write_text(text)
    job = prepare(path)
    committed = change_log(spark, job.history)
    partitions = in_partitions(committed, job)
    rows = ordered_events(committed.rows(job.stream), job.stream)
    assert partitions.toArrow().to_pylist() == rows.toArrow().to_pylist()
