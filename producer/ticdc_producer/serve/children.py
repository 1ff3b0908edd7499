"""The processes of a service: one in which tasks run, and a spare one that waits to take its place."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from ticdc_producer.errors import EnvironmentFailure, RefusedRequest
from ticdc_producer.serve.child_process import ChildProcess
from ticdc_producer.serve.work import Texts


class Children:
    """The processes. They start in a thread.

    :param folder: gets a folder for each.
    :param texts: see ``run_child``.
    """

    def __init__(self, folder: Path, texts: Texts) -> None:
        self._folder, self._texts = folder, texts
        self._starts = ThreadPoolExecutor(1, "process start")
        self._lock = threading.Lock()
        self._alive: set[ChildProcess] = set()
        self._starting: ChildProcess | None = None
        self._closed = False
        self._active: ChildProcess | None = None
        self._spare: Future[ChildProcess] | None = None

    def take(self) -> ChildProcess:
        """The process for the next task: that of the last task, or the spare one if that has ended.

        :raises EnvironmentFailure: if none starts.
        :raises RefusedRequest: if the service ends.
        """
        while self._active is None or self._active.ended:
            if self._active is not None:
                self._remove(self._active)
                self._active = None
            self._active = self._next()
        return self._active

    def _next(self) -> ChildProcess:
        """The spare process, or another one if it has not survived its start."""
        with suppress(EnvironmentFailure):
            return self._taken_spare()
        return self._taken_spare()

    def _taken_spare(self) -> ChildProcess:
        spare = self._spare or self._submit()
        self._spare = self._submit()
        return spare.result()

    def stop(self, seconds: float) -> None:
        """End all processes.

        :param seconds: how long one without a task may take to end by itself.
        """
        with self._lock:
            self._closed = True
            if self._starting is not None:
                self._starting.kill()
        self._starts.shutdown()
        for child in [*self._alive]:
            self._remove(child, seconds)

    def _submit(self) -> Future[ChildProcess]:
        with self._lock:
            self._check_open()
            return self._starts.submit(self._started)

    def _check_open(self) -> None:
        if self._closed:
            raise RefusedRequest("the service ends", status=503)

    def _started(self) -> ChildProcess:
        """A process that is ready."""
        try:
            child = ChildProcess(self._folder, self._texts)
        except (OSError, EOFError) as error:
            raise EnvironmentFailure(f"no process for runs starts: {error}") from None
        with self._lock:
            self._alive.add(child)
            self._starting = child
            if self._closed:
                child.kill()
        try:
            child.wait_until_ready()
        except EnvironmentFailure:
            self._remove(child)
            raise
        finally:
            with self._lock:
                self._starting = None
        return child

    def _remove(self, child: ChildProcess, seconds: float = 0) -> None:
        child.close(seconds)
        self._alive.discard(child)
