"""The effect of each change on its row, from the row's earlier changes: a state per row that is updated.

A change that would delete or update a deleted row inserts it again instead. A cell is a pure function of its
version, the number of the change that last gave it a value. So the state of a row is a few numbers, however
many changes it had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.scenario.generate.amounts import evaluated, parsed
from ticdc_producer.scenario.generate.arrays import Longs, RowRuns
from ticdc_producer.scenario.generate.domain import DECIMAL_DIGITS
from ticdc_producer.scenario.generate.draw import draw, happens, uniform
from ticdc_producer.scenario.generate.events import GeneratedEvents
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan, may_change

_ALSO = 0.25
"""Probability of each further column to change in an update."""
NEVER = -1


@dataclass(frozen=True, slots=True)
class Versions:
    """The numbers of the changes that the values of rows come from.

    :param inserted: the change that last inserted the row.
    :param keys: the change that last gave the row new keys; ``NEVER`` if it has its first keys.
    :param changed: by offset, the change that last gave the column a value; the columns that updates change.
    :param added: by offset, the sum that updates added since the insert, in units of the column's last digit.
    :param moved: the change that last inserted the row or moved it to another partition; None: ``inserted``.
    """

    inserted: Longs
    keys: Longs
    changed: Mapping[int, Longs] = field(default_factory=dict)
    added: Mapping[int, Longs] = field(default_factory=dict)
    moved: Longs | None = None

    @property
    def hidden_ids(self) -> Longs:
        """The hidden row ids of the rows."""
        return (self.inserted if self.moved is None else self.moved) + 1

    def take(self, indexes: Longs) -> Versions:
        """Return the versions of some rows."""
        return Versions(
            self.inserted[indexes],
            self.keys[indexes],
            {offset: column[indexes] for offset, column in self.changed.items()},
            {offset: column[indexes] for offset, column in self.added.items()},
            None if self.moved is None else self.moved[indexes],
        )


def first_versions(rows: Longs) -> Versions:
    """Return versions of rows that have their first keys; only the versions of the keys are valid."""
    return Versions(np.zeros(len(rows), np.int64), np.full(len(rows), NEVER, np.int64))


@dataclass(frozen=True, slots=True)
class RowChanges:
    """Changes with the versions of the row before and after each.

    :param existed: whether the row existed before the change.
    :param exists: whether the row exists after the change.
    """

    row: Longs
    commit: Longs
    position: Longs
    existed: Flags
    exists: Flags
    before: Versions
    after: Versions

    @staticmethod
    def of_inserts(rows: Longs, versions: Versions) -> RowChanges:
        """Return the inserts of rows, in a transaction of their own.

        >>> changes = RowChanges.of_inserts(np.array([7, 8]), first_versions(np.array([7, 8])))
        >>> changes.row.tolist(), changes.commit.tolist(), changes.existed.tolist(), changes.exists.tolist()
        ([7, 8], [0, 0], [False, False], [True, True])
        """
        nothing = np.zeros(len(rows), np.int64)
        none, all_ = np.zeros(len(rows), bool), np.ones(len(rows), bool)
        return RowChanges(rows, nothing, nothing, none, all_, versions, versions)

    def __len__(self) -> int:
        return len(self.row)

    def take(self, indexes: Longs) -> RowChanges:
        """Return some of the changes."""
        return RowChanges(
            self.row[indexes],
            self.commit[indexes],
            self.position[indexes],
            self.existed[indexes],
            self.exists[indexes],
            self.before.take(indexes),
            self.after.take(indexes),
        )


PartitionRule: TypeAlias = Callable[[GeneratePlan, Longs, Versions], Longs]
"""Returns the index of the partition of rows with some versions of the keys."""


class RowFollower:
    """The rows of a table, whose changes are passed in order.

    :param partitions: the rule of a partitioned table; None: no row gets a new hidden row id by an update.
    """

    def __init__(self, plan: GeneratePlan, partitions: PartitionRule | None = None) -> None:
        self._plan = plan
        self._partitions = partitions if plan.hidden_ids_change else None
        self._updated = [column.offset for column in plan.columns if may_change(plan, column)]
        self._adding = [column for column in plan.columns if column.adds]
        self._rows = plan.all_rows if plan.revisits_rows else 0
        self.forget()

    def forget(self) -> None:
        """Begin with no rows, as after TRUNCATE TABLE.

        >>> from types import SimpleNamespace
        >>> sizes = {"all_rows": 3, "revisits_rows": True, "key_changes": 0, "hidden_ids_change": False}
        >>> follower = RowFollower(SimpleNamespace(columns=(), **sizes))
        >>> follower._exists[1] = True
        >>> follower.existing()[0].tolist(), follower.forget(), follower.existing()[0].tolist()
        ([1], None, [])
        """
        self._exists = np.zeros(self._rows, bool)
        self._versions = Versions(
            inserted=np.zeros(self._rows, np.int64),
            keys=self._first_keys(),
            changed=_zeros(self._updated, self._rows),
            added=_zeros((column.offset for column in self._adding), self._rows),
            moved=None if self._partitions is None else np.zeros(self._rows, np.int64),
        )

    def _first_keys(self) -> Longs:
        """Return the versions of the keys of all rows; they take no memory if they never change.

        >>> from types import SimpleNamespace
        >>> plan = SimpleNamespace(columns=(), all_rows=3, revisits_rows=True, hidden_ids_change=False)
        >>> for plan.key_changes in (0.5, 0):
        ...     keys = RowFollower(plan)._first_keys()
        ...     print(keys.tolist(), "bytes from one to the next:", keys.strides[0])
        [-1, -1, -1] bytes from one to the next: 8
        [-1, -1, -1] bytes from one to the next: 0
        """
        if self._plan.key_changes:
            return np.full(self._rows, NEVER, np.int64)
        return np.broadcast_to(np.int64(NEVER), self._rows)

    def existing(self) -> tuple[Longs, Versions]:
        """Return the existing rows and their versions; only if changes revisit rows."""
        rows = np.flatnonzero(self._exists)
        return rows, self._versions.take(rows)

    def changes(self, events: GeneratedEvents, *, net: bool) -> RowChanges:
        """Return the changes of whole transactions, in the order of their execution.

        With ``net``, an insert and an update of a row in one transaction are one insert of the updated row.

        :param net: one change per row and transaction, from the row before the transaction to the row after
            it; rows that exist neither before nor after are omitted.
        """
        runs = RowRuns(events.row)
        changes = self._followed(events.take(runs.order), runs)
        if net:
            first, ends = _transaction_bounds(changes.commit, runs.ends)
            changes = RowChanges(
                changes.row, changes.commit, changes.position, changes.existed[first], changes.exists,
                changes.before.take(first), changes.after,
            )  # fmt: skip
            selected = np.flatnonzero(ends & (changes.existed | changes.exists))
        else:
            selected = np.arange(len(events))
        return changes.take(runs.in_first_order(selected))

    def _followed(self, events: GeneratedEvents, runs: RowRuns) -> RowChanges:
        """Return the changes in the order of the runs, and store the states after them."""
        earlier, existed_before = self._earlier(events.row)
        exists = _existence(events.deletes, runs, existed_before)
        existed = runs.previous(exists, existed_before)
        inserts, updates = exists & ~existed, exists & existed
        after = self._after(events, runs, inserts, updates, earlier)
        before = Versions(
            runs.previous(after.inserted, earlier.inserted),
            runs.previous(after.keys, earlier.keys),
            {at: runs.previous(column, earlier.changed[at]) for at, column in after.changed.items()},
            {at: runs.previous(column, earlier.added[at]) for at, column in after.added.items()},
            None
            if after.moved is None or earlier.moved is None
            else runs.previous(after.moved, earlier.moved),
        )
        if self._rows:
            self._store(events.row[runs.ends], exists[runs.ends], after.take(np.flatnonzero(runs.ends)))
        return RowChanges(events.row, events.commit, events.position, existed, exists, before, after)

    def _after(
        self, events: GeneratedEvents, runs: RowRuns, inserts: Flags, updates: Flags, earlier: Versions
    ) -> Versions:
        plan, event = self._plan, events.event
        keys, moved = earlier.keys, earlier.moved
        if plan.key_changes:
            moves = updates & happens(plan.key_changes, draw(plan.salt("key"), event))
            keys = runs.latest(moves, event, earlier.keys)
            if moved is not None:
                keys_before = runs.previous(keys, earlier.keys)
                leaves = self._leave_partition(events.row, moves, keys_before, keys)
                moved = runs.latest(inserts | leaves, event, moved)
        changed = {
            offset: runs.latest(
                inserts | (updates & _updates(plan, offset, events)), event, earlier.changed[offset]
            )
            for offset in self._updated
        }
        added = {
            column.offset: runs.sums(
                _added(plan, column, events, updates), inserts, earlier.added[column.offset]
            )
            for column in self._adding
        }
        return Versions(runs.latest(inserts, event, earlier.inserted), keys, changed, added, moved)

    def _leave_partition(self, rows: Longs, moves: Flags, before: Longs, after: Longs) -> Flags:
        """Return whether changes move their row to another partition.

        :param moves: whether each change gives its row new keys.
        :param before: the versions of the keys before each change.
        :param after: the versions of the keys after each change.
        """
        leaves = np.zeros(len(rows), bool)
        at = np.flatnonzero(moves)
        if self._partitions is not None and len(at):
            nothing = np.zeros(len(at), np.int64)
            old, new = (
                self._partitions(self._plan, rows[at], Versions(nothing, keys[at]))
                for keys in (before, after)
            )
            leaves[at] = old != new
        return leaves

    def _earlier(self, rows: Longs) -> tuple[Versions, Flags]:
        """Return the states of rows before the changes, and whether the rows exist."""
        if self._rows:
            return self._versions.take(rows), self._exists[rows]
        none = np.zeros(len(rows), np.int64)
        never = np.full(len(rows), NEVER, np.int64)
        unchanged = dict.fromkeys(self._updated, none)
        added = {column.offset: none for column in self._adding}
        moved = None if self._partitions is None else none
        return Versions(none, never, unchanged, added, moved), none.astype(bool)

    def _store(self, rows: Longs, exists: Flags, versions: Versions) -> None:
        self._exists[rows] = exists
        state = self._versions
        state.inserted[rows] = versions.inserted
        if self._plan.key_changes:
            state.keys[rows] = versions.keys
        for offset, column in versions.changed.items():
            state.changed[offset][rows] = column
        for offset, column in versions.added.items():
            state.added[offset][rows] = column
        if state.moved is not None and versions.moved is not None:
            state.moved[rows] = versions.moved


def _zeros(offsets: Iterable[int], rows: int) -> dict[int, Longs]:
    """Return a column of zeros for each offset; each is updated alone."""
    return {offset: np.zeros(rows, np.int64) for offset in offsets}


def _transaction_bounds(commits: Longs, ends: Flags) -> tuple[Longs, Flags]:
    """Return the index of the row's first change in the transaction of each change, and which are the last.

    >>> commits, ends = np.array([4, 4, 6, 6]), np.array([False, False, True, True])  # of two rows
    >>> first, last = _transaction_bounds(commits, ends)
    >>> first.tolist(), last.tolist()
    ([0, 0, 2, 3], [False, True, True, True])

    :param commits: of changes, those of each row together and in their order.
    :param ends: whether each change is the last one of its row.
    """
    last: Flags = ends | (np.append(commits[1:], NEVER) != commits)
    begins = np.concatenate([[True], last[:-1]])[: len(last)]
    first: Longs = np.maximum.accumulate(np.where(begins, np.arange(len(commits)), 0))
    return first, last


def _existence(deletes: Flags, runs: RowRuns, existed_before: Flags) -> Flags:
    """Return whether rows exist after their changes.

    A change that deletes inserts the row again if the previous one deleted it, so consecutive deletes
    alternate. After all other changes the row exists.

    >>> deletes = np.array([False, True, True, True])  # one row
    >>> _existence(deletes, RowRuns(np.zeros(4, np.int64)), np.zeros(4, bool)).tolist()
    [True, False, True, False]
    """
    if not deletes.any():
        return np.ones(len(deletes), bool)
    since = runs.distance(~deletes)
    starts_absent = since.from_start & ~existed_before
    exist: Flags = (since.steps + starts_absent) % 2 == 0
    return exist


def _updates(plan: GeneratePlan, offset: int, events: GeneratedEvents) -> Flags:
    """Return whether each change gives the column a new value if it is an update.

    An update changes one of the columns at least.

    >>> from types import SimpleNamespace
    >>> from ticdc_producer.scenario.generate.plan import salt
    >>> plan = SimpleNamespace(each=(), updates=(), updatable=(1, 2), salt=salt)
    >>> events = SimpleNamespace(event=np.arange(8))
    >>> [_updates(plan, offset, events).astype(int).tolist() for offset in plan.updatable]
    [[1, 0, 1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 0, 1, 0]]
    """
    if plan.each:
        named = np.array([offset in step.updates for step in plan.each])
        positions = np.minimum(events.position, len(named) - 1)  # first inserts may have higher positions
        updated: Flags = named[positions]
        return updated
    if plan.updates:
        return np.full(len(events), offset in plan.updates)
    also = happens(_ALSO, draw(plan.salt(f"{offset}/updated"), events.event))
    if offset not in plan.updatable:  # not in all versions; an update must change a column that is
        return also
    first = uniform(draw(plan.salt("updated"), events.event), len(plan.updatable))
    is_first: Flags = first == np.uint64(plan.updatable.index(offset))
    return is_first | also


def _added(plan: GeneratePlan, column: ColumnPlan, events: GeneratedEvents, updates: Flags) -> Longs:
    """Return the amount that each change adds to the column, in units of its last digit."""
    amounts = np.zeros(len(events), np.int64)
    adding = np.flatnonzero(updates & _updates(plan, column.offset, events))
    if len(adding):
        amounts[adding] = added_units(plan, column, events.take(adding))
    return amounts


def added_units(plan: GeneratePlan, column: ColumnPlan, updates: GeneratedEvents) -> Longs:
    """Return the amount that each update adds, in units of the column's last digit.

    Amounts are rounded half away from zero.

    The expression can use ``row``; ``transaction``, the number of the commit; ``place``, the position of the
    change in it; and ``draw``, a hash that all changes of a transaction share, in all tables. NULL adds
    nothing.

    :raises ScenarioError: for a condition that is not supported.
    """
    amounts = evaluated(
        parsed(column.adds),
        {
            "row": updates.row,
            "transaction": updates.commit,
            "place": updates.position,
            "draw": draw(plan.shared_salt("added"), updates.commit).view(np.int64),
        },
    ).at(added_scale(column))
    return np.where(amounts.null, 0, amounts.units).astype(np.int64)


def added_scale(column: ColumnPlan) -> int:
    """Return the number of fraction digits of sums."""
    if column.column.type in INTEGERS:
        return 0
    return min(max(column.column.decimal, 0), DECIMAL_DIGITS)
