"""Transactions, which record row changes and undo them on rollback; BEGIN, COMMIT and SAVEPOINT."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.event import REWRITE, Op
from ticdc_producer.scenario.history import Change, HistorySize
from ticdc_producer.scenario.sql.store.allocator import row_ids
from ticdc_producer.scenario.sql.store.recorded_history import RecordedHistory
from ticdc_producer.scenario.sql.store.storage import Row, Table
from ticdc_producer.scenario.sql.text.cursor import Cursor

Step: TypeAlias = tuple[Table, Row | None, Row | None]
"""A table, and a row before and after a change; None before an insert and after a delete."""


@dataclass(slots=True)
class OpenTransaction:
    """An open transaction; every row change goes through it.

    :param commit_seq: number of its commit.
    :param size: counts the row changes of the history.
    :param line: line of the statement that runs.
    :param changes: the row changes of tables that are not temporary.
    :param steps: the row changes in execution order, for rollback.
    :param savepoints: per name in lower case, the number of steps before it; the oldest one first.
    :ivar emptied: the global temporary tables that it changed, whose rows vanish at its end.
    :ivar ignores_conflicts: whether rows that cannot be changed remain as they are.
    :ivar partitions: by the id of a table, the partitions into which the statement may write.
    """

    commit_seq: int
    size: HistorySize
    line: int = 0
    changes: list[Change] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    savepoints: dict[str, int] = field(default_factory=dict)
    partitions: Mapping[int, frozenset[int]] = field(default_factory=dict, init=False)
    emptied: dict[int, Table] = field(default_factory=dict, init=False)
    ignores_conflicts: bool = field(default=False, init=False)

    @contextmanager
    def ignoring_conflicts(self) -> Iterator[None]:
        """Ignore conflicts in the context: with IGNORE a row whose new key exists is not changed."""
        self.ignores_conflicts = True
        try:
            yield
        finally:
            self.ignores_conflicts = False

    @contextmanager
    def restricted(self, partitions: Mapping[int, frozenset[int]]) -> Iterator[None]:
        """Write into some partitions alone in the context: those that the statement names."""
        self.partitions = partitions
        try:
            yield
        finally:
            self.partitions = {}

    def insert(self, table: Table, row: Row) -> None:
        """Store a new row.

        :raises ScenarioError: if one of its unique keys exists.
        """
        conflict = table.insert(row)
        if conflict is not None:
            raise table.duplicate_error(conflict[0], row.values)
        self._record(table, Op.INSERT, None, row)

    def update(self, table: Table, old: Row, new: Row) -> bool:
        """Replace a row, whose key may change.

        :return: whether it was replaced, and no conflict was ignored.
        :raises ScenarioError: if one of its unique keys exists, unless conflicts are ignored.
        """
        if self.ignores_conflicts and not self.accepts(table, new.table_id):
            return False
        self.check_partition(table, new.table_id)
        conflict = table.replace(old, new)
        if conflict is not None and self.ignores_conflicts:
            return False
        if conflict is not None:
            raise table.duplicate_error(conflict[0], new.values)
        self._record(table, _of_stored(table, old, Op.UPDATE), old, new)
        return True

    def delete(self, table: Table, row: Row) -> None:
        """Delete a row."""
        table.remove(row)
        self._record(table, _of_stored(table, row, Op.DELETE), row, None)

    def rollback(self, to: int = 0) -> None:
        """Undo changes, the last one first; id counters are not reset, as in TiDB.

        :param to: number of steps that are not undone.
        """
        for table, old, new in reversed(self.steps[to:]):
            _swap(table, new, old)
        remaining = sum(not table.temporary for table, _, _ in self.steps[:to])
        self.size.remove(self.changes[remaining:])
        del self.steps[to:], self.changes[remaining:]

    def end(self) -> None:
        """Empty the global temporary tables, whose ids start over in each transaction.

        Source: tidb ``NewAllocatorFromTempTblInfo``.
        """
        for table in self.emptied.values():
            table.clear()
            table.ids = row_ids(table.info)

    def affected_rows(self, since: int, *, updates_count_twice: bool) -> int:
        """Return the number of rows that a statement changed, as ``ROW_COUNT()`` returns it.

        :param since: number of steps before the statement.
        :param updates_count_twice: whether updates count as two rows, as in ON DUPLICATE KEY UPDATE.
        """
        changes = len(self.steps) - since
        if not updates_count_twice:
            return changes
        return changes + sum(old is not None and new is not None for _, old, new in self.steps[since:])

    def accepts(self, table: Table, partition: int) -> bool:
        """Return whether the statement may write into a partition, given by its id."""
        partitions = self.partitions.get(table.info.table_id)
        return partitions is None or partition in partitions

    def check_partition(self, table: Table, partition: int) -> None:
        """Check that the statement may write into a partition, given by its id.

        :raises ScenarioError: if it may not.
        """
        if not self.accepts(table, partition):
            raise ScenarioError("Found a row not matching the given partition set")

    def _record(self, table: Table, op: int, old: Row | None, new: Row | None) -> None:
        """Record a change of the table's rows."""
        self.steps.append((table, old, new))
        current = new or old
        if table.temporary == "GLOBAL":
            self.emptied[id(table)] = table
        if current is None or table.temporary:
            return
        moved = old is not None and new is not None and old.location != new.location
        self.changes.append(
            Change(
                commit_seq=self.commit_seq,
                row_seq=len(self.changes),
                table_version=table.info.version,
                table_id=current.table_id,
                row_key=current.key,
                row_id=current.row_id,
                op=op,
                before=None if old is None else table.image(old.values),
                after=None if new is None else table.image(new.values),
                old_table_id=old.table_id if moved and old else None,
                old_row_key=old.key if moved and old else None,
                old_row_id=old.row_id if moved and old else None,
                line=self.line,
            )
        )
        self.size.add(self.changes[-1])


def _swap(table: Table, old: Row | None, new: Row | None) -> None:
    if old is not None:
        table.remove(old)
    if new is not None:
        table.put(new)


VERBS = ("BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
"""The first words of statements about transactions."""


class TransactionControl:
    """The open transaction of a session, and the statements that begin and end one.

    :param recorded: records the changes of committed transactions.
    :ivar open: the open transaction; None under autocommit between statements.
    :ivar line: line of the statement that began it.
    """

    def __init__(self, recorded: RecordedHistory) -> None:
        self.open: OpenTransaction | None = None
        self.line = 0
        self._recorded = recorded

    def begin(self, line: int) -> OpenTransaction:
        """Begin a transaction."""
        self.open, self.line = self._next(), line
        return self.open

    def _next(self) -> OpenTransaction:
        return OpenTransaction(self._recorded.commits, self._recorded.size)

    def commit(self) -> None:
        """Commit the open transaction, if there is one."""
        if self.open is not None:
            self._recorded.add_transaction(self.open.changes)
            self.open.end()
            self.open = None

    def rollback(self) -> None:
        """Undo the open transaction, if there is one."""
        if self.open is not None:
            self.open.rollback()
            self.open.end()
            self.open = None

    def run_statement(
        self, line: int, run: Callable[[OpenTransaction, int], None], *, autocommit: bool
    ) -> None:
        """Run a DML statement in the open transaction; without one it is a transaction of its own.

        A statement that fails is undone alone.

        :param run: runs it in a transaction, after some number of steps.
        """
        if self.open is None and not autocommit:
            self.begin(line)
        transaction = self.open or self._next()
        transaction.line, before = line, len(transaction.steps)
        try:
            run(transaction, before)
        except ScenarioError:
            transaction.rollback(before)
            raise
        if self.open is None:
            self._recorded.add_transaction(transaction.changes)
            transaction.end()

    def run(self, cursor: Cursor, line: int) -> bool:
        """Run BEGIN, COMMIT, ROLLBACK, or a statement about a savepoint; return False for others.

        :param line: line of the statement in the scenario file.
        """
        if cursor.accept("BEGIN") or cursor.accept("START", "TRANSACTION"):
            _read_begin(cursor)
            self.commit()
            self.begin(line)
        elif cursor.accept("COMMIT"):
            chained = _read_completion(cursor)
            self.commit()
            self._chain(chained, line)
        elif cursor.word() in ("SAVEPOINT", "RELEASE") or (
            cursor.word() == "ROLLBACK" and "TO" in (cursor.word(1), cursor.word(2))
        ):
            _run_savepoint(cursor, self.open)
        elif cursor.accept("ROLLBACK"):
            chained = _read_completion(cursor)
            self.rollback()
            self._chain(chained, line)
        else:
            return False
        return True

    def _chain(self, chained: bool, line: int) -> None:
        """Begin a transaction after the one that ended, for ``AND CHAIN``."""
        if chained:
            self.begin(line)


def _run_savepoint(cursor: Cursor, transaction: OpenTransaction | None) -> None:
    """Run a statement about a savepoint.

    :param transaction: the open transaction; without one a new savepoint is forgotten at once.
    :raises ScenarioError: for a savepoint that does not exist.
    """
    if cursor.accept("SAVEPOINT"):
        name = _name(cursor)
        if transaction is not None:
            transaction.savepoints.pop(name, None)  # so that a repeated name is the newest one
            transaction.savepoints[name] = len(transaction.steps)
        return
    releases = bool(cursor.accept("RELEASE"))
    if releases:
        cursor.expect("SAVEPOINT")
    else:
        cursor.expect("ROLLBACK")
        cursor.accept("WORK")
        cursor.expect("TO")
        cursor.accept("SAVEPOINT")
    name = _name(cursor)
    savepoints = {} if transaction is None else transaction.savepoints
    if transaction is None or name not in savepoints:
        raise ScenarioError(f"SAVEPOINT {name} does not exist", value=name)
    names = list(savepoints)
    for later in names[names.index(name) + (not releases) :]:
        del savepoints[later]
    if not releases:
        transaction.rollback(savepoints[name])


def _name(cursor: Cursor) -> str:
    name = cursor.identifier("a savepoint").lower()
    cursor.end()
    return name


def _read_begin(cursor: Cursor) -> None:
    """Read the rest of BEGIN or START TRANSACTION, which has no effect on one session.

    :raises UnsupportedSQL: for READ ONLY and other words.
    """
    cursor.accept("WORK")
    cursor.accept_any("PESSIMISTIC", "OPTIMISTIC")
    cursor.accept("WITH", "CONSISTENT", "SNAPSHOT")
    cursor.accept("READ", "WRITE")
    _end(cursor)


def _read_completion(cursor: Cursor) -> bool:
    """Read the rest of COMMIT or ROLLBACK; return whether ``AND CHAIN`` begins another transaction.

    :raises UnsupportedSQL: for RELEASE, which ends the session, and for a savepoint.
    """
    cursor.accept("WORK")
    chained = cursor.accept("AND", "CHAIN")
    if not chained:
        cursor.accept("AND", "NO", "CHAIN")
    cursor.accept("NO", "RELEASE")
    _end(cursor)
    return chained


def _end(cursor: Cursor) -> None:
    if cursor.word() in ("AND", "NO", "READ", "RELEASE", "TO", "WITH"):
        raise _unsupported(cursor)
    cursor.end()


def _unsupported(cursor: Cursor) -> UnsupportedSQL:
    verb = " ".join(cursor.statement.word(index) for index in range(cursor.position))
    return cursor.unsupported(f"{verb} {cursor.word()} {cursor.word(1)}".rstrip())


def _of_stored(table: Table, row: Row, op: Op) -> int:
    """Return the operation on a row, which is ``REWRITE`` if DDLs have added or dropped columns since."""
    return op if row.stored == table.info.stored_ids else REWRITE
