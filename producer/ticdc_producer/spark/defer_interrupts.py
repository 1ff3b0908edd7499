"""Interrupts that wait for the end of what must not be cut off halfway."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def later_interrupt() -> Iterator[None]:
    """An interrupt during the block comes behind it; a second one at once, as if there were no block.

    A handler that the block installs stays. Outside of the main thread, which alone is interrupted, nothing
    is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    # None is a handler that Python did not install, and cannot put back.
    before = {number: handler for number, handler in handlers.items() if handler is not None}

    def wait(number: int, _frame: FrameType | None) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    for number in before:
        signal.signal(number, wait)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is wait:
                signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])
