"""A queued, running or finished run or verification, and the listeners to its news."""

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
from ticdc_producer.serve.tasks.child_messages import News, ProgressNews, Result, StepNews, TopicsNews
from ticdc_producer.serve.tasks.work import Work

Status: TypeAlias = Literal["queued", "running", "finished", "failed"]
Kind: TypeAlias = Literal["run", "verification"]
TaskNews: TypeAlias = dict[str, str | int | None]
"""One news of a task, with its kind as ``event``."""
_MAX_NEWS = 2000
"""News of one task; further progress is left out, its end never."""
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
    news: list[TaskNews] = field(default_factory=list, repr=False)
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

    def tell(self, news: News) -> None:
        """Note news of its process."""
        match news:
            case TopicsNews(topics=topics):
                self.topics = topics
            case StepNews(line=line):
                self._tell_some({"event": "step", "line": line})
            case ProgressNews(messages=messages, total=total, ts=ts):
                self._tell_some({"event": "progress", "messages": messages, "total": total, "ts": ts})

    def _tell_some(self, news: TaskNews) -> None:
        if len(self.news) < _MAX_NEWS:
            self._tell(news)

    def _tell(self, news: TaskNews) -> None:
        with self._lock:
            self.news.append(news)
            for event, loop in self._listeners.items():
                with suppress(RuntimeError):  # the loop has ended, and the listener with it
                    loop.call_soon_threadsafe(event.set)

    async def changes(self) -> AsyncIterator[TaskNews | None]:
        """Yield all news, and those to come until the end; None after a while without any."""
        event, seen = asyncio.Event(), 0
        with self._lock:
            self._listeners[event] = asyncio.get_running_loop()
        try:
            while True:
                event.clear()
                over = self.over
                for news in self.news[seen:]:
                    seen += 1
                    yield news
                if over and seen == len(self.news):
                    return
                try:
                    await asyncio.wait_for(event.wait(), _KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    yield None
        finally:
            with self._lock:
                self._listeners.pop(event, None)

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
