"""Writes the staged rows of a batch: encodes them, and sends them to the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path

import pyarrow.compute as pc

from pyspark_ticdc.options import GivenOptions
from pyspark_ticdc.write.plan import WritePlan, changefeed_to_write
from pyspark_ticdc.write.staging import StagedRows, StagingFolder
from ticdc_producer.config import Changefeed, SinkKind
from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import ArgumentError, ScenarioError
from ticdc_producer.local_path import local_path
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.runs.run import checked_targets, execute, started
from ticdc_producer.runs.run_options import RunOptions, check_sink_options
from ticdc_producer.runs.targets.batches import (
    BatchHistory,
    BatchRecord,
    BatchRecords,
    BatchTopics,
    RequestedBatch,
    changefeed_identity,
)
from ticdc_producer.runs.targets.run_topics import for_existing_topics
from ticdc_producer.runs.targets.target import Target
from ticdc_producer.scenario.dataframe import Tables
from ticdc_producer.scenario.dataframe.row_histories import RowHistories
from ticdc_producer.scenario.execute import execute as execute_scenario
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.simulate.change_log import UpstreamLog, UpstreamSource, change_batch
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import planned
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.kafka.topics import Topics


def changes_job(
    name: str,
    tables: Tables,
    commits: int,
    changefeed: Changefeed,
    clock: CommitClock,
    *,
    sends_ddls: bool = True,
    resolved_at_end: bool = False,
) -> Job:
    """Return the job of changes, which are not part of it.

    :param commits: number of the commits, those of the tables' DDL included.
    :param sends_ddls: whether the tables' DDL is sent first; otherwise an earlier job has sent it.
    :param resolved_at_end: whether a resolved event follows the last commit alone, not every commit.
    """
    scenario = replace(
        Scenario(name).sql(tables.sql).load(),
        start=clock.start,
        every=timedelta(microseconds=clock.every_us),
        resolved_every=timedelta.max if resolved_at_end else None,
    )
    created = execute_scenario(
        scenario, force_replicate=changefeed.force_replicate, profile=changefeed.profile
    )
    # Nothing is known of the rows that the tables have in the end.
    job = planned(scenario, changefeed, replace(created, commits=commits, state={}), traps={})
    if sends_ddls:
        return job
    catalog = replace(job.history.catalog, ddls=())
    return replace(job, history=replace(job.history, catalog=catalog))


@dataclass(frozen=True)
class StagedChanges(UpstreamSource):
    """The changes of a batch.

    :param files: of the tasks.
    :param shift: is added to the numbers of their transactions.
    """

    folder: StagingFolder
    files: tuple[str, ...]
    histories: RowHistories
    shift: int

    def changes(self, engine: Engine) -> Dataset:
        staged = engine.of_parts(len(self.files), lambda part: self.folder.read(self.files[part]), CHANGE_LOG)
        return self.histories.complete(staged.map(self._shifted, CHANGE_LOG))

    def _shifted(self, batches: Batches) -> Batches:
        for batch in batches:
            numbers = pc.add(batch.column("commit_seq"), self.shift)
            yield batch.set_column(0, CHANGE_LOG.field(0), numbers)


@dataclass(frozen=True)
class BatchWriter:
    """A writer of batches of a query.

    :param query: identity of the query; empty for a batch query.
    """

    plan: WritePlan
    query: str = ""

    @cached_property
    def changefeed(self) -> Changefeed:
        """The changefeed of the query.

        :raises ProducerError: for options that are rejected, and for a stream to another target than topics.
        """
        changefeed = changefeed_to_write(self.plan.options)
        if self.query and (self._out is not None or changefeed.sink_uri.kind is not SinkKind.KAFKA):
            what = "a stream writes topics: a folder is complete once and has no batches"
            raise ArgumentError(what, argument="path", hint="name brokers and a topic")
        if self._out is None and changefeed.sink_uri.embedded:
            raise ArgumentError(
                "the sink URI names no brokers", argument="sink-uri", hint="kafka://HOST:PORT/TOPIC"
            )
        return changefeed

    @cached_property
    def _written_changefeed(self) -> Changefeed:
        """The changefeed for the partitions of topics that exist.

        :raises BrokerError: if no broker answers.
        """
        if self._is_written_once:
            return self.changefeed
        return for_existing_topics(self._job_of(self.changefeed, None, first=False)).changefeed

    @property
    def _options(self) -> GivenOptions:
        return self.plan.options

    @property
    def _out(self) -> Path | None:
        path = self._options.values.get("path")
        return None if path is None else local_path(str(path))

    @property
    def _is_written_once(self) -> bool:
        """Whether the target is a folder or a storage, which is complete when it is written."""
        return self._out is not None or self.changefeed.sink_uri.kind is SinkKind.STORAGE

    @cached_property
    def _records(self) -> BatchRecords:
        identity = changefeed_identity(self._job(None, first=False), self.plan.tables.catalog)
        return BatchRecords(self.changefeed.brokers, identity)

    @property
    def _partitions(self) -> dict[str, int]:
        """The topics that every batch has, and their numbers of partitions."""
        topics = self._job(None, first=False).stream.topic_partitions.topics
        return {topic: self._written_changefeed.partitions_of(topic) for topic in topics}

    def check(self, *, overwrite: bool) -> None:
        """Check of the target what can be checked before there are rows.

        :raises ProducerError: if the query must not write it.
        """
        if self._is_written_once:
            job, options = self._job(None), self._run_options(overwrite=overwrite)
            check_sink_options(job, options)
            checked_targets(job, options)
        elif self._records.load(self._partitions) is None or overwrite:
            topics = Topics(self.changefeed.brokers)
            topics.check(self._written_changefeed, self._partitions, append=False, replace=overwrite)

    def write(self, staged: Sequence[StagedRows], *, overwrite: bool = False, number: int = 0) -> None:
        """Write a batch.

        :param overwrite: replace the topics or the folder.
        :param number: number of the batch in the query.
        :raises ProducerError: if the batch must not be written, or cannot be written completely.
        """
        if self._is_written_once:
            self._write_once(staged, overwrite=overwrite)
        else:
            self._write_topics(staged, overwrite=overwrite, number=number)

    def _write_once(self, staged: Sequence[StagedRows], *, overwrite: bool) -> None:
        """Write a folder or a storage, which are complete afterwards."""
        span = _Span.of(staged, 0, self.plan)
        job = self._job(span)
        options = self._run_options(overwrite=overwrite)
        self._execute(job, span, staged, checked_targets(job, options), options)

    def _write_topics(self, staged: Sequence[StagedRows], *, overwrite: bool, number: int) -> None:
        last = None if overwrite else self._records.load(self._partitions)
        history = BatchHistory(last, self.changefeed.sink_uri.topic)
        digest = sum(part.digest for part in staged) % (1 << 64)
        appends = not self.query or bool(self._options.values["append"])
        in_changefeed = history.number_of(
            RequestedBatch(query=self.query, number=number, digest=digest, appends=appends)
        )
        if in_changefeed is None:
            return
        span = _Span.of(staged, in_changefeed, self.plan)
        job = self._job(span, first=in_changefeed == 0)
        record = BatchRecord(
            number=in_changefeed,
            query=self.query,
            query_batch=number,
            digest=digest,
            last_ts=job.stream.resolved.last,
        )
        if last is not None and span.is_empty:
            self._records.save_empty(replace(record, last_ts=last[0].last_ts), last[1])
            return
        history.check_time(self.plan.clock.ts(span.first))
        options = self._run_options(overwrite=overwrite)
        target = BatchTopics(job, options, self._records, history, record)
        target.check()
        self._execute(job, span, staged, (target,), options)

    def _execute(
        self,
        job: Job,
        span: _Span,
        staged: Sequence[StagedRows],
        targets: Sequence[Target],
        options: RunOptions,
    ) -> None:
        files = tuple(part.file for part in staged if part.file)
        source = StagedChanges(self.plan.staging, files, self.plan.histories, span.shift)
        with started(targets):
            log = UpstreamLog(change_batch(()), [source])
            execute(Simulation(job, LocalEngine(), log), targets, options)

    def _job(self, span: _Span | None, *, first: bool = True) -> Job:
        """Return the job of a batch.

        :param span: its transactions; None: there are none.
        :param first: whether it sends the DDL of the tables.
        """
        return self._job_of(self._written_changefeed, span, first=first)

    def _job_of(self, changefeed: Changefeed, span: _Span | None, *, first: bool) -> Job:
        tables, clock = self.plan.tables, self.plan.clock
        return changes_job(
            changefeed.sink_uri.topic,
            tables,
            tables.commits if span is None else max(tables.commits, span.last + 1),
            changefeed,
            clock,
            sends_ddls=first,
            # In a batch query with numbered transactions there is a resolved event after each of them.
            resolved_at_end=bool(self.query) or self.plan.times == "commit-ts" or not first,
        )

    def _run_options(self, *, overwrite: bool) -> RunOptions:
        return RunOptions(out=self._out, replace=overwrite, verify_output=False)


@dataclass(frozen=True, kw_only=True)
class _Span:
    """The transactions of a batch.

    :param first: number of the first one in the history.
    :param last: number of the last one.
    :param shift: difference to the numbers of the staged rows.
    """

    first: int
    last: int
    shift: int

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return self.last < self.first

    @classmethod
    def of(cls, staged: Sequence[StagedRows], number: int, plan: WritePlan) -> _Span:
        """Return the span of a batch.

        :param number: of the batch in the changefeed.
        :raises ScenarioError: for a commit-ts that is not above that of the DDL.
        """
        ddls, start = plan.tables.commits, plan.clock.start
        filled = [part for part in staged if part.rows]
        first = min((part.first for part in filled), default=0)
        last = max((part.last for part in filled), default=0)
        shift = {"commit-ts": -start, "txn": ddls, "batch": ddls + number}[plan.times]
        if not filled and plan.times != "batch":
            return cls(first=0, last=-1, shift=0)
        if first + shift < ddls:
            what = (
                f"commit-ts {first} is not above {plan.clock.ts(ddls - 1)}, the commit-ts of the table's DDL"
            )
            hint = "the option 'start' is the TSO of the first DDL"
            raise ScenarioError(what, column=plan.form.number, value=str(first), hint=hint)
        return cls(first=first + shift, last=last + shift, shift=shift)
