"""A process that parses posted texts and reads topics for requests, one job after the other.

The service parses neither: a job returns data for an answer. The process of a task parses the text again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ticdc_producer.errors import EnvironmentFailure, ProducerError, RefusedRequest
from ticdc_producer.model.event_line import DecodedRow, event_line, event_text, json_line
from ticdc_producer.runs.decode import decode
from ticdc_producer.serve.posted import (
    PostedFiles,
    changefeed_of_run,
    posted_config,
    restricted,
    source,
)
from ticdc_producer.serve.settings import Limits, ServeSettings
from ticdc_producer.serve.submission import DecodeRequest, RunRequest, VerifyRequest, check_sink_uri
from ticdc_producer.serve.tasks.child_messages import Result, TaskEvent, Tell
from ticdc_producer.serve.tasks.child_process import ChildProcess
from ticdc_producer.serve.tasks.limits import limited
from ticdc_producer.serve.tasks.task_errors import TaskGaveWay, TaskInterrupted, TaskOutOfMemory
from ticdc_producer.serve.tasks.work import Texts, Work, config_file
from ticdc_producer.serve.uploads import PostedScenario

MOST_REQUESTS = 12
"""Requests of one process, or of the two of previews, with those that wait. Those of three are fewer than the
40 threads of the application."""
SECONDS_BETWEEN_CHECKS = 0.2
"""Between two checks whether a request that waits is abandoned."""


class RequestProcess:
    """A process that does works one after the other. It starts with the first, and again after it was killed.

    :param folder: gets a folder for its temporary files.
    :param seconds: time of one work.
    :param memory_bytes: resident memory of the process.
    :param purpose: what it does, such as ``reading the scenario``.
    :param texts: are printed once before the first work, see ``run_child``.
    """

    def __init__(
        self, folder: Path, seconds: float, memory_bytes: int, purpose: str, texts: Texts | None = None
    ) -> None:
        self._folder, self._seconds, self._memory_bytes = folder, seconds, memory_bytes
        self._purpose, self._texts = purpose, texts
        self._slots = threading.Semaphore(MOST_REQUESTS)
        self._turn, self._lock = threading.Lock(), threading.Lock()
        self._child: ChildProcess | None = None
        self._closed = False

    def do(
        self,
        work: Work,
        is_abandoned: Callable[[], bool] = lambda: False,
        gives_way: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Let the process do a work, and wait for its end.

        :param is_abandoned: whether nobody waits for the result any more. Then the work does not start.
        :param gives_way: whether the work ends for another one; is called several times a second.
        :raises TaskGaveWay: if it has ended for another one.
        :raises RefusedRequest: if the work exceeds a limit, if too many wait, if it is abandoned, or if the
            service ends.
        :raises ProducerError: the error of the work.
        """
        if not self._slots.acquire(blocking=False):
            raise too_many_requests()
        try:
            while not self._turn.acquire(timeout=SECONDS_BETWEEN_CHECKS):
                check_wanted(is_abandoned)
            try:
                check_wanted(is_abandoned)
                return self._result_of(work, gives_way)
            finally:
                self._turn.release()
        finally:
            self._slots.release()

    @property
    def is_busy(self) -> bool:
        """Whether it does a work."""
        return self._turn.locked()

    @property
    def is_ready(self) -> bool:
        """Whether it runs and does no work, so that a work begins at once."""
        child = self._child
        return child is not None and not child.ended and not self.is_busy

    def start(self) -> None:
        """Start the process before the first work."""
        with suppress(ProducerError), self._turn:  # the first work reports it
            self._running()

    def _result_of(self, work: Work, gives_way: Callable[[], bool]) -> Result:
        ends = list[TaskInterrupted]()
        try:
            child = self._running()
        except EnvironmentFailure:
            if self._closed:
                raise _the_service_ends() from None
            raise

        def end(error: TaskInterrupted) -> None:
            ends.append(error)
            child.kill()

        try:
            with limited(child, self._seconds, self._memory_bytes, end, gives_way):
                return child.do(work, _ignore)
        except EnvironmentFailure:
            if self._closed:
                raise _the_service_ends() from None
            if not ends:
                raise
        raise self._refusal(ends[0])

    def _refusal(self, end: TaskInterrupted) -> RefusedRequest | TaskGaveWay:
        if isinstance(end, TaskGaveWay):
            return end
        out_of_memory = isinstance(end, TaskOutOfMemory)
        limit = (
            f"used more than {self._memory_bytes >> 20} MiB of memory"
            if out_of_memory
            else f"took longer than {self._seconds:g} s"
        )
        hint = "make it smaller, or use the command without the service"
        return RefusedRequest(f"{self._purpose} {limit}", status=422, hint=hint)

    def _running(self) -> ChildProcess:
        ended, starts = None, False
        with self._lock:
            if self._closed:
                raise _the_service_ends()
            if self._child is not None and self._child.ended:
                ended, self._child = self._child, None
            if self._child is None:
                self._child, starts = ChildProcess(self._folder, self._texts), True
            child = self._child
        if ended is not None:
            ended.close()
        if starts:
            child.wait_until_ready()
        return child

    def stop(self) -> None:
        """End the process, whatever it does."""
        with self._lock:
            self._closed = True
            child = self._child
        if child is not None:
            with suppress(OSError):
                child.kill()
            child.close()


def check_wanted(is_abandoned: Callable[[], bool]) -> None:
    """Check that somebody waits for a work.

    :raises RefusedRequest: otherwise.
    """
    if is_abandoned():
        raise RefusedRequest("the client has disconnected", status=400)


def too_many_requests() -> RefusedRequest:
    """Return the error of a request for whose process too many others wait."""
    hint = "try again when some have ended"
    return RefusedRequest(f"{MOST_REQUESTS} requests wait already", status=429, hint=hint)


def _the_service_ends() -> RefusedRequest:
    return RefusedRequest("the service ends", status=503)


def _ignore(_event: TaskEvent) -> None: ...


_NO_TEXTS = ("", "", "", "")


@dataclass(frozen=True, kw_only=True)
class CheckRun:
    """The check of a run's scenario and changefeed."""

    request: RunRequest
    scenario: PostedScenario
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Check them; the result has the name of the scenario."""
        scenario = self.scenario.parsed(self.settings)
        changefeed_of_run(self.request, scenario, "checked", self.settings)
        return Result(True, {"name": scenario.name}, _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class CheckVerification:
    """The check of a verification's scenario, changefeed and topic.

    :param of_topic: whether it reads a topic.
    """

    request: VerifyRequest
    scenario: PostedScenario | None
    of_topic: bool
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Check them."""
        if self.scenario is not None:
            self.scenario.parsed(self.settings)
        posted_config(self.request.config, self.settings)
        if self.of_topic:
            with restricted(self.settings):
                check_sink_uri(self.request.sink_uri, self.settings, "sink URI")
        return Result(True, {}, _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class CheckScenario:
    """The check of a scenario that a client uploads."""

    scenario: PostedScenario
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Check it."""
        self.scenario.parsed(self.settings)
        return Result(True, {}, _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class Decode:
    """The events of a topic, or of posted files, as lines.

    :param posted: a golden folder or a file of messages, instead of the topic of the request.
    :param folder: gets a temporary folder.
    """

    request: DecodeRequest
    posted: PostedFiles | None
    text: bool
    folder: Path
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Decode them; the result has the lines, and is ok unless a message does not decode."""
        posted_config(self.request.config, self.settings)
        with (
            restricted(self.settings),
            TemporaryDirectory(dir=self.folder) as folder,
            source(self.request.sink_uri, self.posted, Path(folder), self.settings) as arguments,
        ):
            config = config_file(self.request.config, Path(folder))
            rows = decode(**arguments, config=config, protocol=self.request.protocol)
            lines, damaged = decoded_lines(rows, self.settings.limits, text=self.text)
        return Result(not damaged, {"lines": lines}, _NO_TEXTS)


def decoded_lines(rows: Iterator[DecodedRow], limits: Limits, *, text: bool) -> tuple[list[str], bool]:
    """Return the lines of events, as ``decode`` prints them, and whether a message does not decode.

    :param rows: shape ``DECODED``.
    :raises RefusedRequest: for more events, or longer lines, than the limits allow.
    """
    lines, size, damaged = list[str](), 0, False
    for row in rows:
        lines.append(event_text(row) if text else json_line(event_line(row)))
        size += len(lines[-1])
        damaged = damaged or row["kind"] == "error"
        for amount, most, unit in (
            (len(lines), limits.events, "events"),
            (size, limits.stream_bytes, "bytes of events"),
        ):
            if amount > most:
                what, hint = f"there are more than {most} {unit}", "use ticdc-producer decode"
                raise RefusedRequest(what, status=422, hint=hint)
    return lines, damaged
