"""The history that a scenario commits upstream: the input of the event stream.

It contains the row changes of SQL one by one, and the changes of ``generate`` and ``data`` steps as plans.
The change log is derived from it (``docs/design.md#change-log``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import REWRITE, Op, Value
from ticdc_producer.scenario.data_steps import PlannedChanges

_PLURALS = {
    "TRIGGER": "triggers", "PROCEDURE": "stored procedures", "FUNCTION": "stored functions",
    "EVENT": "events",
}  # fmt: skip


if TYPE_CHECKING:
    from ticdc_producer.scenario.generate.plan import GeneratePlan
    from ticdc_producer.scenario.sql.definition.partitioning import Partitioning


@dataclass(frozen=True, slots=True)
class Note:
    """A statement that TiDB does not support, or a DDL that is sent as it was typed.

    :param file: the scenario file, or the file that it sources.
    """

    file: str
    line: int
    text: str


@dataclass(slots=True)
class IgnoredStatements:
    """The statements that have no effect on the stream, and notes for the user.

    :param counts: number of statements without an effect on rows and schemas, by their first word.
    :param notes: the statements that TiDB does not support, and the DDLs that are sent as they were typed.
    """

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[Note] = field(default_factory=list)

    def count(self, word: str) -> None:
        """Count a statement that only reads, or locks."""
        self.counts[word] += 1

    def note_program(self, kind: str, verb: str, file: str, line: int) -> None:
        """Note a statement about a stored program.

        :param kind: ``TRIGGER``, ``PROCEDURE``, ``FUNCTION`` or ``EVENT``.
        """
        self.notes.append(Note(file, line, f"{verb} {kind} is ignored: TiDB has no {_PLURALS[kind]}"))

    def note_file(self, file: str, plural: str) -> None:
        """Note a file of a dump.

        :param plural: what it has.
        """
        self.notes.append(Note(file, 1, f"the file is ignored: TiDB has no {plural}"))

    def note_typed(self, file: str, line: int, reason: str) -> None:
        """Note a DDL whose event has the typed text, because this tool cannot print it as TiDB does."""
        text = f"the DDL is sent as it was typed, not as TiDB prints it: {reason}"
        self.notes.append(Note(file, line, text))


RowImage: TypeAlias = tuple[Value, ...]
"""Canonical values of the columns that reach the sink, in table order (``TableInfo.sent``)."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One row change of a statement; the changes of a transaction are not collapsed yet.

    :param commit_seq: number of its transaction among transactions and DDL jobs, from 0.
    :param row_seq: position inside the transaction, in execution order, from 0.
    :param table_version: index of the table version in the catalog.
    :param table_id: physical table id: of the table, or of the partition that holds the row.
    :param row_key: order-preserving encoding of the key that the row is stored under (clustered
        primary key under its collation, otherwise the hidden row id): the key of the new image, or of the
        old image for a delete.
    :param row_id: integer handle (clustered integer primary key or ``_tidb_rowid``), else 0; a BIGINT
        UNSIGNED key above the signed range is negative, as TiCDC sends it.
    :param old_table_id: with ``old_row_key`` and ``old_row_id``: the previous location of a row that an
        UPDATE moved to another key or partition; None otherwise.
    :param op: an ``Op``, or ``REWRITE``.
    :param line: line of the statement in the scenario file.
    """

    commit_seq: int
    row_seq: int
    table_version: int
    table_id: int
    row_key: bytes
    row_id: int
    op: int
    before: RowImage | None
    after: RowImage | None
    old_table_id: int | None = None
    old_row_key: bytes | None = None
    old_row_id: int | None = None
    line: int = 0

    @property
    def operation(self) -> Op:
        """The operation that a consumer sees."""
        if self.op == REWRITE:
            return Op.DELETE if self.after is None else Op.UPDATE
        return Op(self.op)


CheckSize: TypeAlias = Callable[[int, int, int], None]
"""Called after each row change, with the number of row changes, the bytes of their images, and the line of
the statement. It raises an error to end the execution."""


@dataclass(slots=True)
class HistorySize:
    """The size of a history while it is recorded, without changes that were rolled back.

    :param check: None: any size is accepted.
    """

    check: CheckSize | None = None
    row_changes: int = 0
    nbytes: int = 0

    def add(self, change: Change) -> None:
        """Count a row change."""
        if self.check is not None:
            self.row_changes += 1
            self.nbytes += _image_bytes(change)
            self.check(self.row_changes, self.nbytes, change.line)

    def weighed(self, rows: Iterable[list[Value]], line: int) -> list[list[Value]]:
        """Return all rows of an INSERT. Their bytes are checked before any is stored.

        :param line: line of the statement.
        """
        if self.check is None:
            return list(rows)
        computed, nbytes = list[list[Value]](), self.nbytes
        for row in rows:
            computed.append(row)
            nbytes += sum(len(value) for value in row if value)
            self.check(self.row_changes, nbytes, line)
        return computed

    def remove(self, changes: Iterable[Change]) -> None:
        """Deduct row changes that are undone."""
        if self.check is not None:
            for change in changes:
                self.row_changes -= 1
                self.nbytes -= _image_bytes(change)


def _image_bytes(change: Change) -> int:
    return sum(len(value) for image in (change.before, change.after) if image for value in image if value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """The rows of one table at one point in time, sorted by physical table id and row key.

    :param version: index in the catalog of the table version that describes the columns.
    :param table_ids: of a partitioned table, the physical table id of each row.
    """

    version: int
    rows: tuple[RowImage, ...]
    table_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinedTable:
    """A table as CREATE TABLE defines it.

    :param version: index of the table version in the catalog.
    :param create: the statement.
    :param partitioning: None for a table without partitions.
    """

    version: int
    create: str
    partitioning: Partitioning | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRange:
    """The commits of a history that a changefeed sends.

    :param start_ts: TSO after which it sends commits; 0: from the first one.
    :param target_ts: TSO up to which it sends commits; None: to the last one.
    :param first: number of commits up to ``start_ts``.
    :param end: number of commits up to ``target_ts``.
    """

    start_ts: int
    target_ts: int | None
    first: int
    end: int


State: TypeAlias = Mapping[tuple[str, str], TableState]
"""The rows of every table, by schema and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The result of executing a scenario.

    :param commits: number of commits: transactions and DDL jobs, each with a time stamp of its own.
    :param pinned: explicit ``commit-ts`` of single commits, by ``commit_seq``.
    :param by_ts: first number and end of the commits that are numbered by their commit-ts (``CommitClock``).
    :param resolved: explicit resolved steps: ``(number of commits before it, ts)``.
    :param with_resolved: first number and end of commits whose source has all their resolved events.
    :param generated: plans of the ``generate`` steps, whose changes are not in ``changes`` and ``state``.
    :param data: plans of ``data`` steps, large DataFrames and large dumps; their changes are not in
        ``changes`` and ``state`` either.
    :param state: rows at the end by ``(schema, table)``, also of tables that TiCDC does not replicate.
    :param state_at: the state after each requested number of commits.
    :param snapshot_after: number of commits before the ``snapshot`` step; None without one.
    :param sent: the commits that the changefeed sends; None: all.
    :param definitions: the tables that exist when a changefeed with a start-ts starts.
    :param ended: versions of tables that ended before the changefeed starts.
    :param ignored_statements: the statements that were not run.
    :param warnings: what differs from a real cluster, for reports.
    """

    catalog: Catalog
    changes: list[Change]
    commits: int
    pinned: Mapping[int, int] = field(default_factory=dict)
    by_ts: tuple[tuple[int, int], ...] = ()
    resolved: tuple[tuple[int, int], ...] = ()
    with_resolved: tuple[tuple[int, int], ...] = ()
    generated: tuple[GeneratePlan, ...] = ()
    data: tuple[PlannedChanges, ...] = ()
    state: State = field(default_factory=dict)
    state_at: Mapping[int, State] = field(default_factory=dict)
    snapshot_after: int | None = None
    sent: CommitRange | None = None
    definitions: tuple[DefinedTable, ...] = ()
    ended: frozenset[int] = frozenset()
    ignored_statements: IgnoredStatements = field(default_factory=IgnoredStatements)
    warnings: tuple[str, ...] = ()

    @property
    def row_changes(self) -> int:
        """Number of row changes, generated ones included; those of ``data`` steps are unknown."""
        return len(self.changes) + sum(plan.events for plan in self.generated)

    @property
    def uncounted(self) -> tuple[tuple[int, int], ...]:
        """First number and end of the numbers of which only some are commits, without those of DDL jobs."""
        jobs = sorted({job.commit_seq for job in self.catalog.ddls}) if self.by_ts else []
        ranges = []
        for first, stop in self.by_ts:
            for job in jobs[bisect_left(jobs, first) : bisect_left(jobs, stop)]:
                ranges.append((first, job))
                first = job + 1
            ranges.append((first, stop))
        return tuple((first, stop) for first, stop in ranges if first < stop)

    def large_transactions(self, limit: int) -> set[tuple[int, int]]:
        """Return the transactions with more than ``limit`` changes of one table, at least one an update.

        Generated changes are not included: their rows retain the stable order.

        :return: commit numbers and physical table ids.
        """
        counts: Counter[tuple[int, int]] = Counter()
        updated: set[tuple[int, int]] = set()
        for change in self.changes:
            txn_table = change.commit_seq, change.table_id
            counts[txn_table] += 1
            if change.operation == Op.UPDATE:
                updated.add(txn_table)
        return {txn_table for txn_table in updated if counts[txn_table] > limit}
