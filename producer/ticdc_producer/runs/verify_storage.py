"""Verify a storage folder, written by TiCDC or by this tool."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from ticdc_producer.config import Changefeed
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart, Estimate, choose_engine
from ticdc_producer.engine.dataset import Engine
from ticdc_producer.errors import ArgumentError
from ticdc_producer.runs.run_options import OnStatus
from ticdc_producer.runs.targets.storage import layout_of, row_columns, storage_verdict
from ticdc_producer.runs.verification import OnVerdict
from ticdc_producer.simulate.encode import encoded
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation, estimate_of
from ticdc_producer.targets.storage.plan import in_directories
from ticdc_producer.targets.storage.read import Listing, list_storage
from ticdc_producer.verifier.match import ExpectedStream
from ticdc_producer.verifier.verdict import Verdict


def verify_storage(
    changefeed: Changefeed,
    job: Job | None,
    *,
    engine: EngineOption,
    on_status: OnStatus,
    on_verdict: OnVerdict,
    **rejected_options: object,
) -> Verdict:
    """Verify a storage folder; with a job also that the scenario's rows are in their directories.

    :param rejected_options: options of ``verify`` that apply to topics only.
    :raises ArgumentError: if one of these options is set.
    :raises ProducerError: for a folder that cannot be read; violations in it are part of the verdict.
    """
    for name, value in {**rejected_options, "inject": () if job is None else job.traps}.items():
        if value:
            what = f"`{name}` cannot be combined with a storage"
            hint = "it applies to topics and golden folders"
            raise ArgumentError(what, argument=name, hint=hint).about(name)
    listing = list_storage(changefeed.sink_uri.path, changefeed.protocol)
    estimate = Estimate(events=0, nbytes=listing.nbytes) if job is None else estimate_of(job)
    start = EngineStart(choose_engine(engine, estimate), estimate.rows, on_status)
    verdict = _verdict(start(), changefeed, listing, job, on_status, on_verdict)
    return replace(verdict, engine=start.choice)


def _verdict(
    engine: Engine,
    changefeed: Changefeed,
    listing: Listing,
    job: Job | None,
    on_status: OnStatus,
    on_verdict: OnVerdict,
) -> Verdict:
    on_status("verifying")
    if job is None:
        return storage_verdict(engine, changefeed, listing, on_verdict=on_verdict)
    plan, simulation = layout_of(job), Simulation.of(job, engine)
    with ExitStack() as stack:
        rows = simulation.log.rows(engine, job.stream, stack)
        events = in_directories(rows, plan, job.history.catalog, changefeed)
        stream = stack.enter_context(encoded(job, events, expected_events=True, faults=False))
        return storage_verdict(
            engine,
            changefeed,
            listing,
            ExpectedStream(stream.expected_events),
            row_columns(job, plan),
            scenario=job.scenario.name,
            on_verdict=on_verdict,
        )
