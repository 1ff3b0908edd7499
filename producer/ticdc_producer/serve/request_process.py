"""The process that reads the posted text of requests, or topics for them. The service parses neither."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from ticdc_producer.errors import EnvironmentFailure, RefusedRequest
from ticdc_producer.serve.tasks.child_messages import News, Result
from ticdc_producer.serve.tasks.child_process import ChildProcess
from ticdc_producer.serve.tasks.process_limits import limited
from ticdc_producer.serve.tasks.task_errors import TaskInterrupted, TaskOutOfMemory
from ticdc_producer.serve.tasks.work import Work

_MOST_WAITING = 30
"""Requests that wait for the process: fewer than the application has threads for all requests."""


class RequestProcess:
    """Does works one after the other. The process starts with the first, and again after one that was killed.

    :param folder: gets a folder for its temporary files.
    :param seconds: time of one work.
    :param memory_bytes: resident memory of the process.
    :param purpose: what it does, such as ``reading the scenario``.
    """

    def __init__(self, folder: Path, seconds: float, memory_bytes: int, purpose: str) -> None:
        self._folder, self._seconds, self._memory_bytes = folder, seconds, memory_bytes
        self._purpose = purpose
        self._slots = threading.Semaphore(_MOST_WAITING)
        self._turn, self._lock = threading.Lock(), threading.Lock()
        self._child: ChildProcess | None = None
        self._closed = False

    def do(self, work: Work) -> Result:
        """Let the process do a work, and wait for its end.

        :raises RefusedRequest: if the work exceeds a limit, if too many wait, or if the service ends.
        :raises ProducerError: the error of the work.
        """
        if not self._slots.acquire(blocking=False):
            hint = "try again when some have ended"
            raise RefusedRequest(f"{_MOST_WAITING} requests wait already", status=429, hint=hint)
        try:
            with self._turn:
                return self._result_of(work)
        finally:
            self._slots.release()

    def _result_of(self, work: Work) -> Result:
        child, ends = self._running(), list[TaskInterrupted]()

        def end(error: TaskInterrupted) -> None:
            ends.append(error)
            child.kill()

        try:
            with limited(child, self._seconds, self._memory_bytes, end):
                return child.do(work, _ignore)
        except EnvironmentFailure:
            if self._closed:
                raise _the_service_ends() from None
            if not ends:
                raise
        raise self._refusal(ends[0])

    def _refusal(self, end: TaskInterrupted) -> RefusedRequest:
        out_of_memory = isinstance(end, TaskOutOfMemory)
        limit = (
            f"used more than {self._memory_bytes >> 20} MiB of memory"
            if out_of_memory
            else f"took longer than {self._seconds:g} s"
        )
        hint = "make it smaller, or use the command without the service"
        return RefusedRequest(f"{self._purpose} {limit}", status=422, hint=hint)

    def _running(self) -> ChildProcess:
        ended = None
        with self._lock:
            if self._closed:
                raise _the_service_ends()
            if self._child is not None and self._child.ended:
                ended, self._child = self._child, None
            if self._child is None:
                self._child = ChildProcess(self._folder)
            child = self._child
        if ended is not None:
            ended.close()
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


def _the_service_ends() -> RefusedRequest:
    return RefusedRequest("the service ends", status=503)


def _ignore(_news: News) -> None: ...
