"""A scenario in real time: its clock at a rate, and its slices."""

from __future__ import annotations

import re
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from ticdc_producer.config import ConfigSource
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model import tso
from ticdc_producer.scenario.commit_times import clock_of
from ticdc_producer.scenario.load import ScenarioSource, load_scenario
from ticdc_producer.scenario.spec import read_duration
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare


class WallClock(Protocol):
    """A clock that measures the time since a run started, and waits."""

    def start(self) -> int:
        """Start to measure.

        :return: the current time in Unix milliseconds.
        """
        ...

    def elapsed_ms(self) -> int:
        """Return the milliseconds since the start."""
        ...

    def wait_until(self, elapsed_ms: int) -> bool:
        """Wait until the given number of milliseconds has passed since the start.

        :return: False as soon as the run was requested to end, and on every later call.
        """
        ...


class SystemClock:
    """The system's clock; signals may end the run within ``ended_by_signals``."""

    def __init__(self) -> None:
        # Not threading.Event: the interrupted thread may hold the lock that the signal handler needs.
        self._end_requests, self._request_end = socket.socketpair()
        self._started = 0.0

    def start(self) -> int:
        self._started = time.monotonic()
        return time.time_ns() // 1_000_000

    def elapsed_ms(self) -> int:
        return int((time.monotonic() - self._started) * 1000)

    def wait_until(self, elapsed_ms: int) -> bool:
        remaining = max(0, elapsed_ms - self.elapsed_ms()) / 1000
        return not select.select([self._end_requests], [], [], remaining)[0]

    @contextmanager
    def ended_by_signals(self) -> Iterator[None]:
        """Request the end of the run at the first Ctrl-C or ``kill``; the second one interrupts it."""
        if threading.current_thread() is not threading.main_thread():
            yield  # Python delivers signals to the main thread only
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def request_end(number: int, _frame: object) -> None:
            signal.signal(number, before[signal.Signals(number)])
            self._request_end.send(b".")

        try:
            for number in before:
                signal.signal(number, request_end)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


DEFAULT_RESOLVED = timedelta(seconds=1)
_RATE = re.compile(r"(\d{1,9})(?:/([smh]))?")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def read_rate(text: str) -> float:
    """Return the row changes per second of a text such as ``5000/s``, ``5000`` or ``60/m``.

    :raises ScenarioError: if the text is not a rate.
    """
    match = _RATE.fullmatch(text)
    if not match or int(match[1]) == 0:
        raise ScenarioError(f"{text!r} is not a rate", hint="row changes per time: 5000/s, 300/m or 10/h")
    return int(match[1]) / _SECONDS[match[2] or "s"]


def realtime_job(
    scenario: ScenarioSource,
    rate: str,
    duration: str | None,
    *,
    sink_uri: str | None = None,
    config: ConfigSource | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    recorded: bool = True,
    kafka_properties: Sequence[str] = (),
) -> Job:
    """Return a job whose ``generate`` step changes rows at the given rate of the scenario's clock.

    :param rate: row changes per time, such as ``5000/s``.
    :param duration: length of the run, such as ``10m``; None: until all transactions of the step are sent.
    :param recorded: whether events that came again in a recorded topic come again.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :raises ScenarioError: for a scenario that does not end with a ``generate`` step, and rates out of range.
    """
    per_second = read_rate(rate)
    job = prepare(
        scenario,
        sink_uri=sink_uri,
        config=config,
        overrides=overrides,
        seed=seed,
        recorded=recorded,
        kafka_properties=kafka_properties,
    )
    _check(job)
    rows_per_transaction = job.history.generated[-1].rows_per_transaction
    every = timedelta(seconds=rows_per_transaction / per_second)
    if not every:
        raise ScenarioError(f"{rate} is more than one transaction per microsecond")
    if duration is not None:
        step, count = len(job.scenario.steps) - 1, max(1, _length(duration) // every)
        overrides = [*overrides, f"steps[{step}].generate.transactions={count}"]
    read = load_scenario(scenario, overrides)
    read = replace(
        read,
        every=every,
        resolved_every=read.resolved_every or DEFAULT_RESOLVED,
        seed=job.scenario.seed,
    )
    return prepare(
        read, sink_uri=sink_uri, config=config, recorded=recorded, kafka_properties=kafka_properties
    )


def _length(duration: str) -> timedelta:
    try:
        return read_duration(duration)
    except ValueError as error:
        raise ScenarioError(str(error)) from None


def ends_with_generate(job: Job) -> bool:
    """Return whether a ``generate`` step ends the scenario."""
    history = job.history
    return bool(history.generated) and history.generated[-1].commits_after == history.commits


def _check(job: Job) -> None:
    history, file = job.history, job.scenario.file
    if not ends_with_generate(job):
        what = "`rate` requires a scenario that ends with a generate step"
        raise ScenarioError(what, file=file).about("rate")
    if history.sent is not None:
        what = "`rate` cannot be combined with start-ts, target-ts and a snapshot step"
        raise ScenarioError(what, file=file, hint="leave them out").about("rate")
    if job.faults is not None:
        what = "`rate` cannot be combined with faults of events and messages"
        others = [f"without {', '.join(job.traps)}"] if job.traps else []
        others += ["with `faults` none"] if job.recorded_faults else []
        hint = f"run it without `rate`, or {' and '.join(others)}"
        raise ScenarioError(what, file=file, hint=hint).about("rate")
    if not job.scenario.start_given and (history.pinned or history.resolved):
        hint = "set clock.start, or remove commit-ts and resolved steps"
        what = "with `rate` the clock starts now, but the scenario fixes its time stamps"
        raise ScenarioError(what, file=file, hint=hint).about("rate")


def first_realtime_commit(job: Job) -> int:
    """Return the number of the first commit that is sent in real time; earlier commits are sent at once."""
    return job.history.generated[-1].first_transaction


def with_clock_start(job: Job, now_ms: int) -> Job:
    """Return the job with a clock by which its first commit sent in real time is due now.

    A ``clock.start`` of the scenario takes precedence.

    :param now_ms: the current time in Unix milliseconds.
    """
    if job.scenario.start_given:
        return job
    clock = clock_of(job.scenario, job.history)
    before = clock.ts(first_realtime_commit(job)) - clock.start
    start = tso.compose(now_ms) - before
    return replace(job, scenario=replace(job.scenario, start=start))


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

    ticks = (start_ms - first) // every  # ticks before the start are history
    while written_to < last:
        running = wall_clock.wait_until(first + (ticks + 1) * every - start_ms)
        if not running and written_to >= 0:
            return
        ticks = max(ticks + 1, (start_ms + wall_clock.elapsed_ms() - first) // every)
        end_ts = min(tick(ticks), last)
        yield Slice(written_to, end_ts)
        written_to = end_ts
