"""The ids of inserted rows, if the parts of a frame follow each other.

Then a part knows its ids by the number of those that the parts before it take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.frames.commit_sizes import CommitSizes, Position, are_in_order
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import positions
from ticdc_producer.scenario.frames.version_rows import VersionRows, rows_by_version

PartStarts: TypeAlias = Mapping[Position, Mapping[int, int]]
"""By the position of the first row of a part the last id of each table before it."""


@dataclass
class PartCounts:
    """What the rows of a part do with ids.

    :ivar taken: the number of ids that they take, by table.
    :ivar moves: whether a row may change its key.
    """

    sizes: CommitSizes = field(default_factory=CommitSizes)
    taken: dict[int, int] = field(default_factory=dict)
    moves: bool = False


def part_starts(row_ids: Mapping[int, int], parts: Iterable[PartCounts]) -> tuple[PartStarts, dict[int, int]]:
    """Return the last ids before each part and those after all; no starts if ids are not so simple.

    >>> def part(first, last, taken):
    ...     return PartCounts(CommitSizes(ends=((first, 0), (last, 3))), {7: taken})
    >>> starts, last = part_starts({7: 20}, [part(5, 8, 4), part(9, 9, 2), part(1, 4, 3)])
    >>> starts, last
    ({(1, 0): {7: 20}, (5, 0): {7: 23}, (9, 0): {7: 27}}, {7: 29})
    >>> part_starts({7: 20}, [part(5, 8, 4), part(7, 9, 2)])
    ({}, {7: 20})

    :param row_ids: by the id of a table the last id before the frame.
    :param parts: all, in any order.
    """
    starts, last, filled = dict[Position, Mapping[int, int]](), dict(row_ids), [*parts]
    if not are_in_order([part.sizes for part in filled]) or any(part.moves for part in filled):
        return starts, last
    by_position = ((part.sizes.ends[0], part.taken) for part in filled if part.sizes.ends is not None)
    for position, taken in sorted(by_position, key=lambda each: each[0]):
        starts[position] = {**last}
        last |= {table: last[table] + count for table, count in taken.items()}
    return starts, last


def with_part_ids(plan: FramePlan, starts: PartStarts, batches: Batches) -> Iterator[VersionRows]:
    """Yield the changes of a part, those that insert rows with their ids.

    :param batches: rows of the frame, with the columns of ``frame_rows.frame_rows``.
    :raises ScenarioError: for a part that was not counted.
    """
    last: dict[int, int] | None = None
    for batch in batches:
        if batch.num_rows and last is None:
            last = {**_last_before(plan, starts, batch)}
        for rows in rows_by_version(plan, batch):  # those of a table in the order of their commits
            yield rows if last is None else _numbered(rows, last)


def _last_before(plan: FramePlan, starts: PartStarts, batch: pa.RecordBatch) -> Mapping[int, int]:
    commit, seq = (column[0].as_py() for column in positions(plan.columns.number, batch))
    if (commit, seq) not in starts:
        what = "the rows of the DataFrame are in other parts when they are read again"
        raise ScenarioError(what, hint="write it to Parquet, and read it from there")
    return starts[commit, seq]


def _numbered(rows: VersionRows, last: dict[int, int]) -> VersionRows:
    """Return changes with the ids of inserted rows, 0 for others.

    >>> from types import SimpleNamespace
    >>> ops, last = np.array([Op.INSERT, Op.UPDATE, Op.INSERT]), {7: 20}
    >>> rows = VersionRows(SimpleNamespace(table_id=7), ops, *[None] * 6, np.zeros(3, int))
    >>> [_numbered(rows, last).row_ids.tolist() for _ in range(2)]
    [[21, 0, 22], [23, 0, 24]]

    :param last: the last id of each table so far, which is changed.
    """
    before = last.get(rows.table.table_id)
    if before is None:
        return rows
    inserts = rows.ops == Op.INSERT
    ids = np.where(inserts, before + np.cumsum(inserts), 0)
    last[rows.table.table_id] = int(ids.max(initial=before))
    return replace(rows, row_ids=ids)
