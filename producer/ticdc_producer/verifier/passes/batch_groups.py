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

from ticdc_producer.verifier.events import INDEX_BITS, NOTHING, EventColumns, Int8Column, Int64Column
from ticdc_producer.verifier.fingerprint import Flags, Numbers, combined, text_hashes
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_groups import highest_before, late_in_groups, starts_of


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

    def to_groups(self, chosen: Flags) -> pa.RecordBatch:
        """Return some of the rows with the hash of their group (:data:`GROUPED`)."""
        return self.take(chosen).to_batch().append_column("batch_group", pa.array(self.group[chosen]))

    @classmethod
    def of_groups(cls, rows: pa.RecordBatch) -> GroupedRows:
        """Return the rows of a batch, the inverse of :meth:`to_groups`."""
        return cls.of(rows.select(cls.arrow_schema().names))


GROUPED = GroupedRows.arrow_schema().append(pa.field("batch_group", pa.int64()))
"""Rows with the hash of their batching group."""


@dataclass(frozen=True)
class Runs:
    """Runs that follow a replay: rows with consecutive steps, all first deliveries or all copies.

    A row's step is the ordinal of its commit-ts in its batching group. Rows of one commit-ts may therefore
    swap, and a copy has the step of its original. A run of copies within one message is a retry of a
    producer, which can occur anywhere, and is left out.

    :param step: of the first row; ``commit_ts`` and ``position`` likewise.
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
_NO_RUNS = Runs(_NONE, [], _NONE, np.zeros(0, bool), *(_NONE for _ in range(6)))


@dataclass(frozen=True)
class BatchGroups:
    """Rows in whole batching groups.

    :param events: rows, copies included.
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
        late, ts, position = late_in_groups(self.rows, _group_columns(self.rows))
        by_value = self.rows.batch_value != NOTHING
        return late & by_value & ~self.late_in_key[self.first_delivery], ts, position

    @cached_property
    def transactions(self) -> tuple[GroupedRows, Numbers]:
        """First deliveries by transaction, in their order, and where each transaction starts."""
        rows = self.rows
        keys = (*_group_columns(rows), rows.commit_ts)
        order = np.lexsort((rows.position, *reversed(keys)))
        return rows.take(order), np.flatnonzero(starts_of(*(key[order] for key in keys)))

    @cached_property
    def runs_after_replay(self) -> Runs:
        """The runs that follow a replay in their group."""
        rows, group, step, first = _steps(self.events, self.first_delivery)
        if not len(rows):
            return _NO_RUNS
        starts = starts_of(group)
        before_first, before_step = np.roll(first, 1), np.roll(step, 1)
        follows = (first == before_first) & (first | (step == before_step) | (step == before_step + 1))
        at = np.flatnonzero(starts | ~follows)
        end = np.append(at[1:], len(rows)) - 1
        highest = np.maximum.reduceat(step, at)
        reached, _ = highest_before(highest, starts[at])
        new_message = starts_of(rows.position >> INDEX_BITS).astype(np.int64)
        several_messages = np.add.reduceat(new_message, at) - new_message[at] > 0
        lasting = np.flatnonzero(first[at] | several_messages)
        previous = np.roll(lasting, 1)
        replayed = ~first[at][previous] & ~starts_of(group[at][lasting])
        runs, replays = lasting[replayed], previous[replayed]
        start = at[runs]
        return Runs(
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


_SLOTS = 1 << 20


class SuspectedGroups:
    """Batching groups that may violate an invariant.

    They are marked in a table of fixed size by their hash, so a group can be among them by chance. Such one
    is checked without need; if there are many more groups than slots, all are.
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
        for other in others:
            self._marked |= other._marked

    def contain(self, rows: GroupedRows) -> Flags:
        """Which rows are in these groups."""
        found: Flags = self._marked[rows.group % _SLOTS]
        return found


MARKS = pa.schema([("batch_group", pa.int64()), ("batch_position", pa.int64()), ("batch_mark", pa.int8())])
"""What is known of a row by its row key; group and position identify the row."""
_UNMARKED, _COPY, _LATE_IN_KEY = 0, 1, 2


def marks(groups: BatchGroups) -> pa.RecordBatch:
    """The rows that are copies, or late in their row key (:data:`MARKS`)."""
    mark = np.where(groups.first_delivery, _UNMARKED, _COPY) + _LATE_IN_KEY * groups.late_in_key
    marked = np.flatnonzero(mark)
    rows = groups.events.take(marked)
    columns = (rows.group, rows.position, mark[marked].astype(np.int8))
    return pa.record_batch([pa.array(column) for column in columns], schema=MARKS)


def with_marks(rows: GroupedRows, marks_of: pa.RecordBatch, options: VerifyOptions) -> BatchGroups:
    """Return rows in whole groups with their marks.

    :param marks_of: :data:`MARKS` of these groups. A mark lacks its row if the group is not suspected.
    """
    group = np.append(rows.group, marks_of.column("batch_group").to_numpy())
    position = np.append(rows.position, marks_of.column("batch_position").to_numpy())
    mark = np.append(np.full(len(rows), _UNMARKED, np.int8), marks_of.column("batch_mark").to_numpy())
    order = np.lexsort((mark, position, group))  # a mark follows its row
    follows = ~starts_of(group[order], position[order])
    of_row = np.zeros(len(rows), np.int8)
    of_row[order[:-1][follows[1:]]] = mark[order[1:][follows[1:]]]
    return BatchGroups(rows, of_row & _COPY == 0, of_row & _LATE_IN_KEY != 0, options)


def _group_columns(rows: GroupedRows) -> tuple[Numbers, ...]:
    return (rows.topics[0], rows.partition, rows.tables[0], rows.table_id, rows.batch_value)


def _steps(events: GroupedRows, first_delivery: Flags) -> tuple[GroupedRows, Numbers, Numbers, Flags]:
    """The rows of the groups with copies in the order of their position: number of the group, and step."""
    columns = _group_columns(events)
    by_ts = np.lexsort((events.commit_ts, *reversed(columns)))
    starts = starts_of(*(column[by_ts] for column in columns))
    group, step = np.empty((2, len(events)), np.int64)
    group[by_ts] = np.cumsum(starts)
    distinct = np.cumsum(starts | starts_of(events.commit_ts[by_ts]))
    base = distinct[starts][group[by_ts] - 1]
    step[by_ts] = distinct - base
    repeated = np.zeros(int(group.max(initial=0)) + 1, bool)
    repeated[group[~first_delivery]] = True
    rows = np.flatnonzero(repeated[group])
    rows = rows[np.lexsort((events.position[rows], group[rows]))]
    return events.take(rows), group[rows], step[rows], first_delivery[rows]
