"""A queued, running or finished run or verification, and the listeners to its events."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from ticdc_producer.errors import ProducerError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.serve.guard import error_content
from ticdc_producer.serve.tasks.child_messages import ProgressEvent, Result, StepEvent, TaskEvent, TopicsEvent
from ticdc_producer.serve.tasks.work import Work

Status: TypeAlias = Literal["queued", "running", "finished", "failed"]
Kind: TypeAlias = Literal["run", "verification"]
ServerSentEvent: TypeAlias = dict[str, str | int | None]
"""A server-sent event of a task: its fields, with its kind as ``event``."""
_MAX_EVENTS = 2000
"""Events of one task; further progress is left out, its end never."""
_KEEP_ALIVE_SECONDS = 15.0


MakeWork: TypeAlias = "Callable[[Task], Work]"
"""Makes the work that the process of a task does."""


@dataclass
class Task:
    """One task. Its worker changes it; any thread may read it.

    :param folder: a folder of its own; a run writes its golden folder below it.
    :param make_work: makes the work of its process when the task begins.
    :param topics: topics that the run writes, to be deleted with it.
    """

    id: str
    kind: Kind
    name: str
    folder: Path
    make_work: MakeWork = field(repr=False)
    status: Status = "queued"
    result: Result | None = field(default=None, repr=False)
    error: ProducerError | None = None
    topics: tuple[str, ...] = ()
    brokers: Brokers = ""
    created: float = field(default_factory=time.time)
    started: float | None = None
    ended: float | None = None
    events: list[ServerSentEvent] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _listeners: dict[asyncio.Event, asyncio.AbstractEventLoop] = field(default_factory=dict, repr=False)

    @property
    def golden(self) -> Path:
        """Where a run writes its golden folder."""
        return self.folder / "golden"

    @property
    def over(self) -> bool:
        """Whether the task has ended, with or without a result."""
        return self.status in ("finished", "failed")

    def begin(self) -> None:
        """Note that the worker starts it."""
        self.started = time.time()
        self._change("running")

    def finish(self, result: Result) -> None:
        """Note its result."""
        self.result = result
        self._end("finished")

    def fail(self, error: ProducerError) -> None:
        """Note the error that ended it."""
        self.error = error
        self._end("failed")

    def _end(self, status: Status) -> None:
        self.ended = time.time()
        self.make_work = _nothing  # releases the objects that it refers to
        self._change(status)

    def _change(self, status: Status) -> None:
        self.status = status
        self._tell({"event": "status", "status": status})

    def tell(self, event: TaskEvent) -> None:
        """Note an event of its process."""
        match event:
            case TopicsEvent(topics=topics):
                self.topics = topics
            case StepEvent(line=line):
                self._tell_some({"event": "step", "line": line})
            case ProgressEvent(messages=messages, total=total, ts=ts):
                self._tell_some({"event": "progress", "messages": messages, "total": total, "ts": ts})

    def _tell_some(self, event: ServerSentEvent) -> None:
        if len(self.events) < _MAX_EVENTS:
            self._tell(event)

    def _tell(self, event: ServerSentEvent) -> None:
        with self._lock:
            self.events.append(event)
            for changed, loop in self._listeners.items():
                with suppress(RuntimeError):  # the loop has ended, and the listener with it
                    loop.call_soon_threadsafe(changed.set)

    async def changes(self) -> AsyncIterator[ServerSentEvent | None]:
        """Yield all events, and those to come until the end; None after a while without any."""
        changed, seen = asyncio.Event(), 0
        with self._lock:
            self._listeners[changed] = asyncio.get_running_loop()
        try:
            while True:
                changed.clear()
                over = self.over
                for event in self.events[seen:]:
                    seen += 1
                    yield event
                if over and seen == len(self.events):
                    return
                try:
                    await asyncio.wait_for(changed.wait(), _KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    yield None
        finally:
            with self._lock:
                self._listeners.pop(changed, None)

    async def ended_within(self, seconds: float) -> None:
        """Return when the task has ended, at the latest after some seconds."""
        try:
            async with asyncio.timeout(seconds):
                async for _ in self.changes():
                    pass
        except TimeoutError:
            return

    def to_json(self) -> dict[str, object]:
        """Return the task with stable keys."""
        error = self.error
        return {
            "id": self.id,
            "kind": self.kind,
            "name": self.name,
            "status": self.status,
            "ok": None if self.result is None else self.result.ok,
            "bootstrap": str(self.brokers),
            "topics": list(self.topics),
            "created": self.created,
            "started": self.started,
            "ended": self.ended,
            "error": None if error is None else error_content(error),
            "exit_code": self._exit_code,
        }

    @property
    def _exit_code(self) -> int | None:
        if self.error is not None:
            return self.error.exit_code
        return None if self.result is None else int(not self.result.ok)


def _nothing(_task: Task) -> Work:
    raise AssertionError("the task has ended")
