"""The thread in which tasks run, one after the other, and its queue."""

from __future__ import annotations

import ctypes
import logging
import queue
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from ticdc_producer.errors import EnvironmentFailure, ProducerError, RefusedRequest
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.task import Kind, Result, Task

_LOG = logging.getLogger(__name__)


class TaskInterrupted(EnvironmentFailure):
    """A task that was ended from outside. Python raises the class in the thread, without arguments."""


class TaskTimeout(TaskInterrupted):
    """A task that took longer than a task may."""

    def __init__(self) -> None:
        super().__init__("the run took too long", hint="make it smaller, or use ticdc-producer run")


class TaskCancelled(TaskInterrupted):
    """A task whose result nobody waits for any more."""

    def __init__(self) -> None:
        super().__init__("the run was cancelled, because the client that waited for it has disconnected")


class Worker:
    """Runs tasks in one thread.

    :param folder: gets a folder for each task.
    :param cancel: interrupts what the thread waits for, such as a Spark job; called in another thread.
    :param settle: waits until nothing of an interrupted task runs any more, such as a Spark task; called in
        the thread.
    :param remove: removes what a task has left outside of its folder, such as topics.
    """

    def __init__(
        self,
        folder: Path,
        limits: Limits,
        *,
        cancel: Callable[[], None],
        settle: Callable[[], None],
        remove: Callable[[Task], None],
    ) -> None:
        self._folder, self._limits = folder, limits
        self._cancel, self._settle, self._remove = cancel, settle, remove
        self._tasks: dict[str, Task] = {}
        self._queue: queue.Queue[Task | None] = queue.Queue()
        self._lock = threading.Lock()
        self._current: Task | None = None
        self._interruption: TaskInterrupted | None = None
        self._thread = threading.Thread(target=self._loop, name="tasks", daemon=True)
        self._closed = False

    def start(self, prepare: Callable[[], None]) -> None:
        """Start the thread.

        :param prepare: called in it before the first task.
        """
        self._prepare = prepare
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """End the current task and the thread; tasks that wait fail."""
        with self._lock:
            self._closed = True
            waiting = [task for task in self._tasks.values() if task.status == "queued"]
        for task in waiting:
            task.fail(RefusedRequest("the service ends", status=503))
        if self._thread.ident is None:
            return
        self._queue.put(None)
        self._thread.join(seconds / 2)
        if self._thread.is_alive():
            self._interrupt(self._current, TaskTimeout())
            self._thread.join(seconds / 2)

    def submit(self, kind: Kind, name: str, work: Callable[[Task], Result]) -> Task:
        """Queue a task.

        :raises RefusedRequest: if too many wait.
        """
        with self._lock:
            waiting = sum(task.status == "queued" for task in self._tasks.values())
            if self._closed:
                raise RefusedRequest("the service ends", status=503)
            if waiting >= self._limits.queued:
                hint = "try again when some have ended"
                raise RefusedRequest(f"{waiting} runs wait already", status=429, hint=hint)
            number = token_hex(8)
            task = Task(id=number, kind=kind, name=name, folder=self._folder / number, work=work)
            self._tasks[number] = task
        self._queue.put(task)
        return task

    @property
    def tasks(self) -> list[Task]:
        """All tasks, the oldest first."""
        with self._lock:
            return [*self._tasks.values()]

    def task(self, number: str) -> Task:
        """A task by its id.

        :raises RefusedRequest: if there is none.
        """
        with self._lock:
            found = self._tasks.get(number)
        if found is None:
            hint = f"the service retains the last {self._limits.runs} runs"
            raise RefusedRequest("there is no such run", status=404, where=number[:40], hint=hint)
        return found

    def delete(self, number: str) -> None:
        """Remove a task that waits or has ended, with its folder and its topics.

        :raises RefusedRequest: if there is none, or it runs.
        """
        task = self.task(number)
        with self._lock:
            if task.status == "running":
                raise RefusedRequest("the run has not ended", status=409, where=number)
            self._tasks.pop(number, None)
        self._clean(task)

    def cancel(self, task: Task) -> None:
        """End a task that waits or runs; nothing happens to one that has ended."""
        with self._lock:
            waits = task.status == "queued" and self._current is not task
            if waits:
                task.fail(TaskCancelled())
        if not waits:
            self._interrupt(task, TaskCancelled())

    def _loop(self) -> None:
        self._prepare()
        while (task := self._queue.get()) is not None:
            try:
                self._run(task)
            except TaskInterrupted as error:  # it arrived when the work had ended
                if not task.over:
                    task.fail(error)
            if self._interruption is not None:
                self._settle()
            self._remove_oldest()

    def _run(self, task: Task) -> None:
        if not self._begins(task):
            return
        timer = threading.Timer(self._limits.seconds, self._interrupt, [task, TaskTimeout()])
        timer.daemon = True
        timer.start()
        try:
            task.folder.mkdir(parents=True)
            task.begin()
            result = task.work(task)
        except BaseException as error:  # the thread must outlive every task
            self._ended(timer)
            task.fail(self._failure(task, error))
        else:
            self._ended(timer)
            task.finish(result)

    def _begins(self, task: Task) -> bool:
        """Whether a task of the queue is still wanted."""
        with self._lock:
            self._interruption = None
            if task.status != "queued" or task.id not in self._tasks:
                return False
            self._current = task
            return True

    def _ended(self, timer: threading.Timer) -> None:
        timer.cancel()
        with self._lock:
            self._current = None

    def _failure(self, task: Task, error: BaseException) -> ProducerError:
        """The error of a task; Py4J and Spark raise their own when they are interrupted."""
        if self._interruption is not None:
            return self._interruption
        if isinstance(error, ProducerError):
            return error
        _LOG.error("run %s", task.id, exc_info=error)
        return EnvironmentFailure(f"the run failed: {type(error).__name__}: {str(error)[:500]}")

    def _interrupt(self, task: Task | None, error: TaskInterrupted) -> None:
        """Raise an error in the thread while it runs the task; the first one counts."""
        with self._lock:  # the next task does not begin before, so no job of it is cancelled
            if task is None or self._current is not task or self._thread.ident is None:
                return
            self._current, self._interruption = None, error
            thread = ctypes.c_ulong(self._thread.ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(type(error)))
            self._cancel()

    def _remove_oldest(self) -> None:
        with self._lock:
            over = [task for task in self._tasks.values() if task.over]
            old = over[: max(0, len(over) - self._limits.runs)]
            for task in old:
                del self._tasks[task.id]
        for task in old:
            self._clean(task)

    def _clean(self, task: Task) -> None:
        with suppress(ProducerError):
            self._remove(task)
        shutil.rmtree(task.folder, ignore_errors=True)
