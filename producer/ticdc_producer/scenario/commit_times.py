"""The commit-ts of a scenario's commits while its steps run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model import tso
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.scenario.load import ScenarioFile


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
