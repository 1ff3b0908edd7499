"""CPU time of this process and all that it started."""

from __future__ import annotations

from contextlib import suppress

import psutil


def cpu_seconds(*, without: int | None = None) -> float:
    """User and system time of this process and its descendants, and of those that have ended.

    :param without: process id of a descendant that does not count, such as a broker.
    """
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            if process.pid != without:
                total += sum(process.cpu_times()[:4])
    return total
