"""Ids that inserted rows get where they are read: the parts of the frame follow each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.frames.commit_sizes import Position
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import positions
from ticdc_producer.scenario.frames.version_rows import VersionRows, rows_by_version

PartStarts: TypeAlias = Mapping[Position, Mapping[int, int]]
"""By the position of the first row of a part the last id of each table before it."""


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
    """Return the last id of each table before a part.

    >>> from types import SimpleNamespace
    >>> plan = SimpleNamespace(columns=SimpleNamespace(number="txn"))
    >>> _last_before(plan, {(5, 1): {7: 20}}, pa.record_batch({"txn": [5, 6], "seq": [1, 0]}))
    {7: 20}

    :param batch: the first rows of the part.
    """
    number, seq = (column[0].as_py() for column in positions(plan.columns.number, batch))
    if (number, seq) not in starts:
        what = "the rows of the DataFrame are in other parts when they are read again"
        raise ScenarioError(what, hint="write it to Parquet, and read it from there")
    return starts[number, seq]


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
