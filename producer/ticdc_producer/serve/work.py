"""The work of a task, in its process: a run, or a verification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import RefusedRequest
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import Progress
from ticdc_producer.runs.verify import verify
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.serve.child_messages import (
    ProgressNews,
    Result,
    StepNews,
    Tell,
    TopicsNews,
    result_of_task,
)
from ticdc_producer.serve.posted import PostedFiles, restricted, source
from ticdc_producer.serve.settings import Limits, ServeSettings
from ticdc_producer.serve.submission import RunRequest, VerifyRequest, check_topic
from ticdc_producer.simulate.job import Job, prepare
from ticdc_producer.simulate.simulate import estimate_of
from ticdc_producer.targets.kafka.topics import Topics

if TYPE_CHECKING:
    from ticdc_producer.runs.run_report import RunReport
    from ticdc_producer.runs.verification import VerifiedStream
    from ticdc_producer.verifier.verdict import RequestedFaults, Verdict


class Work(Protocol):
    """The work of a task. The service pickles it."""

    def __call__(self, tell: Tell, /) -> Result:
        """Do it, in the process of the task."""


@dataclass(frozen=True)
class Texts:
    """The functions that print reports as the commands do, which are built on this package.

    They are functions of modules, because they are pickled.

    :param run: (report, quiet, colours) → text.
    :param verdict: (verdict, whether a scenario was given, quiet, colours) → text.
    """

    run: Callable[[RunReport, bool, bool], str]
    verdict: Callable[[Verdict, bool, bool, bool], str]


class ReportFiles(Protocol):
    """Report files of one run or verification, such as HTML."""

    def on_verdict(self, verified: VerifiedStream) -> None:
        """Query the data of the reports, while the stream is materialized."""

    def write(
        self,
        verdict: Verdict | None,
        faults: Iterable[Mapping[str, object]] = (),
        requested: RequestedFaults | None = None,
    ) -> None:
        """Write the files."""


MakeReports: TypeAlias = Callable[[Path], ReportFiles]
"""The report files of a task, to be written to its folder. It is pickled."""


class NoReports:
    """No report files."""

    def __init__(self, _folder: Path) -> None: ...

    def on_verdict(self, _verified: VerifiedStream) -> None:
        """Query nothing."""

    def write(self, *_result: object) -> None:
        """Write nothing."""


def config_file(text: str | None, folder: Path) -> Path | None:
    """Write a posted changefeed file to a folder of the service, and return its path; None without one."""
    if text is None:
        return None
    path = folder / "changefeed.toml"
    path.write_text(text, "utf-8")
    return path


@dataclass(frozen=True, kw_only=True)
class WorkContext:
    """The part of a task's work that does not depend on its kind.

    :param folder: folder of the task.
    """

    settings: ServeSettings
    texts: Texts
    make_reports: MakeReports
    folder: Path


@dataclass(frozen=True, kw_only=True)
class RunWork:
    """A run into the service's Kafka.

    :param scenario: the checked scenario of the request.
    :param golden: where the golden folder is written.
    :param written: topics that the service has written; None: its Kafka has no others.
    """

    context: WorkContext
    request: RunRequest
    scenario: ScenarioFile
    changefeed: Changefeed
    golden: Path
    written: frozenset[str] | None

    def __call__(self, tell: Tell) -> Result:
        """Prepare the run, check it, write the messages and verify them."""
        job = self._prepared()
        self._check_size(job)
        topics = tuple(job.stream.topic_partitions.topics)
        self._check_topics(job, topics)
        tell(TopicsNews(topics))
        reports = self.context.make_reports(self.context.folder)

        def on_progress(progress: Progress) -> None:
            tell(ProgressNews(progress.messages, progress.total, progress.ts))

        options = RunOptions(
            out=None if self.request.dry_run else self.golden,
            append=self.request.append,
            replace=self.request.replaces,
            dry_run=self.request.dry_run,
            verify_output=self.request.verify,
            from_beginning=not job.history.data,
            on_status=lambda line: tell(StepNews(line)),
            on_progress=on_progress,
            on_verdict=reports.on_verdict,
        )
        report = run_job(job, options)
        reports.write(report.verdict, report.faults.occurrences, report.requested_faults)
        return result_of_task(report.ok, report.to_json(), partial(self.context.texts.run, report))

    def _prepared(self) -> Job:
        with restricted(self.context.settings):
            return prepare(
                self.scenario,
                changefeed=self.changefeed,
                seed=self.request.seed,
                state_at=self.request.state_at,
                inject=self.request.traps,
            )

    def _check_size(self, job: Job) -> None:
        excess = first_excess(job, self.context.settings.limits)
        if excess is not None:
            size, limit = excess
            hint = f"the service runs up to {limit}; use ticdc-producer run"
            raise RefusedRequest(f"the run has {size}", status=422, hint=hint)

    def _check_topics(self, job: Job, topics: tuple[str, ...]) -> None:
        """Check that a run replaces topics of the service alone."""
        for topic in topics:
            check_topic(topic)
        if self.request.replaces and self.written is not None:
            existing = Topics(job.changefeed.brokers).existing()
            foreign = sorted((set(topics) & existing.keys()) - self.written)
            if foreign:
                hint = "the service replaces topics that it has written; name a new topic"
                raise RefusedRequest(
                    "the topic is not the service's", status=403, where=foreign[0], hint=hint
                )


def first_excess(job: Job, limits: Limits) -> tuple[str, str] | None:
    """Return the size of a run that exceeds a limit, and the limit, both with their unit; None if it fits.

    The number of events of ``data`` steps is unknown.
    """
    estimate = estimate_of(job)
    if job.history.row_changes > limits.row_changes:
        return f"{job.history.row_changes} row changes", f"{limits.row_changes} row changes"
    if estimate.events > limits.events:
        events = "an unknown number of" if job.history.data else f"{estimate.events}"
        return f"{events} events", f"{limits.events} events"
    if estimate.nbytes > limits.image_bytes:
        return f"{estimate.nbytes} bytes of row images", f"{limits.image_bytes} bytes of row images"
    return None


@dataclass(frozen=True, kw_only=True)
class VerifyWork:
    """The verification of a topic or of posted files.

    :param scenario: the checked scenario of the request.
    :param posted: a golden folder, instead of the topic of the request.
    """

    context: WorkContext
    request: VerifyRequest
    scenario: ScenarioFile | None
    posted: PostedFiles | None

    def __call__(self, tell: Tell) -> Result:
        """Verify it."""
        request, context = self.request, self.context
        reports = context.make_reports(context.folder)
        with (
            restricted(context.settings),
            source(request.sink_uri, self.posted, context.folder, context.settings) as arguments,
        ):
            verdict = verify(
                **arguments,
                scenario=self.scenario,
                config=config_file(request.config, context.folder),
                inject=request.traps,
                state_at=request.state_at,
                strict_table_order=request.strict_table_order,
                from_beginning=request.from_beginning,
                resolved_gap_ms=request.resolved_gap_ms,
                examples=request.examples,
                on_status=lambda line: tell(StepNews(line)),
                on_verdict=reports.on_verdict,
            )
        reports.write(verdict)
        return result_of_task(
            verdict.ok, verdict.to_json(), partial(context.texts.verdict, verdict, self.scenario is not None)
        )
