"""Batching groups: the rows of a partition whose order TiCDC's batcher preserves.

They share table partition and dispatch key (``Events.batch_value``). Rows of one group are checked here for
their order, their transactions and their repetitions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ticdc_producer.model.column_functions import Flags, Numbers, highest_before, sorted_groups, starts_of
from ticdc_producer.model.fingerprint import combined, text_hashes
from ticdc_producer.verifier.events import INDEX_BITS, NOTHING, EventColumns, Int8Column, Int64Column
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_groups import late_in_groups


@dataclass(frozen=True, kw_only=True)
class GroupedRows(EventColumns):
    """Rows with what decides their batching group and their order in it; columns as in ``Events``."""

    table_id: Int64Column
    op: Int8Column
    rule: Int8Column
    batch_value: Int64Column

    @cached_property
    def group(self) -> Numbers:
        """A hash of the batching group of each row."""
        texts = (text_hashes(getattr(self, name)) for name in ("topic", "schema", "table"))
        return combined(*texts, self.partition, self.table_id, self.batch_value).view(np.int64)

    def to_groups(self, selection: Flags) -> pa.RecordBatch:
        """Return some of the rows with the hash of their group (:data:`GROUPED`)."""
        return self.take(selection).to_batch().append_column("batch_group", pa.array(self.group[selection]))

    @classmethod
    def of_groups(cls, rows: pa.RecordBatch) -> GroupedRows:
        """Return the rows of a batch, the inverse of :meth:`to_groups`."""
        return cls.of(rows.select(cls.arrow_schema().names))


GROUPED = GroupedRows.arrow_schema().append(pa.field("batch_group", pa.int64()))
"""Rows with the hash of their batching group."""


@dataclass(frozen=True)
class StepRuns:
    """Runs that follow a replay: rows with consecutive steps, all first deliveries or all duplicates.

    A row's step is the ordinal of its commit-ts in its batching group. Rows of one commit-ts may therefore
    swap, and a duplicate has the step of its original. A run of duplicates within one message is a retry of a
    producer, which can occur anywhere, and does not count.

    :param step, commit_ts, position: of the first row.
    :param reached: the highest step of the group before the run.
    :param last_step_before, last_position_before: of the replay before the run.
    """

    topic: Numbers
    topics: list[str]
    partition: Numbers
    first_delivery: Flags
    step: Numbers
    commit_ts: Numbers
    position: Numbers
    reached: Numbers
    last_step_before: Numbers
    last_position_before: Numbers


_NONE = np.zeros(0, np.int64)
_NO_RUNS = StepRuns(_NONE, [], _NONE, np.zeros(0, bool), *(_NONE for _ in range(6)))


@dataclass(frozen=True)
class BatchGroups:
    """Rows in whole batching groups.

    :param events: rows, duplicates included.
    :param late_in_key: the row is known to be older than an earlier one with its row key.
    """

    events: GroupedRows
    first_delivery: Flags
    late_in_key: Flags
    options: VerifyOptions

    @cached_property
    def rows(self) -> GroupedRows:
        """First deliveries."""
        return self.events.take(self.first_delivery)

    @cached_property
    def late(self) -> tuple[Flags, Numbers, Numbers]:
        """First deliveries that are older than an earlier one of their group, under a rule by value, with
        commit-ts and position of the newest earlier one.

        Under other rules INV-ORDER-TABLE covers the group.
        """
        rows = self.rows
        late, ts, position = late_in_groups(rows.commit_ts, rows.position, _group_columns(rows))
        by_value = rows.batch_value != NOTHING
        return late & by_value & ~self.late_in_key[self.first_delivery], ts, position

    @cached_property
    def transactions(self) -> tuple[GroupedRows, Numbers]:
        """First deliveries by transaction, in their order, and where each transaction starts."""
        rows = self.rows
        order, starts = sorted_groups((*_group_columns(rows), rows.commit_ts), rows.position)
        return rows.take(order), np.flatnonzero(starts)

    @cached_property
    def runs_after_replay(self) -> StepRuns:
        """The runs that follow a replay in their group."""
        return _runs_after_replay(*_steps(self.events, self.first_delivery))


_SLOTS = 1 << 20


class SuspectedGroups:
    """Batching groups that may violate an invariant.

    They are marked in a table of fixed size by their hash, so a group can be among them by chance. It is then
    checked without need; if there are many more groups than slots, all are.
    """

    def __init__(self) -> None:
        self._marked = np.zeros(_SLOTS, bool)

    def __bool__(self) -> bool:
        return bool(self._marked.any())

    def __getstate__(self) -> npt.NDArray[np.uint8]:
        return np.packbits(self._marked)

    def __setstate__(self, packed: npt.NDArray[np.uint8]) -> None:
        self._marked = np.unpackbits(packed).view(bool)

    def add(self, rows: GroupedRows) -> None:
        """Add the groups of some rows."""
        self._marked[rows.group % _SLOTS] = True

    def merge(self, others: Iterable[SuspectedGroups]) -> None:
        """Add other groups."""
        for other in filter(None, others):
            self._marked |= other._marked

    def contain(self, rows: GroupedRows) -> Flags:
        """Return which rows are in these groups."""
        flags: Flags = self._marked[rows.group % _SLOTS]
        return flags


DUPLICATE_FLAGS = pa.schema(
    [("batch_group", pa.int64()), ("batch_position", pa.int64()), ("batch_mark", pa.int8())]
)
"""Flags that are known by the row key: the row is a copy, or late. Group and position identify the row."""
_UNFLAGGED, _DUPLICATE, _LATE_IN_KEY = 0, 1, 2


def duplicate_flags(groups: BatchGroups) -> pa.RecordBatch:
    """Return the rows that are duplicates, or late in their row key (:data:`DUPLICATE_FLAGS`)."""
    flags = np.where(groups.first_delivery, _UNFLAGGED, _DUPLICATE) + _LATE_IN_KEY * groups.late_in_key
    flagged = np.flatnonzero(flags)
    rows = groups.events.take(flagged)
    columns = (rows.group, rows.position, flags[flagged].astype(np.int8))
    return pa.record_batch([pa.array(column) for column in columns], schema=DUPLICATE_FLAGS)


def with_duplicate_flags(rows: GroupedRows, flags: pa.RecordBatch, options: VerifyOptions) -> BatchGroups:
    """Return rows in whole groups with their flags.

    :param flags: :data:`DUPLICATE_FLAGS` of these groups. A flag lacks its row if the group is not suspected.
    """
    flag = _flags_of_rows(rows.group, rows.position, flags)
    return BatchGroups(rows, flag & _DUPLICATE == 0, flag & _LATE_IN_KEY != 0, options)


def _flags_of_rows(groups: Numbers, positions: Numbers, flags: pa.RecordBatch) -> npt.NDArray[np.int8]:
    """Return the flags of rows of whole groups; 0 for a row without flag.

    A file of messages may have a position several times: the flags of it are those of its last rows.

    >>> codes = pa.array([_DUPLICATE], pa.int8())
    >>> flags = pa.record_batch({"batch_group": [8], "batch_position": [5], "batch_mark": codes})
    >>> (_flags_of_rows(np.array([8, 8, 8]), np.array([4, 5, 6]), flags) & _DUPLICATE != 0).tolist()
    [False, True, False]
    >>> twice = pa.concat_batches([flags, flags])
    >>> (_flags_of_rows(np.array([8, 8, 8]), np.array([5, 5, 5]), twice) & _DUPLICATE != 0).tolist()
    [False, True, True]
    """
    group = np.append(groups, flags.column("batch_group").to_numpy())
    position = np.append(positions, flags.column("batch_position").to_numpy())
    flag = np.append(np.full(len(groups), _UNFLAGGED, np.int8), flags.column("batch_mark").to_numpy())
    order, starts = sorted_groups((group, position), flag)  # the flags of a position follow its rows
    number = np.cumsum(starts) - 1
    of_flag = np.flatnonzero(order >= len(groups))
    row = of_flag - np.bincount(number[of_flag])[number[of_flag]]
    known = (row >= 0) & (number[row] == number[of_flag])
    of_row = np.zeros(len(groups), np.int8)
    of_row[order[row[known]]] = flag[order[of_flag[known]]]
    return of_row


def _group_columns(rows: GroupedRows) -> tuple[Numbers, ...]:
    return (rows.topics[0], rows.partition, rows.tables[0], rows.table_id, rows.batch_value)


def _starts_of_runs(step: Numbers, first_delivery: Flags, starts: Flags) -> Flags:
    """Return which rows begin a run; duplicates are one run while their step stays or grows by one.

    >>> duplicates = np.array([0, 0, 1, 1, 1, 0], bool)
    >>> _starts_of_runs(np.array([0, 2, 0, 1, 3, 4]), ~duplicates, np.arange(6) == 0).astype(int).tolist()
    [1, 0, 1, 0, 1, 1]

    :param starts: which rows begin a batching group.
    """
    before_first, before_step = np.roll(first_delivery, 1), np.roll(step, 1)
    in_sequence = first_delivery | (step == before_step) | (step == before_step + 1)
    begins: Flags = starts | (first_delivery != before_first) | ~in_sequence
    return begins


def _ordinals(commit_ts: Numbers, columns: tuple[Numbers, ...]) -> tuple[Numbers, Numbers]:
    """Return the number of each row's group, from 1, and the ordinal of its commit-ts in the group, from 0.

    >>> group, step = _ordinals(np.array([50, 70, 60, 60, 60]), (np.array([8, 8, 8, 8, 9]),))
    >>> group.tolist(), step.tolist()
    ([1, 1, 1, 1, 2], [0, 2, 1, 1, 0])

    :param columns: the columns that the rows of a group share.
    """
    by_ts, starts = sorted_groups(columns, commit_ts)
    group, step = np.empty((2, len(commit_ts)), np.int64)
    group[by_ts] = np.cumsum(starts)
    distinct = np.cumsum(starts | starts_of(commit_ts[by_ts]))
    step[by_ts] = distinct - distinct[starts][group[by_ts] - 1]
    return group, step


def _runs_after_replay(rows: GroupedRows, group: Numbers, step: Numbers, first: Flags) -> StepRuns:
    """Return the runs that follow a replay in their group.

    The steps ``0 1 2 1 2 3`` of one group, the second ``1 2`` duplicates, are three runs: ``0 1 2``, the
    replay ``1 2``, and ``3``, which follows the replay. Had the replay ended after ``1``,
    ``last_step_before`` would be 1: the replay is incomplete.

    >>> columns = {"commit_ts": [10, 20, 30, 20, 30, 40], "position": np.arange(6) << INDEX_BITS}
    >>> first = np.array([1, 1, 1, 0, 0, 1], bool)
    >>> runs = _runs_after_replay(*_steps(GroupedRows.with_columns(6, **columns), first))
    >>> runs.step.tolist(), runs.reached.tolist(), runs.last_step_before.tolist()
    ([3], [2], [2])

    :param rows, group, step, first: as :func:`_steps` returns them.
    """
    if not len(rows):
        return _NO_RUNS
    starts = starts_of(group)
    at = np.flatnonzero(_starts_of_runs(step, first, starts))
    end = np.append(at[1:], len(rows)) - 1
    highest = np.maximum.reduceat(step, at)
    reached, _ = highest_before(highest, starts[at])
    new_message = starts_of(rows.position >> INDEX_BITS).astype(np.int64)
    several_messages = np.add.reduceat(new_message, at) - new_message[at] > 0
    # Duplicates within one message are retries of a producer, not a replay.
    lasting = np.flatnonzero(first[at] | several_messages)
    previous = np.roll(lasting, 1)
    replayed = ~first[at][previous] & ~starts_of(group[at][lasting])
    runs, replays = lasting[replayed], previous[replayed]
    start = at[runs]
    return StepRuns(
        topic=rows.topics[0][start],
        topics=rows.topics[1],
        partition=rows.partition[start],
        first_delivery=first[start],
        step=step[start],
        commit_ts=rows.commit_ts[start],
        position=rows.position[start],
        reached=reached[runs],
        last_step_before=step[end[replays]],
        last_position_before=rows.position[end[replays]],
    )


def _steps(events: GroupedRows, first_delivery: Flags) -> tuple[GroupedRows, Numbers, Numbers, Flags]:
    """Return the rows of the groups with duplicates, by group and position, each with its group and step.

    >>> events = GroupedRows.with_columns(3, commit_ts=[20, 10, 20], position=[1, 0, 2])
    >>> rows, _, step, first = _steps(events, np.array([True, True, False]))
    >>> rows.position.tolist(), step.tolist(), first.tolist()
    ([0, 1, 2], [0, 1, 1], [True, True, False])
    """
    group, step = _ordinals(events.commit_ts, _group_columns(events))
    repeated = np.zeros(int(group.max(initial=0)) + 1, bool)
    repeated[group[~first_delivery]] = True
    rows = np.flatnonzero(repeated[group])
    rows = rows[np.lexsort((events.position[rows], group[rows]))]
    return events.take(rows), group[rows], step[rows], first_delivery[rows]
