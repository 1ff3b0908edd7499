"""Ends the work of a process at its limits of time and memory.

A limit of the address space would not do: Java and Arrow reserve far more than they use. So the resident
memory is read several times a second. For a moment a process may have more than the limit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from ticdc_producer.serve.tasks.task_errors import TaskInterrupted, TaskOutOfMemory, TaskTimeout

_SAMPLE_SECONDS = 0.1


class MeasuredProcess(Protocol):
    """A process whose memory is known."""

    def uses_more_than(self, nbytes: int) -> bool:
        """Return whether its resident memory, with that of the processes that it has started, is larger."""


@contextmanager
def limited(
    process: MeasuredProcess, seconds: float, memory_bytes: int, end: Callable[[TaskInterrupted], None]
) -> Iterator[None]:
    """Watch a process while it works in the context.

    :param end: called once, in another thread, when the work exceeds a limit.
    """
    over = threading.Event()
    deadline = time.monotonic() + seconds

    def watch() -> None:
        while not over.wait(max(0.0, min(_SAMPLE_SECONDS, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                end(TaskTimeout(seconds))
                return
            if process.uses_more_than(memory_bytes):
                end(TaskOutOfMemory(memory_bytes))
                return

    watcher = threading.Thread(target=watch, name="limits", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
