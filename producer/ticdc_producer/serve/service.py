"""The service that the HTTP API exposes: its processes, its Kafka, and its tasks."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ticdc_producer.errors import ProducerError, RefusedRequest
from ticdc_producer.kafka.embedded.broker import StartingKafka
from ticdc_producer.runs.decode import decode
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.serve.child_process import Children
from ticdc_producer.serve.posted import (
    PostedFiles,
    Uploads,
    changefeed_of_run,
    posted_config,
    posted_scenario,
    restricted,
    source,
    with_variables,
)
from ticdc_producer.serve.results import decoded_lines
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import DecodeRequest, RunRequest, VerifyRequest, check_sink_uri
from ticdc_producer.serve.task import Task
from ticdc_producer.serve.work import (
    MakeReports,
    NoReports,
    RunWork,
    Texts,
    VerifyWork,
    WorkContext,
    config_file,
)
from ticdc_producer.serve.worker import Worker
from ticdc_producer.testing.broker import delete

__all__ = ["Service", "Texts"]
_FOLDER = "ticdc-producer-serve-"
STOP_SECONDS = 20.0
_END_SECONDS = 20.0
"""A process without a task ends at once."""


class Service:
    """Runs scenarios and verifications, one after the other, in a process that it can end.

    :param kafka: an embedded Kafka that starts; None: that of the settings, or one that ``start`` starts.
    :param on_failure: called if a process or Kafka does not start.
    :param on_status: called with a line of text for each part that has started.
    :ivar failure: the error that prevented its start; None: it has started, or still starts.
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
        self._children = Children(self._folder, texts)
        self._written: set[str] = set()
        self.worker = Worker(
            self._folder,
            settings.limits,
            self._children,
            on_topics=self._written.update,
            remove=self._remove_topics,
        )
        self._kafka = kafka
        self._stopping = False

    def start(self) -> None:
        """Start the processes, Kafka and the worker, in the background; ``ready`` is set when they run."""
        self.worker.start(self._prepare)

    def stop(self) -> None:
        """End the tasks, the processes and the Kafka of the service."""
        self._stopping = True
        self.worker.stop(STOP_SECONDS)
        self._children.stop(_END_SECONDS)
        if self._kafka is not None:
            self._kafka.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _prepare(self) -> None:
        try:
            if not self.settings.kafka and self._kafka is None:
                self._kafka = StartingKafka()
            self._children.take()
            self._on_status("a process waits for runs")
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

    def run(self, request: RunRequest, reports: MakeReports = NoReports) -> Task:
        """Queue a run.

        :param reports: report files, besides the report.
        :raises RefusedRequest: for a run that is not allowed, or if too many wait.
        :raises ProducerError: for an invalid scenario or changefeed.
        """
        scenario = posted_scenario(request, self.uploads, self.settings)
        if scenario is None:
            raise RefusedRequest("a run requires a scenario", status=422)
        changefeed_of_run(request, scenario, "checked", self.settings)
        return self.worker.submit("run", scenario.name, partial(self._run_work, request, scenario, reports))

    def verify(
        self, request: VerifyRequest, reports: MakeReports = NoReports, posted: PostedFiles | None = None
    ) -> Task:
        """Queue a verification, with the errors of ``run``.

        :param posted: a golden folder, instead of the topic of the request.
        """
        scenario = posted_scenario(request, self.uploads, self.settings)
        posted_config(request.config, self.settings)
        if posted is None:
            with restricted(self.settings):
                check_sink_uri(request.sink_uri, self.settings, "sink URI")

        def make_work(task: Task) -> VerifyWork:
            context = self._context(reports, task)
            return VerifyWork(context=context, request=request, scenario=scenario, posted=posted)

        name = request.sink_uri if posted is None else posted.name
        return self.worker.submit("verification", name, make_work)

    def decoded(
        self, request: DecodeRequest, *, text: bool, posted: PostedFiles | None = None
    ) -> tuple[list[str], bool]:
        """Return the events of a topic as lines, and whether a message does not decode.

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
            source(request.sink_uri, posted, Path(folder), self.settings) as arguments,
        ):
            config = config_file(request.config, Path(folder))
            rows = decode(**arguments, config=config, protocol=request.protocol)
            return decoded_lines(rows, self.settings.limits.events, text=text)

    def _run_work(
        self, request: RunRequest, scenario: ScenarioFile, reports: MakeReports, task: Task
    ) -> RunWork:
        changefeed = changefeed_of_run(request, scenario, f"ticdc-{task.id}", self.settings)
        task.brokers = changefeed.brokers
        return RunWork(
            context=self._context(reports, task),
            request=request,
            scenario=scenario,
            changefeed=changefeed,
            golden=task.golden,
            written=frozenset(self._written) if self._kafka is None else None,
        )

    def _context(self, reports: MakeReports, task: Task) -> WorkContext:
        """Return the context of a task's work, without the token that clients have to send."""
        settings = replace(self.settings, host="127.0.0.1", token="")
        return WorkContext(settings=settings, texts=self._texts, make_reports=reports, folder=task.folder)

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


def _remove_abandoned() -> None:
    """Remove the folders of services that were killed."""
    import psutil

    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        number = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            shutil.rmtree(folder, ignore_errors=True)
