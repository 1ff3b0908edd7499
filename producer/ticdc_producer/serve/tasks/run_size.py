"""The size of a run, before its stream is drawn: events in all partitions, and bytes of rows and messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import CheckSize
from ticdc_producer.serve.settings import Limits
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
