"""Compares the changes of each row key in two streams: their number, order, time, operation and values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from ticdc_producer.engine.dataset import Sides
from ticdc_producer.model.column_functions import Flags, Numbers, highest_before, sorted_groups, starts_of
from ticdc_producer.model.event import Op
from ticdc_producer.model.fingerprint import combined
from ticdc_producer.verifier.events import EventID, offset_and_index
from ticdc_producer.verifier.history.history_rows import HistoryRows, TableName
from ticdc_producer.verifier.passes.key_groups import op_rank

A, B = "a", "b"
"""The names of the two sides."""


class DifferenceKind(StrEnum):
    """The first difference of a row key."""

    ONLY_A = "only in A"
    ONLY_B = "only in B"
    COMMIT_TS = "commit-ts"
    OPERATION = "operation"
    VALUES = "values"
    ORDER = "order"


_KINDS = tuple(DifferenceKind)
_ALONE = {DifferenceKind.ONLY_A: 0, DifferenceKind.ONLY_B: 1}
"""The only side that has a change."""
_Position: TypeAlias = EventID | None


@dataclass(frozen=True, order=True)
class FirstDifference:
    """The first difference of a row key.

    :param time: its commit-ts, in the precision that both sides carry.
    :param key: 64 bits of the row key.
    :param number: how many changes of the key are equal before it.
    :param deletes: whether the change deletes the row, also that of an old key which an update leaves.
    :param a, b: the events; None: the side has no such change.
    """

    time: int
    key: int
    kind: DifferenceKind = field(compare=False)
    number: int = field(compare=False)
    deletes: bool = field(compare=False)
    a: _Position = field(compare=False)
    b: _Position = field(compare=False)


@dataclass
class KeyCounts:
    """The keys of a table in both streams.

    :param changes_a, changes_b: changes of rows, each once.
    :param keyed: whether the keys of rows are known; otherwise equal changes count as a key.
    :param examples: the first differences, at most ``limit``.
    """

    limit: int
    equal: int = 0
    different: int = 0
    only_a: int = 0
    only_b: int = 0
    changes_a: int = 0
    changes_b: int = 0
    keyed: bool = True
    examples: list[FirstDifference] = field(default_factory=list)

    def merge(self, other: KeyCounts) -> None:
        """Add other keys of the table."""
        for name in ("equal", "different", "only_a", "only_b", "changes_a", "changes_b"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.keyed &= other.keyed
        self.examples = sorted([*self.examples, *other.examples])[: self.limit]


@dataclass(frozen=True)
class _Pairs:
    """The changes of both sides, by key; those of equal number within key and side are a pair.

    :param turn: the number of each change.
    :param first, other: of each pair the change of A and that of B; the same one if there is no other.
    :param kind: of each pair the number of its difference; -1 if it is equal.
    """

    rows: HistoryRows
    side: Numbers
    key: Numbers
    turn: Numbers
    first: Numbers
    other: Numbers
    kind: Numbers


@dataclass(frozen=True)
class HistoryComparison:
    """The comparison of whole groups of changes of equal row key.

    :param in_order_of_time: whether all rows have a commit-ts on both sides.
    :param exact: by side, whether its commit-ts order the changes of a row.
    :param ordered: by side, whether positions order the changes of a partition.
    :param limit: number of examples per table.
    """

    in_order_of_time: bool
    exact: tuple[bool, bool]
    ordered: tuple[bool, bool]
    limit: int

    def __call__(self, groups: Iterator[Sides]) -> dict[TableName, KeyCounts]:
        """Return the counts of each table."""
        counts: dict[TableName, KeyCounts] = {}
        for sides in groups:
            rows = [HistoryRows.of(sides[name]) for name in (A, B)]
            side = np.repeat([0, 1], [*map(len, rows)])
            if len(side):
                merge_counts(counts, self._counts(HistoryRows.joined(rows), side))
        return counts

    def _counts(self, rows: HistoryRows, side: Numbers) -> dict[TableName, KeyCounts]:
        """Return the counts of each table.

        >>> comparison = HistoryComparison(True, exact=(True, True), ordered=(True, True), limit=1)
        >>> rows = HistoryRows.with_columns(3, table="t", op=Op.INSERT, key=[5, 6, 6], time=4, new=8)
        >>> counts = comparison._counts(rows, np.array([0, 0, 1]))["", "t"]
        >>> counts.equal, counts.only_a, counts.only_b
        (1, 1, 0)
        """
        rows, side, key, late = self._sequences(rows, side)
        turn = _numbers_in_groups(key, side)
        order, starts = sorted_groups((key, turn), side)
        rows, side, key, late, turn = rows.take(order), side[order], key[order], late[order], turn[order]
        first = np.flatnonzero(starts)  # of each pair of changes with equal numbers
        paired = np.diff(first, append=len(key)) == 2
        other = np.where(paired, np.minimum(first + 1, len(key) - 1), first)
        kind = _kinds(rows, side, late, first, other)
        return self._by_table(_Pairs(rows, side, key, turn, first, other, kind))

    def _sequences(self, rows: HistoryRows, side: Numbers) -> tuple[HistoryRows, Numbers, Numbers, Flags]:
        """Return the changes by key and side in their order, each once, with the number of their key.

        >>> comparison = HistoryComparison(True, exact=(True, True), ordered=(True, True), limit=1)
        >>> columns = {"op": Op.INSERT, "time": [6, 5, 5, 5], "new": [8, 7, 7, 7], "position": [2, 0, 1, 0]}
        >>> rows = HistoryRows.with_columns(4, **columns)
        >>> rows, side, *_ = comparison._sequences(rows, np.array([0, 0, 0, 1]))
        >>> rows.time.tolist(), rows.new.tolist(), side.tolist()
        ([5, 6, 5], [7, 8, 7], [0, 0, 1])
        """
        key = _codes(rows.key, rows.key_check)
        moment = rows.time if self.in_order_of_time else np.zeros_like(rows.time)
        content = combined(rows.op, rows.old, rows.new, rows.time).view(np.int64)
        spot = _codes(rows.topics[0], rows.partition)
        unordered = self._unordered(key, moment, spot, side)
        exact = np.array(self.exact)[side]
        by_content = np.where(unordered, content, np.where(exact, rows.commit_ts, 0))
        rank = np.where(exact & ~unordered, op_rank(rows.op), 0)
        order = np.lexsort((rows.position, rank, by_content, moment, side, key))
        distinct = order[_first_of_each(key[order], side[order], moment[order], content[order])]
        late = self._late(rows, side, key, spot, distinct)
        rows, side, key, moment = rows.take(distinct), side[distinct], key[distinct], moment[distinct]
        if not self.in_order_of_time:
            return rows, side, key, late
        return _whole_updates(rows, side, key, moment, unordered[distinct], late)

    def _unordered(self, key: Numbers, moment: Numbers, spot: Numbers, side: Numbers) -> Flags:
        """Return the changes of one key and time that no position orders: they are in several partitions.

        >>> comparison = HistoryComparison(True, exact=(False, True), ordered=(True, True), limit=1)
        >>> key, spot, zeros = np.array([1, 1, 2]), np.array([0, 1, 1]), np.zeros(3, np.int64)
        >>> comparison._unordered(key, zeros, spot, zeros).tolist()
        [True, True, False]
        """
        slot = _codes(key, moment)
        flags = np.zeros(int(slot.max()) + 1, bool)
        for number in (0, 1):
            if self.exact[number]:
                continue
            own = np.flatnonzero(side == number)
            order = own[np.lexsort((spot[own], slot[own]))]
            same_slot = slot[order][1:] == slot[order][:-1]
            flags[slot[order][1:][same_slot & (spot[order][1:] != spot[order][:-1])]] = True
            if not self.ordered[number]:
                flags[slot[order][1:][same_slot]] = True
        return flags[slot]

    def _late(
        self, rows: HistoryRows, side: Numbers, key: Numbers, spot: Numbers, distinct: Numbers
    ) -> Flags:
        """Return which changes come after a newer one of their key in their partition."""
        late = np.zeros(len(rows), bool)
        timed = rows.keyed[distinct] & (rows.commit_ts[distinct] > 0) & np.array(self.ordered)[side[distinct]]
        own = distinct[timed]
        order, starts = sorted_groups((side[own], key[own], spot[own]), rows.position[own])
        commit_ts = rows.commit_ts[own[order]]
        late[own[order]] = commit_ts < highest_before(commit_ts, starts)[0]
        return late[distinct]

    def _by_table(self, pairs: _Pairs) -> dict[TableName, KeyCounts]:
        """Return the counts of each table.

        >>> rows, side = HistoryRows.with_columns(3, table="t", key=[5, 6, 6]), np.array([0, 0, 1])
        >>> pairs = _Pairs(rows, side, rows.key, np.zeros(3, int), *np.array([[0, 1], [0, 2], [0, -1]]))
        >>> HistoryComparison(True, (True, True), (True, True), limit=0)._by_table(pairs)["", "t"].only_a
        1
        """
        rows = pairs.rows
        difference = _first_differences(pairs.key[pairs.first], pairs.kind)
        row_begins = np.flatnonzero(starts_of(pairs.key))
        in_b = np.add.reduceat(pairs.side, row_begins)
        in_a = np.diff(row_begins, append=len(rows)) - in_b
        differs = difference < len(pairs.first)
        both = (in_a > 0) & (in_b > 0)
        codes, tables = rows.tables
        of_key, counts = codes[row_begins], dict[TableName, KeyCounts]()
        for code, name in enumerate(tables):
            own = of_key == code
            if own.any():
                counts[name] = KeyCounts(
                    limit=self.limit,
                    equal=int((own & both & ~differs).sum()),
                    different=int((own & both & differs).sum()),
                    only_a=int((own & (in_b == 0)).sum()),
                    only_b=int((own & (in_a == 0)).sum()),
                    changes_a=int(in_a[own].sum()),
                    changes_b=int(in_b[own].sum()),
                    keyed=bool(rows.keyed[row_begins[own]].all()),
                    examples=self._examples(pairs, difference[own & differs]),
                )
        return counts

    def _examples(self, pairs: _Pairs, numbers: Numbers) -> list[FirstDifference]:
        """Return the earliest ones of some pairs.

        :param numbers: those of the pairs.
        """
        rows, first, other = pairs.rows, pairs.first, pairs.other
        time = np.minimum(rows.time[first[numbers]], rows.time[other[numbers]])
        earliest = numbers[np.lexsort((rows.key[first[numbers]], time))][: self.limit]
        examples = []
        for pair in earliest.tolist():
            of_kind = _KINDS[pairs.kind[pair]]
            events = {int(pairs.side[row]): int(row) for row in (other[pair], first[pair])}
            if of_kind in _ALONE:
                events = {number: row for number, row in events.items() if _ALONE[of_kind] == number}
            some = events[min(events)]
            examples.append(
                FirstDifference(
                    time=int(min(rows.time[first[pair]], rows.time[other[pair]])),
                    key=int(rows.key[some]),
                    kind=of_kind,
                    number=int(pairs.turn[some]),
                    deletes=bool(rows.op[some] == Op.DELETE),
                    a=_event(rows, events[0]) if 0 in events else None,
                    b=_event(rows, events[1]) if 1 in events else None,
                )
            )
        return examples


def merge_counts(counts: dict[TableName, KeyCounts], others: Mapping[TableName, KeyCounts]) -> None:
    """Add the keys of other groups to the counts of each table."""
    for name, other in others.items():
        if name in counts:
            counts[name].merge(other)
        else:
            counts[name] = other


def merged_counts(parts: Iterable[Mapping[TableName, KeyCounts]]) -> dict[TableName, KeyCounts]:
    """Return the counts of all groups."""
    counts: dict[TableName, KeyCounts] = {}
    for part in parts:
        merge_counts(counts, part)
    return counts


def _event(rows: HistoryRows, row: int) -> EventID:
    return rows.topic[row].as_py(), int(rows.partition[row]), *offset_and_index(int(rows.position[row]))


def _codes(*columns: Numbers) -> Numbers:
    """Return a number for each row that rows with equal columns share.

    >>> _codes(np.array([5, 3, 5]), np.array([1, 1, 1])).tolist()
    [1, 0, 1]
    """
    order, starts = sorted_groups(columns)
    codes = np.empty(len(order), np.int64)
    codes[order] = np.cumsum(starts) - 1
    return codes


def _first_of_each(*keys: Numbers) -> Flags:
    """Return which rows are the first ones with their keys.

    >>> _first_of_each(np.array([7, 8, 7])).tolist()
    [True, True, False]
    """
    order, starts = sorted_groups(keys)
    first = np.empty(len(order), bool)
    first[order] = starts
    return first


def _numbers_in_groups(*keys: Numbers) -> Numbers:
    """Return the number of each row in its group; the rows of a group are consecutive.

    >>> _numbers_in_groups(np.array([7, 7, 9])).tolist()
    [0, 1, 0]
    """
    starts = starts_of(*keys)
    every = np.arange(len(starts))
    return every - np.maximum.accumulate(np.where(starts, every, 0))


def _whole_updates(
    rows: HistoryRows, side: Numbers, key: Numbers, moment: Numbers, unordered: Flags, late: Flags
) -> tuple[HistoryRows, Numbers, Numbers, Flags]:
    """Make one update of a delete and the insert of the same row that follows it at the same commit-ts.

    TiCDC sends an update of a unique column so, unless ``output-raw-change-event`` is set.

    >>> zeros, no = np.zeros(3, np.int64), np.zeros(3, bool)
    >>> columns = {"op": [Op.DELETE, Op.INSERT, Op.DELETE], "old": [7, 0, 8], "new": [0, 8, 0]}
    >>> rows = HistoryRows.with_columns(3, keyed=True, **columns)
    >>> joined, *_ = _whole_updates(rows, zeros, zeros, np.array([4, 4, 5]), no, no)
    >>> [Op(op).label for op in joined.op], joined.old.tolist(), joined.new.tolist()
    (['update', 'delete'], [7, 8], [8, 0])
    """
    together = ~starts_of(key, side, moment) & ~unordered & rows.keyed
    inserts = together & (rows.op != Op.DELETE)
    joined = np.flatnonzero(inserts[1:] & (rows.op[:-1] == Op.DELETE)) + 1
    if not len(joined):
        return rows, side, key, late
    op, old = rows.op.copy(), rows.old.copy()
    op[joined], old[joined] = int(Op.UPDATE), rows.old[joined - 1]
    is_change = np.ones(len(rows), bool)
    is_change[joined - 1] = False
    columns = {name: getattr(rows, name) for name in rows.arrow_schema().names} | {"op": op, "old": old}
    return HistoryRows(**columns).take(is_change), side[is_change], key[is_change], late[is_change]


def _kinds(rows: HistoryRows, side: Numbers, late: Flags, first: Numbers, other: Numbers) -> Numbers:
    """Return the number of the difference of each pair in ``DifferenceKind``; -1 for equal changes.

    A change with other content at another time counts as missing on the other side.

    >>> rows = HistoryRows.with_columns(4, time=[4, 4, 5, 6], new=[7, 7, 8, 8])
    >>> first, other = np.array([0, 0, 2, 2]), np.array([1, 2, 3, 2])
    >>> kinds = _kinds(rows, np.array([0, 1, 1, 1]), np.zeros(4, bool), first, other)
    >>> [str(_KINDS[kind]) if kind >= 0 else "" for kind in kinds]
    ['', 'only in A', 'commit-ts', 'only in B']
    """
    operation, time = rows.op[first] != rows.op[other], rows.time[first] != rows.time[other]
    values = _differ(rows.new[first], rows.new[other]) | _differ(rows.old[first], rows.old[other])
    alone = first == other
    shifted = time & (operation | values) & (rows.time[first] > 0) & (rows.time[other] > 0)
    a_is_earlier = rows.time[first] < rows.time[other]
    pairs = {
        DifferenceKind.ORDER: late[first] != late[other],
        DifferenceKind.COMMIT_TS: time,
        DifferenceKind.VALUES: values,
        DifferenceKind.OPERATION: operation,
        DifferenceKind.ONLY_A: np.where(alone, side[first] == 0, shifted & a_is_earlier),
        DifferenceKind.ONLY_B: np.where(alone, side[first] == 1, shifted & ~a_is_earlier),
    }
    kind = np.full(len(first), -1)
    for name, rows_of_kind in pairs.items():
        kind[rows_of_kind] = _KINDS.index(name)
    return kind


def _first_differences(key: Numbers, kind: Numbers) -> Numbers:
    """Return the number of the first different pair of each key; the number of all pairs if none differs.

    >>> _first_differences(np.array([5, 5, 5, 6]), np.array([-1, 3, 2, -1])).tolist()
    [1, 4]

    :param key: that of each pair; the pairs of a key follow each other.
    :param kind: see :class:`_Pairs`.
    """
    different = np.where(kind < 0, len(kind), np.arange(len(kind)))
    return np.minimum.reduceat(different, np.flatnonzero(starts_of(key)))


def _differ(first: Numbers, other: Numbers) -> Flags:
    """Return which fingerprints differ; 0 is that of an unknown image."""
    flags: Flags = (first != other) & (first != 0) & (other != 0)
    return flags
