"""How much of a run is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.model.fidelity import has_commit_ts
from ticdc_producer.simulate.job import Job


@dataclass(frozen=True)
class Progress:
    """How much of a run is written.

    :param messages: number of messages written.
    :param total: total messages; extrapolated from progress if not counted; None until that is possible.
    :param ts: TSO up to which every partition is written; 0 while a partition is empty, and for protocols
        without commit-ts.
    """

    messages: int
    total: int | None
    ts: int = 0


OnProgress: TypeAlias = Callable[[Progress], None]


def final_progress(job: Job, messages: int) -> Progress:
    """The progress of a run that is written, without measuring it.

    :param messages: number of messages of the run.
    """
    commits = job.history.commits
    known = commits and has_commit_ts(job.encoder.fidelity.commit_ts)
    return Progress(messages, messages, job.stream.resolved.clock.ts(commits - 1) if known else 0)
