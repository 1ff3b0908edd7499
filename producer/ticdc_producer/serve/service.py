"""The service behind the HTTP API: its Spark session, its Kafka, and what its tasks do."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ticdc_producer.errors import ProducerError, RefusedRequest
from ticdc_producer.kafka.embedded.starting import StartingKafka
from ticdc_producer.runs.decode import decode
from ticdc_producer.runs.prepare import Job, prepare
from ticdc_producer.runs.read_session import PRELOADED_MODULES
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.small_run import is_small
from ticdc_producer.runs.verify import verify
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.serve.policy import check_sink_uri, check_topic
from ticdc_producer.serve.posted import (
    Uploads,
    changefeed_of_run,
    on_kafka,
    posted_config,
    posted_scenario,
    properties_for,
    restricted,
    with_variables,
)
from ticdc_producer.serve.posted_files import PostedFiles
from ticdc_producer.serve.results import decoded_lines
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import DecodeRequest, RunRequest, VerifyRequest
from ticdc_producer.serve.task import Result, Task
from ticdc_producer.serve.worker import Worker
from ticdc_producer.spark.background_jobs import running_tasks
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.kafka.topics import Topics
from ticdc_producer.testing.kafka import delete
from ticdc_producer.verifier.verdict import Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ticdc_producer.runs.verification import VerifiedStream
    from ticdc_producer.verifier.verdict import RequestedFaults

_FOLDER = "ticdc-producer-serve-"
STOP_SECONDS = 20.0
_SETTLE_SECONDS, _POLL_SECONDS = 10.0, 0.02
"""Spark kills the Python worker of a cancelled task after two seconds."""
_SAVES_ARCHIVE = (
    "the end of this service takes 15 s longer: it saves an archive of Spark's classes for faster starts"
)


@dataclass(frozen=True)
class Texts:
    """How reports are printed: as by the commands, which are built on this package.

    :param run: (report, quiet, colours) → text; ``verdict`` likewise, with whether a scenario was given.
    """

    run: Callable[[RunReport, bool, bool], str]
    verdict: Callable[[Verdict, bool, bool, bool], str]


class ReportFiles(Protocol):
    """Report files of one run or verification, such as HTML."""

    def on_verdict(self, verified: VerifiedStream) -> None:
        """Query what the reports show, while the stream is materialized."""

    def write(
        self,
        verdict: Verdict | None,
        faults: Iterable[Mapping[str, Any]] = (),
        requested: RequestedFaults | None = None,
    ) -> None:
        """Write the files."""


MakeReports: TypeAlias = Callable[[Path], ReportFiles]
"""The report files of a task, to be written to its folder."""


class _NoReports:
    def __init__(self, _folder: Path) -> None: ...

    def on_verdict(self, _verified: VerifiedStream) -> None: ...

    def write(self, *_result: object) -> None: ...


class Service:
    """Runs scenarios and verifications, one after the other.

    :param kafka: an embedded Kafka that starts; None: that of the settings, or one that ``start`` starts.
    :param on_failure: called if Spark or Kafka does not start.
    :param on_status: called with what has started.
    :ivar failure: why it did not start; None: it did, or still starts.
    """

    def __init__(
        self,
        settings: ServeSettings,
        texts: Texts,
        kafka: StartingKafka | None = None,
        on_failure: Callable[[], None] = lambda: None,
        on_status: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.settings = replace(settings, kafka_properties=with_variables(settings.kafka_properties))
        self.uploads = Uploads(settings.limits.scenarios)
        self.ready = threading.Event()
        self.failure: ProducerError | None = None
        self._texts, self._on_failure, self._on_status = texts, on_failure, on_status
        _remove_abandoned()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-"))
        self.worker = Worker(
            self._folder,
            settings.limits,
            cancel=self._cancel,
            settle=self._settle,
            remove=self._remove_topics,
        )
        self._kafka = kafka
        self._spark: SparkSession | None = None
        self._stopping = False
        self._written: set[str] = set()

    def start(self) -> None:
        """Start Spark, Kafka and the worker, in the background; ``ready`` is set when they run."""
        self.worker.start(self._prepare)

    def stop(self) -> None:
        """End the tasks and the Kafka of the service; the Spark session ends with the process."""
        self._stopping = True
        self.worker.stop(STOP_SECONDS)
        if self._kafka is not None:
            self._kafka.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _prepare(self) -> None:
        try:
            if not self.settings.kafka and self._kafka is None:
                self._kafka = StartingKafka()
            on_class_archive = partial(self._on_status, _SAVES_ARCHIVE)
            self._spark = spark_session(
                light=True, preload=PRELOADED_MODULES, lasting=True, on_class_archive=on_class_archive
            )
            self._on_status("Spark runs")
            if self._kafka is not None:
                self.settings = replace(self.settings, kafka=self._kafka.running().bootstrap)
                self._on_status(f"Kafka runs at {self.settings.kafka}")
        except ProducerError as error:
            if not self._stopping:
                self.failure = error
                self._on_failure()
        else:
            self.ready.set()
            self._on_status("ready")

    def run(self, request: RunRequest, reports: MakeReports = _NoReports) -> Task:
        """Queue a run.

        :param reports: report files, besides the report.
        :raises RefusedRequest: for a run that is not allowed, or if too many wait.
        :raises ProducerError: for an invalid scenario or changefeed.
        """
        scenario = posted_scenario(request, self.uploads, self.settings)
        if scenario is None:
            raise RefusedRequest("a run requires a scenario", status=422)
        changefeed_of_run(request, scenario, "checked", self.settings)
        return self.worker.submit("run", scenario.name, partial(self._run, request, scenario, reports))

    def verify(
        self, request: VerifyRequest, reports: MakeReports = _NoReports, posted: PostedFiles | None = None
    ) -> Task:
        """Queue a verification, with the errors of ``run``.

        :param posted: a golden folder, instead of the topic of the request.
        """
        scenario = posted_scenario(request, self.uploads, self.settings)
        posted_config(request.config, self.settings)
        if posted is None:
            with restricted(self.settings):
                check_sink_uri(request.sink_uri, self.settings, "sink URI")
        work = partial(self._verify, request, scenario, reports, posted)
        return self.worker.submit("verification", request.sink_uri if posted is None else posted.name, work)

    def decoded(
        self, request: DecodeRequest, *, text: bool, posted: PostedFiles | None = None
    ) -> tuple[list[str], bool]:
        """The events of a topic as lines, and whether a message does not decode.

        :param posted: a golden folder or a file of messages, instead of the topic of the request.
        :raises RefusedRequest: for a topic that this service does not read, or with too many events.
        :raises ProducerError: for a topic that cannot be read.
        """
        if not self.ready.is_set():
            raise RefusedRequest("the service is not ready", status=503)
        posted_config(request.config, self.settings)
        with (
            restricted(self.settings),
            tempfile.TemporaryDirectory(dir=self._folder) as folder,
            self._source(request.sink_uri, posted, Path(folder)) as source,
        ):
            config = _config_file(request.config, Path(folder))
            rows = decode(**source, config=config, protocol=request.protocol)
            return decoded_lines(rows, self.settings.limits.events, text=text)

    @contextmanager
    def _source(self, sink_uri: str, posted: PostedFiles | None, folder: Path) -> Iterator[dict[str, Any]]:
        """What is read, as arguments of ``verify`` and ``decode``.

        :param folder: gets the posted files.
        """
        if posted is None:
            check_sink_uri(sink_uri, self.settings, "sink URI")
            uri = on_kafka(sink_uri, self.settings)
            yield {"sink_uri": uri, "kafka_properties": properties_for(uri, self.settings)}
            return
        with posted.written(folder / "posted") as path:
            yield {"file" if path.is_file() else "folder": path}

    def _run(
        self, request: RunRequest, scenario: ScenarioFile, make_reports: MakeReports, task: Task
    ) -> Result:
        settings = self.settings
        with restricted(settings):
            changefeed = changefeed_of_run(request, scenario, f"ticdc-{task.id}", settings)
            job = prepare(
                scenario,
                changefeed=changefeed,
                seed=request.seed,
                state_at=request.state_at,
                inject=request.traps,
            )
        self._check_size(job)
        task.brokers = changefeed.brokers
        task.topics = tuple(job.stream.topic_partitions.topics)
        self._check_topics(job, task.topics, request)
        reports = make_reports(task.folder)
        options = RunOptions(
            out=None if request.dry_run else task.golden,
            append=request.append,
            replace=request.replaces,
            dry_run=request.dry_run,
            verify_output=request.verify,
            in_worker=True,
            from_beginning=not job.history.data,
            on_status=task.on_status,
            on_progress=task.on_progress,
            on_verdict=reports.on_verdict,
        )
        report = run_job(job, options)
        reports.write(report.verdict, report.faults.occurrences, report.requested_faults)
        return Result(report.ok, report.to_json(), partial(self._texts.run, report))

    def _check_size(self, job: Job) -> None:
        limits = self.settings.limits
        if job.history.row_changes > limits.row_changes or not is_small(job):
            what = f"the run has {job.history.row_changes} row changes or more than {limits.events} events"
            hint = f"the service runs up to {limits.row_changes} row changes; use ticdc-producer run"
            raise RefusedRequest(what, status=422, hint=hint)

    def _check_topics(self, job: Job, topics: tuple[str, ...], request: RunRequest) -> None:
        """Check that a run replaces topics of this service alone; those of an own Kafka all are."""
        for topic in topics:
            check_topic(topic)
        if request.replaces and self._kafka is None:
            existing = Topics(job.changefeed.brokers).existing()
            foreign = sorted((set(topics) & existing.keys()) - self._written)
            if foreign:
                hint = "the service replaces topics that it has written; name a new topic"
                raise RefusedRequest(
                    "the topic is not the service's", status=403, where=foreign[0], hint=hint
                )
        self._written.update(topics)

    def _verify(
        self,
        request: VerifyRequest,
        scenario: ScenarioFile | None,
        make_reports: MakeReports,
        posted: PostedFiles | None,
        task: Task,
    ) -> Result:
        reports = make_reports(task.folder)
        with restricted(self.settings), self._source(request.sink_uri, posted, task.folder) as source:
            verdict = verify(
                **source,
                scenario=scenario,
                config=_config_file(request.config, task.folder),
                inject=request.traps,
                state_at=request.state_at,
                strict_table_order=request.strict_table_order,
                from_beginning=request.from_beginning,
                resolved_gap_ms=request.resolved_gap_ms,
                examples=request.examples,
                in_worker=True,
                on_status=task.on_status,
                on_verdict=reports.on_verdict,
            )
        reports.write(verdict)
        content: dict[str, Any] = verdict.to_json()
        return Result(verdict.ok, content, partial(self._texts.verdict, verdict, scenario is not None))

    def _cancel(self) -> None:
        if self._spark is not None:
            self._spark.sparkContext.cancelAllJobs()

    def _settle(self) -> None:
        """Wait for the tasks of cancelled Spark jobs: one of them may write to a topic until it has ended."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while self._spark is not None and time.monotonic() < deadline and running_tasks(self._spark):
            time.sleep(_POLL_SECONDS)

    def _remove_topics(self, task: Task) -> None:
        """Delete topics of a run that no other run has; in the user's Kafka only those named after it."""
        others = {topic for other in self.worker.tasks if other is not task for topic in other.topics}
        topics = [
            topic
            for topic in task.topics
            if topic not in others and (self._kafka is not None or topic.startswith(f"ticdc-{task.id}"))
        ]
        if topics and task.started is not None:
            delete(task.brokers, topics)


def _config_file(text: str | None, folder: Path) -> Path | None:
    """A posted changefeed file, written to a folder of the service."""
    if text is None:
        return None
    path = folder / "changefeed.toml"
    path.write_text(text, "utf-8")
    return path


def _remove_abandoned() -> None:
    """Remove the folders of services that were killed."""
    import psutil

    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        number = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            shutil.rmtree(folder, ignore_errors=True)
