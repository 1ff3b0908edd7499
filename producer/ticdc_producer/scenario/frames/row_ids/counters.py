"""The ids that changes take from the counters of their tables, by range of commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.model.column_functions import Numbers, first_of_groups
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.row_ids.steps import GROUP, STEPS, TAKES, USES, Group
from ticdc_producer.scenario.sql.store.allocator import ids_exhausted

_LAST_ID = (1 << 63) - 1


@dataclass(frozen=True)
class CounterAdvance:
    """The effect of consecutive changes on a counter.

    :param taken: number of ids that they take.
    :param used: the highest value that one of them uses, less the ids taken before it; None: none does.
    """

    taken: int = 0
    used: int | None = None

    def after(self, last: int) -> int:
        """Return the last id after the changes, given that before them.

        >>> advance = CounterAdvance(2) + CounterAdvance(1, 9) + CounterAdvance(1)
        >>> advance.after(3), advance.after(20)
        (11, 24)
        """
        return self.taken + (last if self.used is None else max(last, self.used))

    def __add__(self, other: CounterAdvance) -> CounterAdvance:
        used = [self.used] if self.used is not None else []
        used += [other.used - self.taken] if other.used is not None else []
        return CounterAdvance(self.taken + other.taken, max(used, default=None))


def counting(batches: Batches) -> Batches:
    """Yield the changes that concern counters.

    :param batches: shape ``STEPS``.
    """
    return (batch.filter(pc.less_equal(batch.column("step"), USES)) for batch in batches)


def _groups(rows: pa.RecordBatch) -> Iterator[tuple[Group, pa.RecordBatch]]:
    """Yield the rows of each group, which follow each other."""
    starts = np.flatnonzero(first_of_groups(rows, GROUP))
    tables, ranges = (rows.column(name).to_numpy()[starts].tolist() for name in GROUP)
    ends = [*starts.tolist()[1:], rows.num_rows]
    for table, number, start, end in zip(tables, ranges, starts.tolist(), ends, strict=False):
        yield (table, number), rows.slice(start, end - start)


def sums_of(_part: Part, batches: Batches) -> dict[Group, CounterAdvance]:
    """Return what the changes of each table do in each range of commits.

    :param batches: with the columns of ``STEPS``, in the order of the ranges and the positions.
    """
    sums = dict[Group, CounterAdvance]()
    for batch in batches:
        for group, rows in _groups(batch):
            taken, used = _running(rows)
            highest = None if rows.column("used").null_count == rows.num_rows else int(used[-1])
            sums[group] = sums.get(group, CounterAdvance()) + CounterAdvance(int(taken[-1]), highest)
    return sums


_NOT_USED = -1 << 63


def _running(rows: pa.RecordBatch) -> tuple[Numbers, Numbers]:
    """Return ``CounterAdvance.taken`` and ``CounterAdvance.used`` up to each of the rows of a group.

    >>> columns = {"step": [TAKES, USES, TAKES, TAKES], "used": pa.array([None, 9, None, None], pa.int64())}
    >>> taken, used = _running(pa.record_batch(columns))
    >>> taken.tolist(), used.tolist()[1:]
    ([1, 1, 2, 3], [8, 8, 8])
    """
    takes = (rows.column("step").to_numpy() == TAKES).astype(np.int64)
    taken = np.cumsum(takes)
    used = rows.column("used")
    if used.null_count == len(used):
        return taken, np.full(len(used), _NOT_USED)
    relative = pc.fill_null(used, 0).to_numpy() - (taken - takes)
    return taken, np.maximum.accumulate(
        np.where(used.is_valid().to_numpy(zero_copy_only=False), relative, _NOT_USED)
    )


def last_ids(plan: FramePlan, sums: Iterable[Mapping[Group, CounterAdvance]]) -> dict[Group, int]:
    """Return the last id before each range of commits."""
    totals = dict[Group, CounterAdvance]()
    for of_part in sums:
        for group, part in of_part.items():
            totals[group] = totals.get(group, CounterAdvance()) + part
    last, before = dict(plan.row_ids), dict[Group, int]()
    for table, number in sorted(totals):
        before[table, number] = last[table]
        last[table] = totals[table, number].after(last[table])
    if any(each > _LAST_ID for each in last.values()):
        raise ids_exhausted().at(plan.file, plan.line)
    return before


def numbered(before: Mapping[Group, int], batches: Batches) -> Batches:
    """Yield changes that take ids, with the ids.

    >>> columns = {field.name: pa.nulls(3, field.type) for field in STEPS}
    >>> columns |= {"table": [1, 1, 1], "range": [0, 0, 1], "step": [TAKES] * 3}
    >>> batches = [pa.record_batch(columns), pa.record_batch(columns).slice(2)]
    >>> [batch["row_id"].to_pylist() for batch in numbered({(1, 0): 5, (1, 1): 20}, iter(batches))]
    [[6, 7, 21], [22]]

    :param before: the last id before each range.
    :param batches: shape ``COUNTED``, in the order of the ranges and the positions.
    """
    known: dict[Group, int] = {}
    for batch in batches:
        ids = [np.zeros(0, np.int64)]
        for group, rows in _groups(batch):
            taken, used = _running(rows)
            ids.append(taken + np.maximum(known.get(group, before[group]), used))
            known = {group: int(ids[-1][-1])}
        columns = {name: batch.column(name) for name in batch.schema.names}
        columns |= {"row_id": pa.array(np.concatenate(ids)), "new_key": pa.nulls(batch.num_rows)}
        arrays = [columns[field.name].cast(field.type) for field in STEPS]
        yield pa.record_batch(arrays, schema=STEPS).filter(pc.equal(batch.column("step"), TAKES))
