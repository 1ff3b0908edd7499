"""The ids that the changes of each part of a frame take, counted before any id is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.scenario.frames.commit_sizes import CommitSizes, Position, are_in_order
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import positions
from ticdc_producer.scenario.frames.row_ids.counters import CounterAdvance
from ticdc_producer.scenario.frames.row_ids.part_ids import PartStarts
from ticdc_producer.scenario.frames.row_ids.steps import RANGES, Group, range_width, taking
from ticdc_producer.scenario.frames.version_rows import rows_by_version


@dataclass
class PartCounts:
    """The changes of a part that concern ids, counted.

    :ivar moves: whether one moves a row to another key or partition.
    :ivar sums: by table and range of commits, without the values that they use.
    """

    sizes: CommitSizes = field(default_factory=CommitSizes)
    moves: bool = False
    sums: dict[Group, CounterAdvance] = field(default_factory=dict)


def counted(plan: FramePlan, _part: Part, batches: Batches) -> PartCounts:
    """Count the changes of a part that take ids.

    :param batches: rows of the frame, with the columns of ``frame_rows.frame_rows``.
    """
    counts, width, sums = PartCounts(), range_width(plan), dict[int, Numbers]()
    for batch in batches:
        counts.sizes.add(*(column.to_numpy() for column in positions(plan.columns.number, batch)))
        for rows in rows_by_version(plan, batch):
            table = rows.table.table_id
            if table not in plan.row_ids:
                continue
            takes, moves = taking(plan, rows)
            counts.moves |= moves
            ranges = (rows.commits[takes] - plan.first_commit) // width
            sums[table] = sums.get(table, 0) + np.bincount(ranges, minlength=RANGES)
    counts.sums = {
        (table, number): CounterAdvance(int(of_table[number]))
        for table, of_table in sums.items()
        for number in np.flatnonzero(of_table).tolist()
    }
    return counts


def part_starts(row_ids: Mapping[int, int], parts: Sequence[PartCounts]) -> PartStarts:
    """Return the last ids before each part; none if the parts do not follow each other.

    >>> def part(first, last, taken):
    ...     return PartCounts(CommitSizes(ends=((first, 0), (last, 3))), sums={(7, 0): CounterAdvance(taken)})
    >>> part_starts({7: 20}, [part(5, 8, 4), part(9, 9, 2), part(1, 4, 3)])
    {(1, 0): {7: 20}, (5, 0): {7: 23}, (9, 0): {7: 27}}
    >>> part_starts({7: 20}, [part(5, 8, 4), part(7, 9, 2)])
    {}

    :param row_ids: by the id of a table the last id before the frame.
    :param parts: all, in any order.
    """
    starts, last = dict[Position, Mapping[int, int]](), dict(row_ids)
    if not are_in_order([part.sizes for part in parts]):
        return starts
    by_position = ((part.sizes.ends[0], part.sums) for part in parts if part.sizes.ends is not None)
    for position, sums in sorted(by_position, key=lambda each: each[0]):
        starts[position] = {**last}
        for (table, _), advance in sums.items():
            last[table] = advance.after(last[table])
    return starts
