"""Delays interrupts until the end of a block that must not be interrupted halfway."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Deliver SIGINT and SIGTERM that arrive during the block after it; a second one interrupts at once.

    A signal handler that the block installs is not replaced. Outside of the main thread the block runs
    unchanged, because Python delivers signals to the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    # None means a handler that Python did not install and cannot restore.
    original = {number: handler for number, handler in handlers.items() if handler is not None}

    def defer(number: int, _frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    for number in original:
        signal.signal(number, defer)
    try:
        yield
    finally:
        for number, handler in original.items():
            if signal.getsignal(number) is defer:
                signal.signal(number, handler)
    if received:
        signal.raise_signal(received[0])
