"""The commits of a scenario that a changefeed with a start-ts or a target-ts sends.

A changefeed with the start-ts S sends row changes and DDLs whose commit-ts is greater than S. It knows the
tables that existed at S. The target-ts T ends it after it has sent all with commit-ts up to T. Source: tiflow
``cdc/kv/shared_region_worker.go``, ``cdc/entry/schema_storage.go``.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.scenario.commit_times import clock_with
from ticdc_producer.scenario.history import CommitRange, History
from ticdc_producer.scenario.load import ScenarioFile, SnapshotStep


def clock_of(scenario: ScenarioFile, history: History) -> CommitClock:
    """Return the commit clock of an executed scenario."""
    return clock_with(scenario, history.pinned, history.by_ts)


def commits_until(scenario: ScenarioFile, history: History, ts: int) -> int:
    """Return the number of commits of an executed scenario with a commit-ts up to ``ts``."""
    return bisect_right(range(history.commits), ts, key=clock_of(scenario, history).ts)


def commit_range(scenario: ScenarioFile, history: History) -> CommitRange | None:
    """Return the commits that the changefeed sends; None: all.

    :raises ScenarioError: if it would send none.
    """
    clock, start, target = clock_of(scenario, history), scenario.start_ts, scenario.target_ts
    if start is None and history.snapshot_after is not None:
        if not history.snapshot_after:
            hint = "put it after the step whose rows the snapshot has"
            raise _error(scenario, "no commit is before the snapshot step", "start_ts", hint)
        start = clock.ts(history.snapshot_after - 1)
    if start is None and target is None:
        return None
    first = 0 if start is None else commits_until(scenario, history, start)
    end = history.commits if target is None else commits_until(scenario, history, target)
    if first >= end:
        after = "" if start is None else f" after start-ts {start}"
        until = "" if target is None else f" up to target-ts {target}"
        times = f"commits have the times {clock.ts(0)} to {clock.ts(history.commits - 1)}"
        name = "target_ts" if start is None else "start_ts"
        hint = times if history.commits else ""
        raise _error(scenario, f"the scenario commits nothing{after}{until}", name, hint)
    return CommitRange(start_ts=start or 0, target_ts=target, first=first, end=end)


def _error(scenario: ScenarioFile, what: str, option: str, hint: str) -> ScenarioError:
    line = next((step.line for step in scenario.steps if isinstance(step, SnapshotStep)), 0)
    return ScenarioError(what, file=scenario.file, line=line, hint=hint).about(option)


def sent_part(history: History) -> History:
    """Return the part of a history that its changefeed sends.

    Time stamps, row ids and versions of tables are those upstream. Plans of steps keep all changes, because
    later ones depend on earlier ones.
    """
    sent = history.sent
    if sent is None:
        return history
    commits = range(sent.first, sent.end)
    jobs = history.catalog.creating_jobs()
    later = [version for version, job in jobs.items() if job.commit_seq >= sent.end]
    tables = history.catalog.tables[: min(later, default=None)]
    earlier = {version for version, job in jobs.items() if job.commit_seq < sent.first}
    return replace(
        history,
        catalog=Catalog(tables, tuple(job for job in history.catalog.ddls if job.commit_seq in commits)),
        changes=[change for change in history.changes if change.commit_seq in commits],
        commits=sent.end,
        resolved=tuple(entry for entry in history.resolved if _is_sent(sent, *entry)),
        generated=tuple(plan for plan in history.generated if plan.step_commit < sent.end),
        data=tuple(plan for plan in history.data if plan.first_commit < sent.end),
        state=history.state_at[sent.end],
        ended=frozenset(earlier - {definition.version for definition in history.definitions}),
    )


def _is_sent(sent: CommitRange, commits: int, ts: int) -> bool:
    """Return whether a changefeed sends a resolved event; no resolved-ts is lower than its start-ts.

    :param commits: number of commits before its step.
    """
    if commits > sent.end or (sent.target_ts is not None and ts > sent.target_ts):
        return False
    return ts > sent.start_ts or (ts == sent.start_ts and commits >= sent.first)
