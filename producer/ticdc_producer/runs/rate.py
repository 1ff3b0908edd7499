"""A scenario at a rate: how many transactions it has, and which time stamps they take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model import tso
from ticdc_producer.runs.prepare import Job, prepare
from ticdc_producer.scenario.execute import clock_of
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.spec import read_duration

DEFAULT_RESOLVED = timedelta(seconds=1)
_RATE = re.compile(r"(\d{1,9})(?:/([smh]))?")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def read_rate(text: str) -> float:
    """Row changes per second of ``5000/s``, ``5000`` or ``60/m``.

    :raises ScenarioError: if it is none.
    """
    found = _RATE.fullmatch(text)
    if not found or int(found[1]) == 0:
        raise ScenarioError(f"{text!r} is no rate", hint="row changes by time: 5000/s, 300/m or 10/h")
    return int(found[1]) / _SECONDS[found[2] or "s"]


def paced_job(
    scenario: str | Path,
    rate: str,
    duration: str | None,
    *,
    sink_uri: str | None = None,
    config: str | Path | None = None,
    sets: Sequence[str] = (),
    seed: int | None = None,
    client: Sequence[str] = (),
) -> Job:
    """A job whose ``generate`` step has so many row changes in each second of its clock.

    :param duration: how long, such as ``10m``; None: until the transactions of the step are done.
    :param client: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :raises ScenarioError: for a scenario that does not end with such a step, and rates out of range.
    """
    per_second = read_rate(rate)
    job = prepare(scenario, sink_uri=sink_uri, config=config, sets=sets, seed=seed, client=client)
    _check(job)
    of_each = job.history.generated[-1].rows_per_transaction
    every = timedelta(seconds=of_each / per_second)
    if not every:
        raise ScenarioError(f"{rate} is more than a transaction in each microsecond")
    if duration is not None:
        step, count = len(job.scenario.steps) - 1, max(1, _length(duration) // every)
        sets = [*sets, f"steps[{step}].generate.transactions={count}"]
    read = load_scenario(scenario, sets)
    read = replace(
        read,
        every=every,
        resolved_every=read.resolved_every or DEFAULT_RESOLVED,
        seed=job.scenario.seed,
    )
    return prepare(read, sink_uri=sink_uri, config=config, client=client)


def _length(duration: str) -> timedelta:
    try:
        return read_duration(duration)
    except ValueError as error:
        raise ScenarioError(str(error)) from None


def _check(job: Job) -> None:
    history, file = job.history, job.scenario.file
    if not history.generated or history.generated[-1].commits_behind != history.commits:
        raise ScenarioError("a rate needs a scenario that ends with a generate step", file=file)
    if job.faults is not None:
        what = "a run in real time has no faults of events and messages"
        raise ScenarioError(what, file=file, hint=f"run it without --rate, or without {', '.join(job.traps)}")
    if not job.scenario.start_given and (history.pinned or history.resolved):
        hint = "name clock.start, or leave commit-ts and resolved steps out"
        what = "with a rate the clock starts now, and the scenario has time stamps of its own"
        raise ScenarioError(what, file=file, hint=hint)


def paced_from(job: Job) -> int:
    """Number of the first commit that waits for its time; those before are history by then."""
    return job.history.generated[-1].first_transaction


def started(job: Job, now_ms: int) -> Job:
    """The job, its clock set so that the first paced commit is due now; a start that was given stays."""
    if job.scenario.start_given:
        return job
    clock = clock_of(job.scenario, job.history)
    before = clock.ts(paced_from(job)) - clock.start
    start = tso.compose(now_ms) - before
    return replace(job, scenario=replace(job.scenario, start=start))
