"""Run a change log that a user built from DataFrames of Spark.

``Scenario.changes`` takes the DataFrames themselves, and has every option of ``run``. This function stays for
callers that build change logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.config import ConfigSource
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine import SMALL_EVENTS, EngineOption
from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.errors import ScenarioError
from ticdc_producer.local_path import local_path
from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.model.tso import DEFAULT_EVERY_MS, DEFAULT_START
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import OnStatus, RunOptions, ignore_status
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.scenario.data_steps import LogPlan
from ticdc_producer.scenario.dataframe import Tables
from ticdc_producer.scenario.dataframe.changes import changes_in
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.frames.frame import SparkFrame
from ticdc_producer.scenario.history import Change, History, State, TableState
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.simulate.prepare import planned
from ticdc_producer.spark.storage import materialized


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
    commit of the clock up to the last transaction.

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
    changefeed = changefeed_of(sink_uri, config, name=name, kafka_properties=kafka_properties)
    scenario = Scenario(name, clock={"start": start, "every": f"{every_ms}ms"}).sql(tables.sql).load()
    created = execute(scenario, force_replicate=changefeed.force_replicate, profile=changefeed.profile)
    options = RunOptions(
        out=None if out is None else local_path(out),
        append=append,
        resume=resume,
        dry_run=dry_run,
        keep=keep,
        engine=engine,
        on_status=on_status,
    )
    with _computed(changes) as (log, numbers):
        history = _history(created, log, numbers, engine)
        return run_job(planned(scenario, changefeed, history, traps={}), options)


@contextmanager
def _computed(changes: DataFrame) -> Iterator[tuple[DataFrame, DataFrame]]:
    """Yield a change log and its column ``commit_seq``, both of which can be read without much work."""
    known = changes_in(changes)
    if known is not None:
        yield changes, known.numbers
        return
    with materialized(changes.select(*CHANGE_LOG.names)) as log:
        yield log, log.select("commit_seq")


def _history(created: History, log: DataFrame, numbers: DataFrame, engine: EngineOption) -> History:
    """Return the history of tables and a change log.

    :raises ScenarioError: if it contains no changes.
    """
    count, last = numbers.agg(sf.count("*"), sf.max("commit_seq")).collect()[0]
    if not count:
        raise ScenarioError("the change log contains no changes")
    is_small = engine == "local" or (engine == "auto" and count <= SMALL_EVENTS)
    history = _of_rows(created, log.toArrow().cast(CHANGE_LOG)) if is_small else _of_log(created, log)
    # NULL and negative numbers are rejected with the other values.
    return replace(history, commits=created.commits + max(last or 0, 0) + 1)


def _of_log(created: History, changes: DataFrame) -> History:
    """Return the history of tables and a change log that Spark reads."""
    filled = tuple(created.catalog.tables[state.version] for state in created.state.values())
    plan = LogPlan(frame=SparkFrame(changes), tables=filled, first_commit=created.commits)
    return replace(created, data=(plan,), state={})


def _of_rows(created: History, few: pa.Table) -> History:
    """Return the history of tables and the rows of a change log, in the order of its positions."""
    ordered = few.sort_by([("commit_seq", "ascending"), ("row_seq", "ascending")])
    changes = [
        Change(**{**row, "op": Op(row["op"]), "commit_seq": row["commit_seq"] + created.commits})
        for row in ordered.to_pylist()
    ]
    return replace(created, changes=changes, state=_state_after(created, changes))


def _state_after(created: History, changes: Sequence[Change]) -> State:
    """Return the rows that changes leave in empty tables."""
    rows: dict[int, dict[tuple[int, bytes], tuple[bytes | None, ...]]] = {}
    for change in changes:
        of_table = rows.setdefault(change.table_version, {})
        if change.old_row_key is not None:
            of_table.pop((change.old_table_id or 0, change.old_row_key), None)
        if change.after is None:
            of_table.pop((change.table_id, change.row_key), None)
        else:
            of_table[change.table_id, change.row_key] = tuple(change.after)
    return {
        name: TableState(
            version=state.version,
            rows=tuple(row for _, row in sorted(rows.get(state.version, {}).items())),
        )
        for name, state in created.state.items()
    }
