"""A step of a large dump: the INSERTs of one table, which Spark reads from the file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ticdc_producer.model import tso
from ticdc_producer.model.clock import Clock
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.dump_file import Name, Span
from ticdc_producer.scenario.sql.partitioning import Partitioning


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpStep:
    """INSERTs of one table, each of which is a transaction.

    :param table: database, empty for the current one, and name.
    :param spans: where they are in the scenario file.
    """

    table: Name
    spans: tuple[Span, ...]
    commit_ts: int | None = None

    @property
    def line(self) -> int:
        """Line of the first INSERT."""
        return self.spans[0].line

    @property
    def statements(self) -> int:
        return sum(span.statements for span in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpPlan:
    """A step of a dump, bound to its table and to its commits.

    :param file: the scenario file.
    :param partitioning: None for a table without partitions.
    :param mode: the session's settings.
    :param clock: the commit clock; None if ``NOW()`` is fixed.
    :param first_commit: commit number of the first INSERT.
    """

    file: str
    step: DumpStep
    table: TableInfo
    partitioning: Partitioning | None
    mode: SQLMode
    clock: Clock | None
    first_commit: int

    @property
    def line(self) -> int:
        """Line of the first INSERT."""
        return self.step.line

    def commit_time(self, commit: int) -> datetime:
        """The time of a commit."""
        return self.mode.now if self.clock is None else tso.to_datetime(self.clock.ts(commit))
