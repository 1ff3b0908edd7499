"""The wall clock of a run in real time. No other module of a run reads the current time."""

from __future__ import annotations

import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class WallClock(Protocol):
    """Measures the time since a run started, and waits."""

    def start(self) -> int:
        """Start to measure.

        :return: the current time in Unix milliseconds.
        """
        ...

    def elapsed_ms(self) -> int:
        """Milliseconds since the start."""
        ...

    def wait_until(self, elapsed_ms: int) -> bool:
        """Wait until the given number of milliseconds has passed since the start.

        :return: False as soon as the run was requested to end, and on every later call.
        """
        ...


class SystemClock:
    """The system's clock; signals may end the run within ``ended_by_signals``."""

    def __init__(self) -> None:
        # Not threading.Event: the interrupted thread may hold the lock that the signal handler needs.
        self._end_requests, self._request_end = socket.socketpair()
        self._started = 0.0

    def start(self) -> int:
        self._started = time.monotonic()
        return time.time_ns() // 1_000_000

    def elapsed_ms(self) -> int:
        return int((time.monotonic() - self._started) * 1000)

    def wait_until(self, elapsed_ms: int) -> bool:
        remaining = max(0, elapsed_ms - self.elapsed_ms()) / 1000
        return not select.select([self._end_requests], [], [], remaining)[0]

    @contextmanager
    def ended_by_signals(self) -> Iterator[None]:
        """The first Ctrl-C or ``kill`` requests the end of the run; the second one interrupts it."""
        if threading.current_thread() is not threading.main_thread():
            yield  # Python delivers signals to the main thread only
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def request_end(number: int, _frame: object) -> None:
            signal.signal(number, before[signal.Signals(number)])
            self._request_end.send(b".")

        try:
            for number in before:
                signal.signal(number, request_end)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
