"""Run a change log that a user built from DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.tso import DEFAULT_EVERY_MS, DEFAULT_START, CommitClock
from ticdc_producer.runs.change_log import RunChangeLog
from ticdc_producer.runs.execute import execute
from ticdc_producer.runs.prepare import Job, changefeed_of
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import OnStatus, RunReport, ignore_status
from ticdc_producer.runs.simulate import change_batch
from ticdc_producer.runs.step_rows import StepRows
from ticdc_producer.runs.targets import checked_targets, started
from ticdc_producer.scenario.dataframe import Tables
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.scenario.version_metadata import with_update_ts
from ticdc_producer.spark.spark_errors import translate_worker_errors


@translate_worker_errors()
def run_changes(
    changes: DataFrame,
    tables: Tables,
    *,
    name: str = "changes",
    sink_uri: str | None = None,
    config: str | Path | None = None,
    out: str | Path | None = None,
    start: int = DEFAULT_START,
    every_ms: int = DEFAULT_EVERY_MS,
    append: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    keep: bool = False,
    kafka_properties: Sequence[str] = (),
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
    :param config: a changefeed TOML.
    :param out: the golden folder to write; must not exist.
    :param start: TSO of the first commit.
    :param every_ms: milliseconds between two commits.
    :param append: write after the messages that a topic already holds.
    :param resume: continue an earlier run of the same change log that did not finish.
    :param dry_run: count and encode, write nothing.
    :param keep: leave the embedded broker running.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param on_status: called with a line of text for each step of the work.
    :raises ProducerError: as ``run``.
    """
    last = changes.agg(F.max("commit_seq")).collect()[0][0]
    if last is None:
        raise ScenarioError("the change log contains no changes")
    changefeed = changefeed_of(sink_uri, config, name=name, kafka_properties=kafka_properties)
    scenario = _scenario(name, start, every_ms)
    clock = CommitClock(start=start, every_us=1000 * every_ms)
    catalog = TableFilter(changefeed).mark_ddls(tables.catalog.with_profile(changefeed.profile), clock.ts)
    catalog = with_update_ts(catalog, clock, changefeed.profile)
    job = Job(
        scenario=scenario,
        history=History(catalog=catalog, changes=[], commits=tables.commits + last + 1),
        changefeed=changefeed,
    )
    options = RunOptions(
        out=None if out is None else Path(out),
        append=append,
        resume=resume,
        dry_run=dry_run,
        keep=keep,
        on_status=on_status,
    )
    targets = checked_targets(job, options)
    shifted = changes.withColumn("commit_seq", F.col("commit_seq") + tables.commits)
    committed = RunChangeLog(StepRows(changes.sparkSession), change_batch(()), shifted)
    with started(targets):
        return execute(job, committed, targets, options)


def _scenario(name: str, start: int, every_ms: int) -> ScenarioFile:
    """The settings of a scenario without steps."""
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
