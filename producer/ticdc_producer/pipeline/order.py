"""Stages: the commit-ts of each change, and the order of the events in a partition."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.shapes import DELIVERY_KEY
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


_OF_FAULTS = ("partition_index", "restart_epoch", "delivery_no")
"""Columns of the delivery key that are constant in one partition without faults."""
_KIND_BITS = 2


def in_delivery_order(events: pa.RecordBatch) -> pa.RecordBatch:
    """Sort events by partition and delivery key.

    The key is unique in a partition, so the order is the same on every run.

    :param events: shape ``EVENT_STREAM``; sorted by ``partition_index``, then by ``DELIVERY_KEY``.
    """
    if events.num_rows < 2:
        return events
    order = _order_in_time(events) if all(map(_is_constant, map(events.column, _OF_FAULTS))) else None
    if order is None:
        keys = [(name, "ascending") for name in ("partition_index", *DELIVERY_KEY)]
        order = pc.sort_indices(events, keys).to_numpy()
    in_order = np.array_equal(order, np.arange(events.num_rows))
    return events if in_order else events.take(pa.array(order))


def _is_constant(column: pa.Array) -> bool:
    found = numbers(column)
    return bool((found == found[0]).all())


def _order_in_time(events: pa.RecordBatch) -> Numbers:
    """The order by time, kind and ``txn_order_key``, where the other columns of the key are constant.

    Arrow compares column by column for each pair of rows. Most rows differ in their time, most others are in
    order already, and the few that are left are sorted by their bytes.
    """
    times = numbers(events.column("deliver_after_ts")) << _KIND_BITS | numbers(events.column("kind_order"))
    order: Numbers = np.argsort(times, kind="stable")
    times = times[order]
    same_as_next = np.flatnonzero(times[1:] == times[:-1])
    keys = events.column("txn_order_key")
    left, right = (keys.take(pa.array(order[same_as_next + offset])) for offset in (0, 1))
    wrong = times[same_as_next[pc.greater(left, right).to_numpy(zero_copy_only=False)]]
    if len(wrong):
        rows = np.flatnonzero(np.isin(times, wrong))
        group = pa.record_batch({"time": times[rows], "key": keys.take(pa.array(order[rows]))})
        sorted_rows = pc.sort_indices(group, [("time", "ascending"), ("key", "ascending")]).to_numpy()
        order[rows] = order[rows[sorted_rows]]
    return order
