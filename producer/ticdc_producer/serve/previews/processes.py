"""The two processes that make previews, and which request has them when.

A request has one process for itself. If its preview has several protocols and the other process is idle, that
one helps: it makes half of them. Help ends when another request has waited for a moment, so one preview that
does not end delays no other one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from ticdc_producer.serve.previews.preview import Preview, joined
from ticdc_producer.serve.request_process import (
    MOST_REQUESTS,
    SECONDS_BETWEEN_CHECKS,
    RequestProcess,
    check_wanted,
    too_many_requests,
)
from ticdc_producer.serve.tasks.task_errors import TaskGaveWay

_HELP_SECONDS = 1.0
"""How long a request waits for a process that helps another one. Most previews take less time."""


class PreviewProcesses:
    """The processes that make previews.

    :param first: starts with the service.
    :param second: starts when a preview is requested while the first one makes another, or has several
        protocols.
    :param help_seconds: how long a request waits for a process that helps another one.
    """

    def __init__(
        self, first: RequestProcess, second: RequestProcess, help_seconds: float = _HELP_SECONDS
    ) -> None:
        self.both = first, second
        self._help_seconds = help_seconds
        self._turns = threading.Condition()
        self._idle = {*self.both}
        self._waiting: dict[int, float] = {}
        """The time at which each thread began to wait."""
        self._requests = 0

    def start(self) -> None:
        """Start the first process in the background, before the first preview."""
        _start(self.both[0])

    def content(self, work: Preview, is_abandoned: Callable[[], bool] = lambda: False) -> dict[str, object]:
        """Make a preview, and return its content.

        :param is_abandoned: whether nobody waits for it any more. Then it does not start.
        :raises RefusedRequest: as ``RequestProcess.do``.
        :raises ProducerError: the error of the preview.
        """
        with self._turn(is_abandoned) as process:
            helper = self._helper() if len(work.request.protocols) > 1 else None
            if helper is None:
                return process.do(work, is_abandoned).content
            half, other_half = work.halves()
            with ThreadPoolExecutor(1) as pool:
                help_ = pool.submit(self._help, helper, other_half, is_abandoned)
                content = process.do(half, is_abandoned).content
                others = help_.result()
            return joined(content, others or process.do(other_half, is_abandoned).content)

    def _helper(self) -> RequestProcess | None:
        """Take the other process for a request that has one, if it is idle and no request waits for it."""
        with self._turns:
            for process in self._idle:
                if process.is_ready:
                    self._idle.remove(process)
                    return process
                if not process.is_busy:
                    _start(process)  # it is there for the next one
        return None

    def _help(
        self, helper: RequestProcess, half: Preview, is_abandoned: Callable[[], bool]
    ) -> dict[str, object] | None:
        """Make half of a preview; return None if another request has waited too long."""
        try:
            return helper.do(half, is_abandoned, self._is_needed).content
        except TaskGaveWay:
            return None
        finally:
            self._release(helper)

    def _is_needed(self) -> bool:
        """Return whether a request has waited too long for a process that helps another one."""
        with self._turns:
            first = min(self._waiting.values(), default=None)
        return first is not None and time.monotonic() - first >= self._help_seconds

    @contextmanager
    def _turn(self, is_abandoned: Callable[[], bool]) -> Iterator[RequestProcess]:
        """Wait for a process."""
        with self._turns:
            if self._requests == MOST_REQUESTS:
                raise too_many_requests()
            self._requests += 1
        try:
            process = self._next_idle(is_abandoned)
            try:
                yield process
            finally:
                self._release(process)
        finally:
            with self._turns:
                self._requests -= 1

    def _next_idle(self, is_abandoned: Callable[[], bool]) -> RequestProcess:
        thread = threading.get_ident()
        with self._turns:
            self._waiting[thread] = time.monotonic()
            try:
                while not self._idle:
                    self._turns.wait(SECONDS_BETWEEN_CHECKS)
                    check_wanted(is_abandoned)
            finally:
                del self._waiting[thread]
            process = next(process for process in self.both if process in self._idle)
            self._idle.remove(process)
            return process

    def _release(self, process: RequestProcess) -> None:
        with self._turns:
            self._idle.add(process)
            self._turns.notify()


def _start(process: RequestProcess) -> None:
    threading.Thread(target=process.start, name="previews", daemon=True).start()
