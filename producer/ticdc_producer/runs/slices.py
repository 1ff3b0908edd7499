"""The slices of a paced run: stretches of time, each of which ends with a resolved event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ticdc_producer.model import tso
from ticdc_producer.runs.clock import Pacemaker
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.rate import paced_from


@dataclass(frozen=True)
class Slice:
    """Everything that is delivered behind one time stamp, up to another.

    :param behind: TSO; -1 for the first slice.
    :param to: TSO of the resolved event that ends it.
    """

    behind: int
    to: int


def slices(job: Job, time: Pacemaker) -> Iterator[Slice]:
    """One slice after the other, each when its time has come.

    While one is written time goes by, so the next one may hold several resolved events. The first one holds
    what came before the paced commits.

    :param time: has begun; its begin is the time of the first paced commit.
    """
    clock, every = job.stream.resolved.clock, job.stream.resolved.every_ms
    first = tso.physical(clock.start)
    begin = tso.physical(clock.ts(paced_from(job)))
    last = clock.ts(job.history.commits - 1)
    at = -1

    def tick(number: int) -> int:
        return tso.compose(first + number * every)

    done = (begin - first) // every  # ticks before the begin are history
    while at < last:
        going_on = time.wait_until(first + (done + 1) * every - begin)
        if not going_on and at >= 0:
            return
        done = max(done + 1, (begin + time.passed() - first) // every)
        to = min(tick(done), last)
        yield Slice(at, to)
        at = to
