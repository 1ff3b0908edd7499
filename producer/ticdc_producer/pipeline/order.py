"""Stages: the commit-ts of each change, and the order of the events in a partition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.tso import CommitClock
from ticdc_producer.pipeline.row_images import Numbers, numbers


def commit(changes: pa.RecordBatch, clock: CommitClock) -> pa.RecordBatch:
    """Add the commit-ts (TSO) as last column, ``commit_ts``.

    :param changes: shape ``CHANGE_LOG``, in any order; the order does not change.
    """
    times = commit_ts(clock, numbers(changes.column("commit_seq")))
    return changes.append_column("commit_ts", pa.array(times, pa.int64()))


def commit_ts(clock: CommitClock, commit_seq: Numbers) -> Numbers:
    """The commit-ts of some commits."""
    first, start = (np.array(column, np.int64) for column in zip(*clock.segments, strict=True))
    segment = np.searchsorted(first, commit_seq, side="right") - 1
    return start[segment] + (commit_seq - first[segment]) * clock.step


_KIND_BITS = 2
"""Values of ``kind_order`` are -1, for what illegal faults put before everything else of its time, to 2."""


def in_delivery_order(events: pa.RecordBatch) -> pa.RecordBatch:
    """Sort events by partition and delivery key.

    The key is unique in a partition, so the order is the same on every run.

    :param events: shape ``EVENT_STREAM``; sorted by ``partition_index``, then by ``DELIVERY_KEY``.
    """
    if events.num_rows < 2:
        return events
    order = _delivery_order(events)
    in_order = np.array_equal(order, np.arange(events.num_rows))
    return events if in_order else events.take(pa.array(order))


def _delivery_order(events: pa.RecordBatch) -> Numbers:
    """The order by numbers first, and by ``txn_order_key`` and ``delivery_no`` where they are equal.

    Arrow compares column by column for each pair of rows. Most rows differ in their time, most others are in
    order already, and the few that are left are sorted by their bytes.
    """
    times = (numbers(events.column("deliver_after_ts")) << _KIND_BITS) + numbers(events.column("kind_order"))
    groups = [times, *(numbers(events.column(name)) for name in ("restart_epoch", "partition_index"))]
    varying = [one for one in groups if (one != one[0]).any()] or groups[:1]
    order: Numbers = np.lexsort(varying)
    in_group = np.cumsum(_starts([one[order] for one in varying]))
    same_as_next = np.flatnonzero(in_group[1:] == in_group[:-1])
    wrong = np.unique(in_group[same_as_next[_descends(events, order, same_as_next)]])
    if len(wrong):
        rows = np.flatnonzero(np.isin(in_group, wrong))
        chosen = events.select(["txn_order_key", "delivery_no"]).take(pa.array(order[rows]))
        group = chosen.append_column("group", pa.array(in_group[rows]))
        keys = [(name, "ascending") for name in ("group", "txn_order_key", "delivery_no")]
        order[rows] = order[rows[pc.sort_indices(group, keys).to_numpy()]]
    return order


def _starts(columns: Sequence[Numbers]) -> Numbers:
    """1 for each row that differs from the one before it in any column, otherwise 0."""
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        found[1:] |= column[1:] != column[:-1]
    return found


def _descends(events: pa.RecordBatch, order: Numbers, rows: Numbers) -> npt.NDArray[np.bool_]:
    """Which of some rows have a higher ``txn_order_key`` or ``delivery_no`` than the next row."""
    keys, copies = events.column("txn_order_key"), numbers(events.column("delivery_no"))
    at, after = order[rows], order[rows + 1]
    left, right = keys.take(pa.array(at)), keys.take(pa.array(after))
    greater, equal = (
        found.to_numpy(zero_copy_only=False) for found in (pc.greater(left, right), pc.equal(left, right))
    )
    descends: npt.NDArray[np.bool_] = greater | equal & (copies[at] > copies[after])
    return descends
