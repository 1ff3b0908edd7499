"""The slices of a run in real time: time ranges that end with a resolved event each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ticdc_producer.model import tso
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.rate import first_realtime_commit
from ticdc_producer.runs.wall_clock import WallClock


@dataclass(frozen=True)
class Slice:
    """The events after one time stamp, up to and including another.

    :param after_ts: TSO; -1 for the first slice.
    :param end_ts: TSO of the resolved event that ends the slice.
    """

    after_ts: int
    end_ts: int


def slices(job: Job, wall_clock: WallClock) -> Iterator[Slice]:
    """Yield the slices in order, each when its end is due.

    Writing a slice takes time, so the next one may contain several resolved events. The first one contains
    everything before the commits that are sent in real time.

    :param wall_clock: a started clock; it started at the time of the first commit that is sent in real time.
    """
    clock, every = job.stream.resolved.clock, job.stream.resolved.every_ms
    first = tso.physical(clock.start)
    start_ms = tso.physical(clock.ts(first_realtime_commit(job)))
    last = clock.ts(job.history.commits - 1)
    written_to = -1

    def tick(number: int) -> int:
        return tso.compose(first + number * every)

    done = (start_ms - first) // every  # ticks before the start are history
    while written_to < last:
        running = wall_clock.wait_until(first + (done + 1) * every - start_ms)
        if not running and written_to >= 0:
            return
        done = max(done + 1, (start_ms + wall_clock.elapsed_ms() - first) // every)
        end_ts = min(tick(done), last)
        yield Slice(written_to, end_ts)
        written_to = end_ts
