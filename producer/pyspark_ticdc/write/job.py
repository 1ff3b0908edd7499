"""The job of a batch of changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ticdc_producer.config import Changefeed
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.scenario.dataframe import Tables
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import planned


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
    created = execute(scenario, force_replicate=changefeed.force_replicate, profile=changefeed.profile)
    # Nothing is known of the rows that the tables have in the end.
    job = planned(scenario, changefeed, replace(created, commits=commits, state={}), traps={})
    if sends_ddls:
        return job
    catalog = replace(job.history.catalog, ddls=())
    return replace(job, history=replace(job.history, catalog=catalog))
