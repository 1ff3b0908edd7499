"""The commit-ts of a scenario's commits, and those commits that its changefeed sends.

A changefeed with the start-ts S sends row changes and DDLs whose commit-ts is greater than S. It knows the
tables that existed at S. The target-ts T ends it after it has sent all with commit-ts up to T. Source: tiflow
``cdc/kv/shared_region_worker.go``, ``cdc/entry/schema_storage.go``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.scenario.history import CommitRange, History
from ticdc_producer.scenario.scenario_file import ScenarioFile, SnapshotStep


def clock_with(
    scenario: ScenarioFile, pinned: Mapping[int, int], by_ts: Sequence[tuple[int, int]] = ()
) -> CommitClock:
    """Return the commit clock of a scenario.

    :param pinned: explicit commit-ts by number of the commit.
    :param by_ts: see ``CommitClock``.
    """
    every_us = scenario.every // timedelta(microseconds=1)
    return CommitClock(start=scenario.start, every_us=every_us, pinned=pinned, by_ts=tuple(by_ts))


@dataclass
class CommitTimes:
    """The commit-ts that steps and rows set, in the order of the commits.

    :ivar pinned: explicit commit-ts by number of the commit.
    :ivar by_ts: first number and end of the commits that are numbered by their commit-ts.
    """

    scenario: ScenarioFile
    pinned: dict[int, int] = field(default_factory=dict)
    by_ts: list[tuple[int, int]] = field(default_factory=list)

    @property
    def clock(self) -> CommitClock:
        """The clock as it is now."""
        return clock_with(self.scenario, dict(self.pinned), self.by_ts)

    def newest(self, commit: int) -> int:
        """Return the commit-ts of a commit that is not before the last pinned one, in constant time."""
        if self.by_ts and self.by_ts[-1][0] <= commit < self.by_ts[-1][1]:
            first = self.by_ts[-1][0]
            return self.pinned[first] + commit - first
        first, start = next(reversed(self.pinned.items()), (0, self.scenario.start))
        return start + (commit - first) * clock_with(self.scenario, {}).step

    def pin(self, commit: int, ts: int, *, of_step: int | None) -> None:
        """Set the commit-ts of the next commit, which a row of a frame gives.

        :param commit: its number.
        :param of_step: the commit-ts of its step.
        :raises ScenarioError: if it is not after the commit before, or its step has one, too.
        """
        if self.pinned.pop(commit, None) is not None and of_step is not None:
            raise ScenarioError("the step has a commit-ts, and its rows have others")
        before = self.newest(commit - 1) if commit else 0
        if not before < ts <= tso.MAX_TS:
            raise ScenarioError(f"commit_ts {ts} must be greater than the previous commit-ts, {before}")
        self.pinned[commit] = ts

    def check_step(self, commit_ts: int, line: int, before: int, commits: int) -> None:
        """Check the commit-ts of a step that has run.

        :param line: that of the step.
        :param before, commits: the number of commits before the step and after it.
        :raises ScenarioError: if the step committed nothing, or its commit-ts is not after the commit before.
        """
        file, clock = self.scenario.file, self.clock
        if commits == before:
            raise ScenarioError("the step has a commit-ts and commits nothing", file=file, line=line)
        if before and clock.ts(before) <= clock.ts(before - 1):
            previous = clock.ts(before - 1)
            what = f"commit-ts {commit_ts} must be greater than the previous commit-ts, {previous}"
            hint = "clock.every is the time between commits without a commit-ts"
            raise ScenarioError(what, file=file, line=line, hint=hint)

    def number_by_ts(self, first: int, stop: int, within: Sequence[int]) -> None:
        """Give commits the numbers that follow from their commit-ts; the first is pinned.

        :param stop: number of the first commit after them, which continues from the last one.
        :param within: those that are pinned, in addition to the first.
        :raises ScenarioError: if the last one is at the end of time.
        """
        for commit in within:
            self.pinned.pop(commit, None)
        last = self.pinned[first] + stop - 1 - first
        if last + clock_with(self.scenario, {}).step > tso.MAX_TS:
            raise ScenarioError(f"commit_ts {last} leaves no time for a commit after it")
        self.by_ts.append((first, stop))
        self.pinned[stop] = last + clock_with(self.scenario, {}).step


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
