"""The processes in which tasks run, as the service sees them: an active and a spare process."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from secrets import token_hex

import psutil

from ticdc_producer.errors import EnvironmentFailure, RefusedRequest
from ticdc_producer.serve.tasks.child import run_child
from ticdc_producer.serve.tasks.child_messages import (
    Message,
    NotAMessage,
    Ready,
    Result,
    TaskEvent,
    TaskFailure,
    read_message,
)
from ticdc_producer.serve.tasks.forkserver import started_forkserver
from ticdc_producer.serve.tasks.task_errors import ReportedError
from ticdc_producer.serve.tasks.work import Texts, Work

_MOST_BYTES = 256 << 20
"""The size of a message; a process that sends more is broken."""
_END_SECONDS = 5.0
_ENDED = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


class ChildProcess:
    """A process that starts when this object is created.

    :param folder: gets a folder for its temporary files.
    :param texts: see ``run_child``.
    :raises EnvironmentFailure: if the system starts no process.
    """

    def __init__(self, folder: Path, texts: Texts | None = None) -> None:
        context = started_forkserver()
        self._folder = folder / f"process-{token_hex(4)}"
        self._folder.mkdir()
        self._connection, theirs = context.Pipe()
        lifeline, self._lifeline = context.Pipe(duplex=False)
        arguments = (theirs, lifeline, self._folder, texts)
        self._process = context.Process(target=run_child, args=arguments, name="task", daemon=True)
        self._killed = False
        with theirs, lifeline:
            try:
                self._process.start()
            except (OSError, EOFError) as error:
                shutil.rmtree(self._folder, ignore_errors=True)
                raise EnvironmentFailure(f"no process for runs starts: {error}") from None

    @property
    def ended(self) -> bool:
        """Whether it has ended, or was killed.

        The kernel knows it before the forkserver, which writes it to the sentinel.
        """
        if self._killed or wait([self._process.sentinel], 0):
            return True
        try:
            return psutil.Process(self._process.pid).status() in _ENDED
        except psutil.NoSuchProcess:
            return True

    def uses_more_than(self, nbytes: int) -> bool:
        """Return whether its resident memory, with that of the processes that it has started, is larger.

        Pages that processes share count once: Spark forks workers that share most of theirs. As it takes
        longer to read their shares, they are read only if all pages together are above the limit.
        """
        processes = list[psutil.Process]()
        with suppress(psutil.Error):  # it has ended
            process = psutil.Process(self._process.pid)
            processes = [process, *process.children(recursive=True)]
        return all(_total(processes, size) > nbytes for size in (_resident, _shared_once))

    def wait_until_ready(self) -> None:
        """Wait until it can do a task.

        :raises EnvironmentFailure: if it does not start.
        """
        while not isinstance(self._next_message(), Ready):
            pass

    def do(self, work: Work, on_event: Callable[[TaskEvent], None]) -> Result:
        """Let it do a task, and wait for the end.

        :param on_event: called with each event of the task.
        :raises ReportedError: the error of the task.
        :raises EnvironmentFailure: if the process ends; then it can do no more tasks.
        """
        try:
            self._connection.send(work)
        except OSError:
            raise self._end_of_process() from None
        while True:
            match self._next_message():
                case Result() as result:
                    return result
                case TaskFailure(error=error):
                    raise ReportedError(error)
                case Ready():
                    pass
                case event:
                    on_event(event)

    def _next_message(self) -> Message:
        try:
            # A process that a task has started may hold the connection when the task's own has ended.
            wait([self._connection, self._process.sentinel])
            if self._connection.poll():
                return read_message(self._connection.recv_bytes(_MOST_BYTES))
        except (EOFError, ConnectionError):
            pass
        except (OSError, NotAMessage):  # also a message that is too long
            if not self._connection.closed:  # by another thread
                self.kill()
                raise NotAMessage from None
        raise self._end_of_process()

    def _end_of_process(self) -> EnvironmentFailure:
        self._process.join(_END_SECONDS)
        status = self._process.exitcode
        self.kill()
        what, hint = f"the process of the run has ended with status {status}", ""
        if status is not None and status < 0:
            what = f"the process of the run was ended by signal {-status}: {signal.strsignal(-status)}"
        if status == -signal.SIGKILL:
            hint = "the kernel sends it if memory is scarce: make the run smaller, or use ticdc-producer run"
        return EnvironmentFailure(what, hint=hint)

    def kill(self) -> None:
        """End it at once, with the processes that it has started; in any thread."""
        number = self._process.pid
        if number is None:  # it was not started
            return
        started: list[psutil.Process] = []
        if not self.ended:
            self._killed = True
            with suppress(psutil.Error):
                started = [psutil.Process(number)]  # it has no group of its own at its beginning
                started += started[0].children(recursive=True)  # Spark's workers have another one
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses it if all have ended
            os.killpg(number, signal.SIGKILL)
        for process in started:
            with suppress(psutil.Error):
                process.kill()

    def close(self, seconds: float = 0) -> None:
        """End it, and remove its folder.

        :param seconds: how long it may take to end by itself, which it does without a task.
        """
        self._connection.close()
        if seconds:
            self._process.join(seconds)
        self.kill()
        self._process.join(_END_SECONDS)
        self._lifeline.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _resident(process: psutil.Process) -> int:
    return int(process.memory_info().rss)


def _shared_once(process: psutil.Process) -> int:
    """Return the bytes of a process, each divided by the number of processes that share it."""
    memory = process.memory_full_info()
    return int(getattr(memory, "pss", memory.uss))  # systems other than Linux know no shares


def _total(processes: Iterable[psutil.Process], size: Callable[[psutil.Process], int]) -> int:
    total = 0
    for process in processes:
        with suppress(psutil.Error):  # it has ended
            total += size(process)
    return total


class Children:
    """The processes. They start in a thread.

    :param folder: gets a folder for each.
    :param texts: see ``run_child``.
    """

    def __init__(self, folder: Path, texts: Texts | None) -> None:
        self._folder, self._texts = folder, texts
        self._starts = ThreadPoolExecutor(1, "process start")
        self._lock = threading.Lock()
        self._alive: set[ChildProcess] = set()
        self._starting: ChildProcess | None = None
        self._closed = False
        self._active: ChildProcess | None = None
        self._spare: Future[ChildProcess] | None = None

    def take(self) -> ChildProcess:
        """Return the process for the next task: that of the last task, or the spare one if that has ended.

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
        """Return the spare process, or another one if it has not survived its start."""
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
        alive = [*self._alive]
        with ThreadPoolExecutor(max(1, len(alive)), "process end") as ends:  # none waits for another one
            for child in alive:
                ends.submit(self._remove, child, seconds)

    def _submit(self) -> Future[ChildProcess]:
        with self._lock:
            self._check_open()
            return self._starts.submit(self._started)

    def _check_open(self) -> None:
        if self._closed:
            raise RefusedRequest("the service ends", status=503)

    def _started(self) -> ChildProcess:
        """Start a process, and wait until it is ready."""
        child = ChildProcess(self._folder, self._texts)
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
