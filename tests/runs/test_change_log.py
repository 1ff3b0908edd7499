"""Generated events are the same whichever way they are drawn: by partition, by rows, or from all changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from tests.runs.test_generate import SCENARIO
from tests.streams import event_stream
from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.errors import ArgumentError
from ticdc_producer.faults.legal import moved_tables
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.shapes import EVENT_STREAM
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.changes import ChangeSource
from ticdc_producer.simulate.change_log import UpstreamLog, change_batch, shuffled_row_events
from ticdc_producer.simulate.generated import GeneratedPartitions, GeneratedVolume
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.stream import ordered_events

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


def divided(engine: Engine, job: Job, faults: EventFaults | None = None) -> pa.Table:
    """The events that each part draws for its partition."""
    few = change_batch(job.history.changes)
    events = GeneratedVolume(tuple(job.history.generated)).ordered_events(engine, job.stream, few, faults)
    return pa.Table.from_batches(events.batches(), EVENT_STREAM)


def shuffled(engine: Engine, job: Job, rows: Callable[[UpstreamLog, ExitStack], Dataset]) -> pa.Table:
    """The events that shuffles divide and order."""
    log = UpstreamLog(change_batch(job.history.changes), [GeneratedVolume(tuple(job.history.generated))])
    with ExitStack() as stack:
        log = replace(log, row_events=rows(log, stack))
        events = ordered_events(log, job.stream, engine, stack)
        return pa.Table.from_batches(events.batches(), EVENT_STREAM)


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


INJECTED = (LEGAL, LEGAL[:4], (*LEGAL, "lost-row:times=2"), ("corrupt-bytes",))
FAST = {("sysbench", LEGAL, "local"), ("ddl-mix", LEGAL[:4], "local")}


@pytest.mark.parametrize(
    ("name", "inject", "engine"),
    [
        pytest.param(
            name,
            inject,
            engine,
            id=f"{name}-{len(inject)}-{engine}",
            marks=() if (name, inject, engine) in FAST else pytest.mark.slow,
        )
        for name in ("sysbench", "ddl-mix")
        for inject in INJECTED
        for engine in ("local", "spark")
    ],
    indirect=["engine"],
)
def test_a_partition_has_the_faults_of_the_whole_stream(
    engine: Engine, name: str, inject: tuple[str, ...]
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
    assert divided(engine, job, faults).combine_chunks().equals(everything.combine_chunks())


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(MOVING, id="keys change"),
        pytest.param(HIDDEN, id="hidden row ids", marks=pytest.mark.slow),
    ],
)
def test_tasks_draw_partitions_or_rows(spark: SparkSession, tmp_path: Path, scenario: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(scenario)
    job = prepare(path)
    expected = whole(job).to_pylist()
    for engine in (LocalEngine(), SparkEngine(spark)):
        source = GeneratedVolume(tuple(job.history.generated))
        number = sum(batch.num_rows for batch in source.changes(engine).batches())
        assert number == sum(plan.events for plan in job.history.generated)
        assert divided(engine, job).to_pylist() == expected
        assert shuffled(engine, job, partial(_rows, engine, job)).to_pylist() == expected
        assert shuffled(engine, job, partial(_all_shuffled, engine, job)).to_pylist() == expected


def _rows(engine: Engine, job: Job, log: UpstreamLog, stack: ExitStack) -> Dataset:
    return log.rows(engine, job.stream, stack)


def _all_shuffled(engine: Engine, job: Job, log: UpstreamLog, stack: ExitStack) -> Dataset:
    return shuffled_row_events(log.changes(engine), job.stream, stack)


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
    job, engine = prepare(path), SparkEngine(spark)
    rows = shuffled(engine, job, partial(_rows, engine, job))
    assert divided(engine, job).to_pylist() == rows.to_pylist()
    with pytest.raises(ArgumentError, match=r"`expression`, which is Spark SQL, requires Spark"):
        divided(LocalEngine(), job)
