"""A history at the pace of its time stamps: when its events are due, and its slices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model import tso
from ticdc_producer.model.column_functions import Numbers, starts_of
from ticdc_producer.runs.rate import Slice, WallClock
from ticdc_producer.simulate.job import Job

_PERIOD_MS = 100
"""The shortest time between two slices."""
_SPANS = 1 << 18
"""The largest number of spans of a history; those of a longer one are longer than a period."""
_LONGEST_WAIT_MS = 1 << 42
"""140 years: the system's calls do not take much more."""


@dataclass(frozen=True)
class HistoryPace:
    """The pace at which a history is sent.

    :param first: TSO at which it begins.
    :param last: TSO at which it ends.
    :param speed: how many times as fast as its time stamps; infinite: everything at once.
    """

    first: int
    last: int
    speed: float

    def due(self, elapsed_ms: int) -> int:
        """Return the TSO that is due when a number of milliseconds has passed.

        >>> pace = HistoryPace(tso.compose(1000), tso.compose(9000), 10.0)
        >>> [tso.physical(pace.due(elapsed)) for elapsed in (0, 250)]
        [1000, 3500]
        """
        latest = tso.physical(tso.MAX_TS)
        if math.isinf(self.speed):
            return tso.MAX_TS
        physical = int(min(tso.physical(self.first) + elapsed_ms * self.speed, latest))
        return tso.compose(physical, tso.MAX_LOGICAL)

    def elapsed_ms(self, ts: int) -> int:
        """Return the milliseconds after which a TSO is due."""
        elapsed = (tso.physical(ts) - tso.physical(self.first)) / self.speed
        return math.ceil(min(elapsed, _LONGEST_WAIT_MS))

    def spans(self, times: Numbers) -> Numbers:
        """Return the numbers of the spans to which TSOs belong: parts of the history of one length."""
        begin, end = tso.physical(self.first), tso.physical(self.last)
        span_ms = max(1.0, (end - begin) / _SPANS, min(_PERIOD_MS * self.speed, end - begin))
        numbers: Numbers = (((times >> tso.LOGICAL_BITS) - begin) // span_ms).astype(np.int64)
        return numbers


@dataclass(frozen=True)
class DueEvents:
    """The first and the last event of each span of a history that has events, in order.

    :param firsts: their TSOs.
    :param lasts: their TSOs.
    """

    firsts: Numbers
    lasts: Numbers

    @classmethod
    def of(cls, times: Numbers, pace: HistoryPace) -> DueEvents:
        """Return those of events with the given TSOs."""
        return cls(times, times)._by_span(pace)

    @classmethod
    def merged(cls, parts: Iterable[DueEvents], pace: HistoryPace) -> DueEvents:
        """Return those of all parts of the events.

        >>> pace = HistoryPace(tso.compose(0), tso.compose(900_000), 1.0)
        >>> parts = [np.array([tso.compose(ms) for ms in times]) for times in ([0, 500_000], [1, 500_001])]
        >>> events = DueEvents.merged((DueEvents.of(times, pace) for times in parts), pace)
        >>> [(column >> tso.LOGICAL_BITS).tolist() for column in (events.firsts, events.lasts)]
        [[0, 500000], [1, 500001]]
        """
        known = cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        for part in parts:
            firsts, lasts = (known.firsts, part.firsts), (known.lasts, part.lasts)
            known = cls(np.concatenate(firsts), np.concatenate(lasts))._by_span(pace)
        return known

    def _by_span(self, pace: HistoryPace) -> DueEvents:
        """Return the first and the last event of each span.

        >>> pace = HistoryPace(tso.compose(0), tso.compose(900_000), 1.0)  # spans of 100 ms
        >>> times = np.array([tso.compose(ms) for ms in (150, 70, 20)])
        >>> events = DueEvents(times, times)._by_span(pace)
        >>> [(column >> tso.LOGICAL_BITS).tolist() for column in (events.firsts, events.lasts)]
        [[20, 150], [70, 150]]
        """
        if not len(self.firsts):
            return self
        order = np.argsort(self.firsts, kind="stable")
        firsts, lasts = self.firsts[order], self.lasts[order]
        starts = np.flatnonzero(starts_of(pace.spans(firsts)))
        return DueEvents(firsts[starts], np.maximum.reduceat(lasts, starts))

    def next_after(self, ts: int) -> int | None:
        """Return the lowest TSO above the given one that an event may have; None: none has one.

        >>> events = DueEvents(np.array([3, 70]), np.array([5, 90]))
        >>> [events.next_after(ts) for ts in (0, 4, 5, 90)]
        [3, 5, 70, None]
        """
        span = int(np.searchsorted(self.lasts, ts, "right"))
        return max(int(self.firsts[span]), ts + 1) if span < len(self.lasts) else None


def paced_slices(pace: HistoryPace, events: DueEvents, wall_clock: WallClock) -> Iterator[Slice]:
    """Yield the slices of a history in order, each when its end is due; none while no event is due.

    :param wall_clock: a started clock.
    """
    written_to, due = -1, 0
    while (following := events.next_after(written_to)) is not None:
        due = max(due, pace.elapsed_ms(following))
        running = wall_clock.wait_until(due)
        if not running and written_to >= 0:
            return
        end_ts = max(following, min(pace.due(max(due, wall_clock.elapsed_ms())), pace.last))
        yield Slice(written_to, end_ts)
        written_to, due = end_ts, max(due + _PERIOD_MS, wall_clock.elapsed_ms())


def check_paced(job: Job, duration: str | None) -> None:
    """Check that the messages of a job can be sent at the pace of its time stamps.

    :raises ScenarioError: for traps, and for a ``duration``.
    """
    file = job.scenario.file
    if duration is not None:
        what = "`duration` requires a scenario that ends with a generate step"
        raise ScenarioError(what, file=file, hint="`speed` sets the length of another run").about("duration")
    if job.traps:
        what = "a run in real time cannot be combined with faults of events and messages"
        raise ScenarioError(what, file=file, hint=f"leave out {', '.join(job.traps)}").about("rate")


def check_speed(speed: float) -> None:
    """Check the value of ``speed``.

    :raises ScenarioError: if it is not a positive number.
    """
    if not (math.isfinite(speed) and speed > 0):
        hint = "a number above 0: 1 is the speed of the scenario's clock"
        raise ScenarioError(f"{speed} is not a speed", hint=hint).about("speed")
