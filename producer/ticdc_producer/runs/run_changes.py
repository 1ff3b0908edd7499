"""Run a change log that a user built from DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.config import Changefeed, ConfigSource
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import (
    SMALL_EVENTS,
    EngineStart,
    Estimate,
    choose_engine,
    translate_worker_errors,
)
from ticdc_producer.engine.spool import joined
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.model.tso import DEFAULT_EVERY_MS, DEFAULT_START, CommitClock
from ticdc_producer.runs.run import execute
from ticdc_producer.runs.run_options import OnStatus, RunOptions, ignore_status
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.targets.selection import checked_targets, started
from ticdc_producer.scenario.dataframe import Tables
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.scenario.table_versions import with_update_ts
from ticdc_producer.simulate.change_log import UpstreamLog, change_batch
from ticdc_producer.simulate.job import Job, changefeed_of
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.simulate.spark_sources import FrameChanges


@translate_worker_errors()
def run_changes(
    changes: DataFrame,
    tables: Tables,
    *,
    name: str = "changes",
    sink_uri: str | None = None,
    config: ConfigSource | None = None,
    out: str | Path | None = None,
    start: int = DEFAULT_START,
    every_ms: int = DEFAULT_EVERY_MS,
    append: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    keep: bool = False,
    kafka_properties: Sequence[str] = (),
    engine: EngineOption = "auto",
    on_status: OnStatus = ignore_status,
) -> RunReport:
    """Run a change log: first the tables' DDL, then the changes, as ``run`` does with a scenario.

    Transaction 0 of the change log is the first commit after the DDL. A resolved event follows every
    commit of the clock up to the last transaction. No expected state is compared.

    :param changes: result of ``changes`` (shape ``CHANGE_LOG``, in any order); for several tables the union
        of the results.
    :param tables: result of ``tables``.
    :param name: name of the run in reports.
    :param sink_uri: TiCDC's sink URI; see ``run``.
    :param config: a changefeed TOML, or its content as a mapping.
    :param out: the golden folder to write; must not exist.
    :param start: TSO of the first commit.
    :param every_ms: milliseconds between two commits.
    :param append: write after the messages that a topic already holds.
    :param resume: continue an earlier run of the same change log that did not finish.
    :param dry_run: count and encode, write nothing.
    :param keep: leave the embedded broker running.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param engine: as for ``run``. With ``auto``, rows up to the limit come to this process, and run in it.
    :param on_status: called with a line of text for each step of the work.
    :raises ProducerError: as ``run``.
    """
    few = None if engine == "spark" else _few(changes, engine)
    last = _last_transaction(changes) if few is None else pc.max(few.column("commit_seq")).as_py()
    if last is None:
        raise ScenarioError("the change log contains no changes")
    changefeed = changefeed_of(sink_uri, config, name=name, kafka_properties=kafka_properties)
    job = _job(name, tables, last, changefeed, start, every_ms)
    options = RunOptions(
        out=None if out is None else Path(out),
        append=append,
        resume=resume,
        dry_run=dry_run,
        keep=keep,
        engine=engine,
        on_status=on_status,
    )
    targets = checked_targets(job, options)
    choice = choose_engine(engine, _estimate(job, few))
    with started(targets):
        log = _change_log(changes, None if choice.name == "spark" else few, tables.commits)
        simulation = Simulation(job, EngineStart(choice, on_status=on_status)(), log)
        return replace(execute(simulation, targets, options), engine=choice)


def _few(changes: DataFrame, engine: EngineOption) -> pa.Table | None:
    """Return the changes if they are few or the engine is this process, else None."""
    rows = changes.select(*CHANGE_LOG.names)
    few = (rows if engine == "local" else rows.limit(SMALL_EVENTS + 1)).toArrow()
    return few.cast(CHANGE_LOG) if engine == "local" or few.num_rows <= SMALL_EVENTS else None


def _last_transaction(changes: DataFrame) -> int | None:
    last: int | None = changes.agg(F.max("commit_seq")).collect()[0][0]
    return last


def _estimate(job: Job, few: pa.Table | None) -> Estimate:
    rows = SMALL_EVENTS + 1 if few is None else few.num_rows
    control = job.history.commits * len(job.stream.topic_partitions)
    return Estimate(events=rows + control, nbytes=0 if few is None else few.nbytes)


def _change_log(changes: DataFrame, few: pa.Table | None, commits: int) -> UpstreamLog:
    """Return the change log of a DataFrame, numbered after some commits.

    :param few: its rows if this process has them.
    """
    if few is None:
        shifted = changes.withColumn("commit_seq", F.col("commit_seq") + commits)
        return UpstreamLog(change_batch(()), [FrameChanges(shifted)])
    shifted_numbers = pc.add(few.column("commit_seq"), commits)
    index = few.schema.get_field_index("commit_seq")
    rows = few.set_column(index, few.schema.field(index), shifted_numbers).combine_chunks()
    return UpstreamLog(joined(rows.to_batches(), CHANGE_LOG))


def _job(name: str, tables: Tables, last: int, changefeed: Changefeed, start: int, every_ms: int) -> Job:
    """Return the job of a change log.

    :param last: number of its last transaction.
    """
    clock = CommitClock(start=start, every_us=1000 * every_ms)
    catalog = TableFilter(changefeed).mark_ddls(tables.catalog.with_profile(changefeed.profile), clock.ts)
    catalog = with_update_ts(catalog, clock, changefeed.profile)
    return Job(
        scenario=_scenario(name, start, every_ms),
        history=History(catalog=catalog, changes=[], commits=tables.commits + last + 1),
        changefeed=changefeed,
    )


def _scenario(name: str, start: int, every_ms: int) -> ScenarioFile:
    """Return the settings of a scenario without steps."""
    return ScenarioFile(
        file="",
        sha256="",
        name=name,
        description="",
        seed=0,
        start=start,
        every=timedelta(milliseconds=every_ms),
        database="test",
        time_zone="+00:00",
        build_time=None,
        now=None,
        resolved_every=None,
        changefeed={},
        steps=(),
        on_error="stop",
    )
