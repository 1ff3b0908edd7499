"""Legal faults: what TiCDC does after a restart, a retry or a move of tables (docs/stream-semantics.md §9).

This stage rewrites the delivery key and never a commit-ts. What a restart repeats has a restart epoch of
its own, after the segment that it repeats: the events of segment n are in epoch 2n, their repetitions in
epoch 2n + 1. The checkpoint to which a restart returns is the beginning of the segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.event_columns import Columns, chosen, integers, is_kind, replaced
from ticdc_producer.faults.plan import SEGMENT_FAULTS, WITHOUT_DDL, FaultPlan
from ticdc_producer.faults.seeded_hash import seeded_hash, threshold
from ticdc_producer.model.event import Kind
from ticdc_producer.pipeline.row_images import Flags, Numbers

_DUPLICATE = 2
"""Added to ``delivery_no`` of a duplicate; 1 is the repetition after a restart."""
_ONE_TABLE = "replay-one-table"
_BATCH_BOUNDARIES = "batch-boundaries"
_PRIVATE = "#"
"""Separates a dispatch key from the private part of one row."""


def legal_faults(
    events: pa.RecordBatch, plan: FaultPlan, partitions: int, moved: Mapping[int, int]
) -> pa.RecordBatch:
    """Events with their legal faults. Needs no other events.

    :param events: shape ``EVENT_STREAM``, in any order, without the segments that are reserved for illegal
        faults.
    :param partitions: number of partitions of a topic.
    :param moved: the result of ``moved_tables`` for all events.
    """
    if plan.repeats:
        events = _with_restarts(events, plan, partitions, moved)
    return _with_batch_boundaries(_with_duplicates(events, plan), plan)


def moved_tables(batches: Iterable[pa.RecordBatch], plan: FaultPlan) -> dict[int, tuple[int, int]]:
    """The table that moves to another node in each segment with that fault: one of those with rows in it.

    :param batches: events as for ``legal_faults``.
    :return: by segment, the hash by which the table was drawn, and its id. The lowest pair of several
        results counts.
    """
    drawn: dict[int, tuple[int, int]] = {}
    if not plan.moves_tables:
        return drawn
    for events in batches:
        segments = plan.segments.numbers(integers(events, "deliver_after_ts"))
        rows = is_kind(events, Kind.ROW) & (_segment_faults(plan, segments) == _ONE_TABLE)
        tables = np.stack([segments[rows], integers(events, "table_id")[rows]], axis=1)
        pairs = np.unique(tables, axis=0)
        hashes = seeded_hash(plan.seed, "table", len(pairs), *map(pa.array, pairs.T))
        for (segment, table_id), value in zip(pairs.tolist(), hashes.tolist(), strict=True):
            drawn[segment] = min((value, table_id), drawn.get(segment, (value, table_id)))
    return drawn


def _with_restarts(
    events: pa.RecordBatch, plan: FaultPlan, partitions: int, moved: Mapping[int, int]
) -> pa.RecordBatch:
    """Put events into the restart epochs of their segments, and repeat what a restart repeats."""
    after = integers(events, "deliver_after_ts")
    segments = plan.segments.numbers(after)
    faults = _segment_faults(plan, segments)
    lags = _lags(events, plan, partitions, segments, faults)
    first: Columns = {
        "restart_epoch": segments * 2,
        "deliver_after_ts": np.where(lags, plan.segments.end(segments), after),
        "delivery_no": 0,
        "fault": pc.if_else(pa.array(lags), pa.array(faults, pa.string()), None),
    }
    second: Columns = {
        "restart_epoch": segments * 2 + 1,
        "delivery_no": 1,
        "fault": pa.array(faults, pa.string()),
    }
    deliveries = [
        chosen(replaced(events, first), _delivered(events, plan, segments, faults)),
        chosen(replaced(events, second), _repeated(events, segments, faults, moved)),
    ]
    return pa.concat_batches(deliveries)


def _segment_faults(plan: FaultPlan, segments: Numbers) -> npt.NDArray[np.object_]:
    """The id of the trap that the segment of each event has; None for none."""
    with_rate = [name for name in reversed(SEGMENT_FAULTS) if name in plan.rates]
    values = seeded_hash(plan.seed, "again", len(segments), pa.array(segments))
    faults = np.full(len(segments), None, object)
    limits = list(zip(with_rate, accumulate(plan.rates[name] for name in with_rate), strict=True))
    has_ddl = np.isin(segments, sorted(plan.ddl_segments))
    for name, limit in reversed(limits):
        hit = values < threshold(limit)
        faults[hit & ~has_ddl if name in WITHOUT_DDL else hit] = name
    for segment, name in plan.fixed.items():
        faults[segments == segment] = name
    return faults


def _lags(
    events: pa.RecordBatch,
    plan: FaultPlan,
    partitions: int,
    segments: Numbers,
    faults: npt.NDArray[np.object_],
) -> Flags:
    """Whether a resolved event is delayed: those of one partition in a segment with resolved-lag."""
    lagging = seeded_hash(plan.seed, "lag", len(segments), pa.array(segments)) % partitions
    in_partition = integers(events, "partition") == lagging
    lags: Flags = (faults == "resolved-lag") & is_kind(events, Kind.RESOLVED) & in_partition
    return lags


def _delivered(
    events: pa.RecordBatch, plan: FaultPlan, segments: Numbers, faults: npt.NDArray[np.object_]
) -> Flags:
    """Whether an event is delivered before the restart.

    With replay-partial, rows are delivered up to the point that their partition reached, and no resolved
    event is, because not all rows were acknowledged.
    """
    keys = events.column("partition_index"), pa.array(segments)
    share = seeded_hash(plan.seed, "delivered", len(segments), *keys) % plan.segments.length
    start = plan.segments.start + segments * plan.segments.length
    reached = integers(events, "deliver_after_ts") <= start + share
    delivered: Flags = (faults != "replay-partial") | (is_kind(events, Kind.ROW) & reached)
    return delivered


def _repeated(
    events: pa.RecordBatch, segments: Numbers, faults: npt.NDArray[np.object_], moved: Mapping[int, int]
) -> Flags:
    """Whether an event is delivered again after the restart."""
    repeated: Flags = (faults == "replay-suffix") | (faults == "replay-partial")
    repeated |= (faults == "resolved-fallback") & is_kind(events, Kind.RESOLVED)
    rows = is_kind(events, Kind.ROW) & (faults == _ONE_TABLE)
    tables = integers(events, "table_id")
    for segment in np.unique(segments[rows]).tolist():
        repeated |= rows & (segments == segment) & (tables == moved[segment])
    return repeated


def _with_duplicates(events: pa.RecordBatch, plan: FaultPlan) -> pa.RecordBatch:
    """Repeat single events: a retry follows its first delivery; a resolved event also precedes its DDL."""
    duplicates = [events]
    count, again = events.num_rows, integers(events, "delivery_no") + _DUPLICATE
    if "duplicate-event" in plan.rates:
        hit = is_kind(events, Kind.ROW) & _drawn(events, plan, "duplicate-event")
        duplicates.append(_duplicates(events, hit, {"delivery_no": again, "fault": "duplicate-event"}))
    if "duplicate-ddl" in plan.rates:
        values = seeded_hash(plan.seed, "duplicate-ddl", count, events.column("ddl"))
        hit = is_kind(events, Kind.DDL) & (values < threshold(plan.rates["duplicate-ddl"]))
        duplicates.append(_duplicates(events, hit, {"delivery_no": again, "fault": "duplicate-ddl"}))
    if "ddl-at-resolved-ts" in plan.rates and plan.ddl_ts:
        values = seeded_hash(plan.seed, "ddl-at-resolved-ts", count, events.column("commit_ts"))
        at_ddl = np.isin(integers(events, "commit_ts"), plan.ddl_ts) & (again == _DUPLICATE)
        hit = is_kind(events, Kind.RESOLVED) & at_ddl & (values < threshold(plan.rates["ddl-at-resolved-ts"]))
        before_ddl: Columns = {"kind_order": 1, "txn_order_key": pa.repeat(pa.scalar(b""), count)}
        before_ddl |= {"delivery_no": again, "fault": "ddl-at-resolved-ts"}
        duplicates.append(_duplicates(events, hit, before_ddl))
    return pa.concat_batches(duplicates)


def _duplicates(events: pa.RecordBatch, hit: Flags, changes: Columns) -> pa.RecordBatch:
    return chosen(replaced(events, changes), hit)


def _drawn(events: pa.RecordBatch, plan: FaultPlan, name: str) -> Flags:
    """Which events a fault with a rate draws by their position in the stream."""
    keys = (events.column(column) for column in ("partition_index", "commit_ts", "txn_order_key"))
    return seeded_hash(plan.seed, name, events.num_rows, *keys) < threshold(plan.rates[name])


def _with_batch_boundaries(events: pa.RecordBatch, plan: FaultPlan) -> pa.RecordBatch:
    """Give some rows a private dispatch key, so that each gets its own message.

    For the batcher they still have the key of their table or value: see :func:`batcher_keys`.
    """
    if _BATCH_BOUNDARIES not in plan.rates:
        return events
    unchanged = events.column("fault").is_null().to_numpy(zero_copy_only=False)
    hit = is_kind(events, Kind.ROW) & unchanged & _drawn(events, plan, _BATCH_BOUNDARIES)
    keys = [
        key.hex().upper() if is_hit else None
        for key, is_hit in zip(events.column("txn_order_key").to_pylist(), hit.tolist(), strict=True)
    ]
    prefix = pc.fill_null(events.column("dispatch_key"), "")
    private_keys = pc.binary_join_element_wise(prefix, pa.array(keys, pa.string()), _PRIVATE)
    return replaced(
        events,
        {
            "dispatch_key": pc.if_else(pa.array(hit), private_keys, events.column("dispatch_key")),
            "fault": pc.if_else(pa.array(hit), _BATCH_BOUNDARIES, events.column("fault")),
        },
    )


def batcher_keys(events: pa.RecordBatch) -> pa.Array:
    """The dispatch keys by which the batcher groups rows, without the private part of single rows.

    The batcher appends rows of one key to one group, and thus preserves their order, into however many
    messages the group is divided (docs/stream-semantics.md §8).
    """
    keys = events.column("dispatch_key")
    private = np.flatnonzero(pc.fill_null(pc.equal(events.column("fault"), _BATCH_BOUNDARIES), False))
    if not len(private):
        return keys
    # Names of tables may have the separator, hexadecimal digits never.
    shared = [key.rpartition(_PRIVATE)[0] for key in keys.take(pa.array(private)).to_pylist()]
    is_private = np.zeros(len(keys), bool)
    is_private[private] = True
    return pc.replace_with_mask(keys, pa.array(is_private), pa.array(shared, keys.type))
