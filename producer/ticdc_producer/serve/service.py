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
from typing import Any

from ticdc_producer.errors import ProducerError, RefusedRequest
from ticdc_producer.kafka.embedded.broker import StartingKafka
from ticdc_producer.serve.kafka_answer import KafkaAnswer
from ticdc_producer.serve.posted import PostedFiles, allowed_cluster, with_variables
from ticdc_producer.serve.previews.preview import Preview
from ticdc_producer.serve.previews.processes import PreviewProcesses
from ticdc_producer.serve.request_process import (
    CheckRun,
    CheckScenario,
    CheckVerification,
    Decode,
    RequestProcess,
)
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.streams import Streams
from ticdc_producer.serve.submission import DecodeRequest, PreviewRequest, RunRequest, VerifyRequest
from ticdc_producer.serve.tasks.child_messages import TopicsEvent
from ticdc_producer.serve.tasks.child_process import Children
from ticdc_producer.serve.tasks.task import Task
from ticdc_producer.serve.tasks.work import MakeReports, NoReports, RunWork, Texts, VerifyWork, WorkContext
from ticdc_producer.serve.tasks.worker import Worker
from ticdc_producer.serve.uploads import PostedScenario, Uploads
from ticdc_producer.testing.broker import delete

__all__ = ["Service", "Texts"]
_FOLDER = "ticdc-producer-serve-"
STOP_SECONDS = 3.0
"""A run in progress may end by itself. The service ends within ten seconds of its signal, whatever runs."""
_END_SECONDS = 2.0
"""A process without a task ends at once."""


class Service:
    """A service of scenarios and verifications, one after the other, in a process that it can end.

    Further processes read the scenarios of requests, topics and streams for them, and make previews.

    :param kafka: an embedded Kafka that starts; None: that of the settings, or one that ``start`` starts.
    :param on_failure: called if a process or Kafka does not start.
    :param on_status: called with a line of text for each part that has started.
    :ivar ready: is set when the processes and the service's own Kafka run.
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
        # Its finalizer removes the folder of a service that ends while it loads, which nobody stops.
        self._temporary = tempfile.TemporaryDirectory(
            prefix=f"{_FOLDER}{os.getpid()}-", ignore_cleanup_errors=True
        )
        self._folder = Path(self._temporary.name)
        self._children = Children(self._folder, texts)
        limits = settings.limits
        self._checks = RequestProcess(
            self._folder, limits.check_seconds, limits.memory_bytes, "reading the request"
        )
        self._decodes = RequestProcess(
            self._folder, limits.seconds, limits.memory_bytes, "decoding the topic"
        )
        first, second = (
            RequestProcess(self._folder, limits.check_seconds, limits.memory_bytes, "the preview", warm_up)
            for warm_up in (texts, None)
        )
        self._previews = PreviewProcesses(first, second)
        reads = RequestProcess(self._folder, limits.check_seconds, limits.memory_bytes, "reading the stream")
        self.streams = Streams(
            self._folder, lambda: self.settings, lambda: self._own_settings, self._decodes, reads
        )
        self._requests = (self._checks, self._decodes, *self._previews.both, reads)
        self._written: set[str] = set()
        self.worker = Worker(
            self._folder,
            settings.limits,
            self._children,
            on_topics=self._note_topics,
            remove=self._remove_topics,
        )
        self._kafka = kafka
        self._answer = KafkaAnswer(lambda: allowed_cluster(self.settings.kafka, self.settings))
        self._stopping = False

    def start(self) -> None:
        """Start the processes, Kafka and the worker, in the background; ``ready`` is set when they run."""
        self.worker.start(self._prepare)
        self._previews.start()

    async def is_ready(self) -> bool:
        """Return whether a process waits for runs, and Kafka answers."""
        return self.ready.is_set() and await self._answer.comes()

    def stop(self) -> None:
        """End the tasks, the processes and the Kafka of the service."""
        self._stopping = True
        for process in self._requests:
            process.stop()
        if self.ready.is_set():
            self.worker.stop(STOP_SECONDS)
        ends = threading.Thread(target=self._children.stop, args=[_END_SECONDS])
        ends.start()
        if self._kafka is not None:
            self._kafka.stop()
        ends.join()
        self.worker.stop(0)  # it may wait for a process or Kafka, which have ended now
        self._temporary.cleanup()

    def _prepare(self) -> None:
        try:
            if not self.settings.kafka and self._kafka is None:
                self._kafka = StartingKafka(addresses=self.settings.kafka_addresses)
            self._children.take()
            self._on_status("a process waits for runs")
            if self._kafka is not None:
                self.settings = replace(self.settings, kafka=self._kafka.running().bootstrap)
                reached = ", ".join((self.settings.kafka, *self.settings.kafka_addresses))
                self._on_status(f"Kafka runs at {reached}")
        except ProducerError as error:
            if not self._stopping:
                self.failure = error
                self._on_failure()
        else:
            self.ready.set()
            if self._kafka is None and not self._answer.has_come():
                self._on_status(f"no Kafka answers at {self.settings.kafka}: runs fail until one does")
            self._on_status("ready")

    def state_of(self, task: Task, host: str) -> dict[str, object]:
        """Return a task as JSON, with the address of Kafka for a client.

        :param host: the name or address by which the client reaches the service.
        """
        content = task.to_json()
        if content["bootstrap"] == self.settings.kafka:
            content["bootstrap"] = self.settings.kafka_for(host)
        return content

    def run(self, request: RunRequest, reports: MakeReports = NoReports) -> Task:
        """Queue a run.

        :param reports: report files, besides the report.
        :raises RefusedRequest: for a run that is not allowed, or if too many wait.
        :raises ProducerError: for an invalid scenario or changefeed.
        """
        scenario = self.uploads.scenario_of(request)
        if scenario is None:
            raise RefusedRequest("a run requires a scenario", status=422)
        check = CheckRun(request=request, scenario=scenario, settings=self._own_settings)
        name = str(self._checks.do(check).content["name"])
        return self.worker.submit("run", name, partial(self._run_work, request, scenario, reports))

    def preview(
        self, request: PreviewRequest, is_abandoned: Callable[[], bool] = lambda: False
    ) -> dict[str, object]:
        """Return the messages of a small scenario, or the problems of the scenario.

        :param is_abandoned: whether the client has disconnected. Then a preview that waits does not start.
        :raises RefusedRequest: for a scenario that is not allowed or too large.
        :raises ProducerError: for an invalid changefeed.
        """
        scenario = self.uploads.scenario_of(request)
        if scenario is None:
            raise RefusedRequest("a preview requires a scenario", status=422)
        work = Preview(request=request, scenario=scenario, settings=self._own_settings)
        return self._previews.content(work, is_abandoned)

    def upload(self, name: str, text: bytes) -> None:
        """Store a scenario, with the errors of ``run``.

        :param name: it ends with ``.sql`` or ``.yaml``.
        """
        scenario = self.uploads.posted(name, text)
        self._checks.do(CheckScenario(scenario=scenario, settings=self._own_settings))
        self.uploads.put(name, text)

    def verify(
        self, request: VerifyRequest, reports: MakeReports = NoReports, posted: PostedFiles | None = None
    ) -> Task:
        """Queue a verification, with the errors of ``run``.

        :param posted: a golden folder, instead of the topic of the request.
        """
        scenario = self.uploads.scenario_of(request)
        settings = self._own_settings
        check = CheckVerification(
            request=request, scenario=scenario, of_topic=posted is None, settings=settings
        )
        self._checks.do(check)

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
        settings = self._own_settings
        work = Decode(request=request, posted=posted, text=text, folder=self._folder, settings=settings)
        result = self._decodes.do(work)
        lines: Any = result.content["lines"]
        return [str(line) for line in lines], not result.ok

    def _run_work(
        self, request: RunRequest, scenario: PostedScenario, reports: MakeReports, task: Task
    ) -> RunWork:
        task.brokers = allowed_cluster(self.settings.kafka, self.settings) or ""
        return RunWork(
            context=self._context(reports, task),
            request=request,
            scenario=scenario,
            topic=f"ticdc-{task.id}",
            golden=task.golden,
            written=frozenset(self._written) if self._kafka is None else None,
        )

    def _note_topics(self, task: Task, event: TopicsEvent) -> None:
        """Note where a run writes. The service connects to no Kafka that it does not allow."""
        self._written.update(event.topics)
        task.brokers = allowed_cluster(event.bootstrap, self.settings) or task.brokers

    @property
    def _own_settings(self) -> ServeSettings:
        """The settings for other processes: without the token of clients, and without attached streams."""
        return replace(self.settings, host="127.0.0.1", token="", attachments={}, attachment_configs={})

    def _context(self, reports: MakeReports, task: Task) -> WorkContext:
        settings = self._own_settings
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
