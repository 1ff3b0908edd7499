"""The limits of a task: the size of its run, before its stream is drawn, and its time and memory.

The size is the events in all partitions, and the bytes of rows and messages. The process of a task, or of a
request, is killed at its limits of time and memory.

A limit of the address space would not do: Java and Arrow reserve far more than they use. So the resident
memory is read several times a second. For a moment a process may have more than the limit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import CheckSize
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.tasks.task_errors import TaskGaveWay, TaskInterrupted, TaskOutOfMemory, TaskTimeout
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import estimate_of

_MESSAGE_BYTES = 100
"""Bytes of a message without columns and texts, such as a resolved event."""
_COLUMN_BYTES = 40
"""Bytes of a column in the image of a row, without its name and its value: types and flags."""
_SCHEMA_BYTES = 120
"""Bytes of a column in the schemas, before and after, that a message may have."""


@dataclass(frozen=True)
class Excess:
    """A size that is above its limit.

    :param size: the size with its unit, such as ``20001 row changes``.
    :param limit: the limit with its unit.
    """

    size: str
    limit: str

    def refusal(self, where: str = "") -> RefusedRequest:
        """Return the error of a run with this size."""
        hint = f"the service runs up to {self.limit}; use ticdc-producer run"
        return RefusedRequest(f"the run has {self.size}", status=422, where=where, hint=hint)


def size_check(file: str, limits: Limits) -> CheckSize:
    """Return the check of a history while its SQL runs: what exceeds a limit is not stored first.

    :param file: name of the scenario file, for errors.
    """

    def check(row_changes: int, nbytes: int, line: int) -> None:
        for amount, most, unit in (
            (row_changes, limits.row_changes, "row changes"),
            (nbytes, limits.image_bytes, "bytes of row images"),
        ):
            if amount > most:
                limit = f"{most} {unit}"
                raise Excess(f"more than {limit}", limit).refusal(f"{file}:{line}")

    return check


def first_excess(job: Job, limits: Limits) -> Excess | None:
    """Return the first size of a run that exceeds a limit; None if it fits.

    The number of events of ``data`` steps is unknown.
    """
    estimate = estimate_of(job)
    sizes: list[tuple[Callable[[], int], int, str]] = [
        (lambda: job.history.row_changes, limits.row_changes, "row changes"),
        (lambda: estimate.events, limits.events, "events"),
        (lambda: estimate.nbytes, limits.image_bytes, "bytes of row images"),
        (
            lambda: _stream_bytes(job, estimate.events, estimate.nbytes),
            limits.stream_bytes,
            "bytes of messages",
        ),
    ]
    for size, most, unit in sizes:
        if size() > most:
            amount = "an unknown number of" if unit == "events" and job.history.data else f"{size()}"
            return Excess(f"{amount} {unit}", f"{most} {unit}")
    return None


def _stream_bytes(job: Job, events: int, image_bytes: int) -> int:
    """Return about how many bytes the messages have.

    Wide tables count although their rows are NULL, and so do texts of DDLs, which each partition gets.
    """
    schema = _SCHEMA_BYTES if job.changefeed.spec.describes_columns else 0
    tables = job.history.catalog.tables
    widths = {table.version: _image_width(table) + schema * len(table.columns) for table in tables}
    rows = sum(
        widths[change.table_version] * ((change.before is not None) + (change.after is not None))
        for change in job.history.changes
    )
    widest = max(widths.values(), default=0)
    rows += 2 * widest * sum(plan.events for plan in job.history.generated)
    ddls = sum(len(ddl.query) for ddl in job.history.catalog.ddls if ddl.sent)
    return events * _MESSAGE_BYTES + image_bytes + rows + ddls * len(job.stream.topic_partitions)


def _image_width(table: TableInfo) -> int:
    return sum(_COLUMN_BYTES + len(column.name) for column in table.columns)


_SAMPLE_SECONDS = 0.1


class MeasuredProcess(Protocol):
    """A process whose memory is known."""

    def uses_more_than(self, nbytes: int) -> bool:
        """Return whether its resident memory, with that of the processes that it has started, is larger."""


@contextmanager
def limited(
    process: MeasuredProcess,
    seconds: float,
    memory_bytes: int,
    end: Callable[[TaskInterrupted], None],
    gives_way: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Watch a process while it works in the context.

    :param end: called once, in another thread, when the work exceeds a limit or gives way.
    :param gives_way: whether another work needs the process.
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
            if gives_way():
                end(TaskGaveWay())
                return

    watcher = threading.Thread(target=watch, name="limits", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
