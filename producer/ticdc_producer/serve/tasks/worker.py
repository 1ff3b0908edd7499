"""The queue of tasks, and the thread that gives them to a process, one after the other."""

from __future__ import annotations

import logging
import queue
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from secrets import token_hex

from ticdc_producer.errors import EnvironmentFailure, ProducerError, RefusedRequest
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.tasks.child_messages import Result, TaskEvent, TopicsEvent
from ticdc_producer.serve.tasks.child_process import ChildProcess, Children
from ticdc_producer.serve.tasks.limits import limited
from ticdc_producer.serve.tasks.task import Kind, MakeWork, Task
from ticdc_producer.serve.tasks.task_errors import ServiceEnds, TaskCancelled, TaskDeleted, TaskInterrupted

_LOG = logging.getLogger(__name__)
_KILL_SECONDS = 2.0
"""A process that is killed has ended by then."""


class Worker:
    """A runner of tasks, one at a time.

    :param folder: gets a folder for each task.
    :param children: the processes in which tasks run.
    :param on_topics: called with a task and the topics that it will write.
    :param remove: removes results of a task outside of its folder, such as topics.
    """

    def __init__(
        self,
        folder: Path,
        limits: Limits,
        children: Children,
        *,
        on_topics: Callable[[Task, TopicsEvent], None] = lambda _task, _event: None,
        remove: Callable[[Task], None] = lambda _task: None,
    ) -> None:
        self._folder, self._limits, self._children = folder, limits, children
        self._on_topics, self._remove = on_topics, remove
        self._tasks: dict[str, Task] = {}
        self._queue: queue.Queue[Task | None] = queue.Queue()
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._current: Task | None = None
        self._child: ChildProcess | None = None
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
        """End the current task and the thread; tasks that wait fail.

        :param seconds: how long the current task may take to end by itself.
        """
        with self._lock:
            self._closed = True
            waiting = [task for task in self._tasks.values() if task.status == "queued"]
        for task in waiting:
            task.fail(RefusedRequest("the service ends", status=503))
        if self._thread.ident is None:
            return
        self._queue.put(None)
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._interrupt(self._current, ServiceEnds())
            self._thread.join(_KILL_SECONDS)

    def submit(self, kind: Kind, name: str, make_work: MakeWork) -> Task:
        """Queue a task.

        :param make_work: called when the task begins.
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
            task = Task(id=number, kind=kind, name=name, folder=self._folder / number, make_work=make_work)
            self._tasks[number] = task
        self._queue.put(task)
        return task

    @property
    def tasks(self) -> list[Task]:
        """All tasks, the oldest first."""
        with self._lock:
            return [*self._tasks.values()]

    def task(self, number: str) -> Task:
        """Return a task by its id.

        :raises RefusedRequest: if there is none.
        """
        with self._lock:
            task = self._tasks.get(number)
        if task is None:
            hint = f"the service retains the last {self._limits.runs} runs"
            raise RefusedRequest("there is no such run", status=404, where=number[:40], hint=hint)
        return task

    def delete(self, number: str) -> None:
        """Remove a task with its folder and its topics. One that runs is ended before.

        :raises RefusedRequest: if there is none.
        """
        task = self.task(number)
        self._interrupt(task, TaskDeleted())
        with self._idle:
            self._idle.wait_for(lambda: self._current is not task, _KILL_SECONDS)
            self._tasks.pop(number, None)
            if task.status == "queued":
                task.fail(TaskDeleted())
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
            if self._begins(task):
                self._run(task)
            self._remove_oldest()

    def _begins(self, task: Task) -> bool:
        """Return whether a task of the queue is still requested."""
        with self._lock:
            if task.status != "queued" or task.id not in self._tasks:
                return False
            self._current = task
            return True

    def _run(self, task: Task) -> None:
        try:
            end: Result | ProducerError = self._result_of(task)
        except ProducerError as error:
            end = error
        except Exception as error:  # the thread must outlive every task
            _LOG.exception("run %s", task.id)
            end = EnvironmentFailure(f"the run failed: {type(error).__name__}: {str(error)[:500]}")
        end = self._ended() or end
        if isinstance(end, ProducerError):
            task.fail(end)
        else:
            task.finish(end)

    def _result_of(self, task: Task) -> Result:
        child = self._children.take()
        task.folder.mkdir(parents=True)
        task.begin()
        work = task.make_work(task)
        with self._lock:
            if self._interruption is not None:
                raise self._interruption
            self._child = child
        limits, end = self._limits, partial(self._interrupt, task)
        with limited(child, limits.seconds, limits.memory_bytes, end):
            return child.do(work, partial(self._on_event, task))

    def _on_event(self, task: Task, event: TaskEvent) -> None:
        task.tell(event)
        if isinstance(event, TopicsEvent):
            self._on_topics(task, event)

    def _ended(self) -> TaskInterrupted | None:
        """Return the error that has interrupted the task. Nothing interrupts it afterwards."""
        with self._lock:
            self._current = self._child = None
            interruption, self._interruption = self._interruption, None
            self._idle.notify_all()
            return interruption

    def _interrupt(self, task: Task | None, error: TaskInterrupted) -> None:
        """Kill the process of a task while it runs; the first error counts."""
        with self._lock:  # the next task does not begin before, so its process is not killed
            if task is None or self._current is not task:
                return
            self._interruption = self._interruption or error
            if self._child is not None:
                self._child.kill()

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
