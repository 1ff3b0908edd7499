"""Running a change log that a user made from DataFrames of their own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.config import SinkKind
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.clock import DEFAULT_EVERY_MS, DEFAULT_START, Clock
from ticdc_producer.runs.change_log import Upstream
from ticdc_producer.runs.prepare import Job, changefeed_of
from ticdc_producer.runs.run import Manner, checked_target, execute
from ticdc_producer.runs.run_report import RunReport, Say, silent
from ticdc_producer.runs.run_storage import check_storage, run_storage
from ticdc_producer.scenario.dataframe import Tables
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.scenario.spec import DEFAULT_NOW
from ticdc_producer.scenario.update_ts import with_update_ts
from ticdc_producer.spark.worker_errors import values_refused


@values_refused()
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
    client: Sequence[str] = (),
    say: Say = silent,
) -> RunReport:
    """Run a change log: the tables' DDL first, then the changes, as ``run`` does with a scenario.

    Transaction 0 of the change log is the first commit behind the DDL. A resolved event follows every
    commit of the clock up to the last transaction. There is no expected state to compare with.

    :param changes: what ``changes`` made; for several tables the union.
    :param tables: what ``tables`` made.
    :param start: TSO of the first commit.
    :param every_ms: milliseconds between two commits.
    :param client: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :raises ProducerError: as ``run``.
    """
    last = changes.agg(F.max("commit_seq")).collect()[0][0]
    if last is None:
        raise ScenarioError("the change log holds no changes")
    changefeed = changefeed_of(sink_uri, config, name=name, client=client)
    scenario = _scenario(name, start, every_ms)
    clock = Clock(start=start, every_us=1000 * every_ms)
    shown = TableFilter(changefeed).told(tables.catalog.seen_by(changefeed.profile), clock.ts)
    catalog = with_update_ts(shown, clock, changefeed.profile)
    job = Job(
        scenario=scenario,
        history=History(catalog=catalog, changes=[], commits=tables.commits + last + 1),
        changefeed=changefeed,
    )
    given = {"out": out, "append": append, "resume": resume, "keep": keep}
    in_files = changefeed.sink_uri.kind is SinkKind.STORAGE
    storage = check_storage(job, dry_run=dry_run, **given) if in_files else None
    manner = Manner(append=append, resume=resume, dry_run=dry_run, keep=keep, say=say)
    folder = None if storage else checked_target(job, out, manner)
    behind = changes.withColumn("commit_seq", F.col("commit_seq") + tables.commits)
    if storage is not None:
        return run_storage(job, Upstream(behind), storage, dry_run=dry_run, say=say)
    return execute(job, Upstream(behind), folder, manner)


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
        now=DEFAULT_NOW,
        resolved_every=None,
        changefeed={},
        steps=(),
        on_error="stop",
    )
