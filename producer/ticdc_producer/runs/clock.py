"""The time of a run that keeps pace with the clock on the wall: the one place that reads it."""

from __future__ import annotations

import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Pacemaker(Protocol):
    """Tells the time since a run began, and waits."""

    def begin(self) -> int:
        """Start to count.

        :return: Unix milliseconds of now.
        """
        ...

    def passed(self) -> int:
        """Milliseconds since the begin."""
        ...

    def wait_until(self, passed: int) -> bool:
        """Wait until so many milliseconds have passed.

        :return: False at once, and always from then on, if the run is asked to end.
        """
        ...


class RealTime:
    """Real time, which ``ended_by_signals`` may end."""

    def __init__(self) -> None:
        # Not threading.Event: its lock may be held where the signal handler wants it.
        self._asked, self._ask = socket.socketpair()
        self._begin = 0.0

    def begin(self) -> int:
        self._begin = time.monotonic()
        return time.time_ns() // 1_000_000

    def passed(self) -> int:
        return int((time.monotonic() - self._begin) * 1000)

    def wait_until(self, passed: int) -> bool:
        remaining = max(0, passed - self.passed()) / 1000
        return not select.select([self._asked], [], [], remaining)[0]

    @contextmanager
    def ended_by_signals(self) -> Iterator[None]:
        """Ctrl-C and ``kill`` ask the run to end; the second time they interrupt it."""
        if threading.current_thread() is not threading.main_thread():
            yield  # Python gives signals to the main thread only
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def ask(number: int, _frame: object) -> None:
            signal.signal(number, before[signal.Signals(number)])
            self._ask.send(b".")

        try:
            for number in before:
                signal.signal(number, ask)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
