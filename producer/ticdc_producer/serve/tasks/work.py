"""The work of a task, in its process: a run, or a verification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ProducerError, RefusedRequest
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import Progress
from ticdc_producer.runs.verify import verify
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.serve.posted import PostedFiles, SourceArguments, changefeed_of_run, restricted, source
from ticdc_producer.serve.settings import Limits, ServeSettings
from ticdc_producer.serve.submission import RunRequest, VerifyRequest, check_topic
from ticdc_producer.serve.tasks.child_messages import (
    ProgressEvent,
    Result,
    StepEvent,
    Tell,
    TopicsEvent,
    result_of_task,
)
from ticdc_producer.serve.tasks.limits import first_excess, size_check
from ticdc_producer.serve.uploads import PostedScenario
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
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
    """The lack of report files."""

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

    :param topic: the topic if the request names none.
    :param golden: where the golden folder is written.
    :param written: topics that the service has written; None: its Kafka has no others.
    """

    context: WorkContext
    request: RunRequest
    scenario: PostedScenario
    topic: str
    golden: Path
    written: frozenset[str] | None

    def __call__(self, tell: Tell) -> Result:
        """Prepare the run, check it, write the messages and verify them."""
        scenario = self.scenario.parsed(self.context.settings)
        changefeed = changefeed_of_run(self.request, scenario, self.topic, self.context.settings)
        job = self._prepared(scenario, changefeed)
        excess = first_excess(job, self.context.settings.limits)
        if excess is not None:
            raise excess.refusal()
        topics = tuple(job.stream.topic_partitions.topics)
        self._check_topics(job, topics)
        tell(TopicsEvent(topics, changefeed.brokers.bootstrap))
        reports = self.context.make_reports(self.context.folder)

        def on_progress(progress: Progress) -> None:
            tell(ProgressEvent(progress.messages, progress.total, progress.ts))

        options = RunOptions(
            out=None if self.request.dry_run else self.golden,
            append=self.request.append,
            replace=self.request.replaces,
            dry_run=self.request.dry_run,
            verify_output=self.request.verify,
            from_beginning=not job.history.data,
            on_status=lambda line: tell(StepEvent(line)),
            on_progress=on_progress,
            on_verdict=reports.on_verdict,
        )
        try:
            report = run_job(job, options)
        except ProducerError:
            with suppress(ProducerError):  # the error of the run is the one to report
                existing = Topics(changefeed.brokers).existing()
                tell(TopicsEvent(tuple(set(topics).intersection(existing)), changefeed.brokers.bootstrap))
            raise
        reports.write(report.verdict, report.faults.occurrences, report.requested_faults)
        return result_of_task(report.ok, report.to_json(), partial(self.context.texts.run, report))

    def _prepared(self, scenario: ScenarioFile, changefeed: Changefeed) -> Job:
        with restricted(self.context.settings):
            return prepare(
                scenario,
                changefeed=changefeed,
                seed=self.request.seed,
                start_ts=self.request.start_ts,
                target_ts=self.request.target_ts,
                state_at=self.request.state_at,
                inject=self.request.traps,
                check_size=size_check(scenario.file, self.context.settings.limits),
            )

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


def _check_expected(
    scenario: ScenarioFile, arguments: SourceArguments, config: Path | None, limits: Limits
) -> None:
    """Check the size of the stream that is expected of a topic, as that of a run.

    :param arguments: the source of the verification.
    :raises RefusedRequest: if it exceeds a limit; ``verify`` reports all other errors.
    """
    try:
        job = prepare(
            scenario,
            sink_uri=arguments.get("sink_uri"),
            config=config,
            kafka_properties=arguments.get("kafka_properties", ()),
            check_size=size_check(scenario.file, limits),
        )
        excess = first_excess(job, limits)
    except RefusedRequest:
        raise
    except ProducerError:
        return
    if excess is not None:
        raise excess.refusal(scenario.file)


@dataclass(frozen=True, kw_only=True)
class VerifyWork:
    """The verification of a topic or of posted files.

    :param posted: a golden folder, instead of the topic of the request.
    """

    context: WorkContext
    request: VerifyRequest
    scenario: PostedScenario | None
    posted: PostedFiles | None

    def __call__(self, tell: Tell) -> Result:
        """Verify it."""
        request, context = self.request, self.context
        reports = context.make_reports(context.folder)
        scenario = None if self.scenario is None else self.scenario.parsed(context.settings)
        with (
            restricted(context.settings),
            source(request.sink_uri, self.posted, context.folder, context.settings) as arguments,
        ):
            config = config_file(request.config, context.folder)
            if scenario is not None:
                _check_expected(scenario, arguments, config, context.settings.limits)
            verdict = verify(
                sink_uri=arguments.get("sink_uri"),
                kafka_properties=arguments.get("kafka_properties", ()),
                folder=arguments.get("folder", arguments.get("file")),
                scenario=scenario,
                config=config,
                inject=request.traps,
                start_ts=request.start_ts,
                target_ts=request.target_ts,
                state_at=request.state_at,
                strict_table_order=request.strict_table_order,
                from_beginning=request.from_beginning,
                resolved_gap_ms=request.resolved_gap_ms,
                examples=request.examples,
                on_status=lambda line: tell(StepEvent(line)),
                on_verdict=reports.on_verdict,
            )
        reports.write(verdict)
        return result_of_task(
            verdict.ok, verdict.to_json(), partial(context.texts.verdict, verdict, scenario is not None)
        )
