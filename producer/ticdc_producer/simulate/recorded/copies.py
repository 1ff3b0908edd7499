"""The events of a recorded topic that came again: delivered again at their positions.

    events ───┬──by event key──▶ copies, after the events of their time ──▶ divided by partition, sorted
    recorded ─┘                                                          ──▶ at their positions in this time

Under the protocol, dispatch rules and number of partitions of the recording a copy follows as many events of
its time as it did in the recorded topic, and damaged messages are at their positions there, too.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Sides, Stored, Tagged
from ticdc_producer.faults.event_traps import integers, is_kind, replaced
from ticdc_producer.model.column_functions import (
    Flags,
    Numbers,
    first_of_groups,
    flat_positions,
    whole_groups,
)
from ticdc_producer.model.event import ROW_ELSEWHERE, Kind
from ticdc_producer.model.shapes import EVENT_STREAM, EventBatch
from ticdc_producer.pipeline.mutations import eight_bytes
from ticdc_producer.simulate.fault_counts import MAX_UNMET, UnmetFaults
from ticdc_producer.simulate.recorded.event_keys import BY_EVENT_KEY, EVENT_KEY, KEYED_FAULTS, EventKeys
from ticdc_producer.simulate.recorded.faults_file import TRAPS

_AFTER_OTHERS = b"\xff"
"""The order key of a copy begins with it, and that of no other event: table ids and TSOs are positive."""
_AT_END = (1 << 63) - 1
KIND_ORDER = 2
"""That of copies and damaged messages: they follow the other events of their time."""
COPIES = "copies"


@contextmanager
def recorded_copies(
    faults: Dataset, events: Dataset, event_keys: EventKeys, engine: Engine
) -> Iterator[Stored[UnmetFaults]]:
    """Yield the copies of events (shape ``EVENT_STREAM``), in no order, as ``COPIES``.

    :param faults: those of the recording (shape ``RECORDED_FAULTS``).

    :param events: shape ``EVENT_STREAM``, in any order, without faults.
    """
    sides = {
        "events": events.map(event_keys.of_events, EVENT_STREAM.append(BY_EVENT_KEY)),
        "faults": faults.map(event_keys.of_faults, KEYED_FAULTS),
    }
    with engine.grouped(sides, EVENT_KEY).stored(_copies, {COPIES: EVENT_STREAM}) as stored:
        yield stored


def _copies(groups: Iterator[Sides]) -> Generator[Tagged, None, UnmetFaults]:
    """Yield the copies of the events that came again, and return those without an event."""
    unmet = UnmetFaults()
    for sides in groups:
        events, faults = sides["events"], sides["faults"]
        fault_of, event_of = _matches(events, faults)
        if len(fault_of):
            copied = events.take(pa.array(event_of)).select(EVENT_STREAM.names)
            yield COPIES, _after_their_time(copied, faults.take(pa.array(fault_of)))
        missing = faults.column("required").to_numpy(zero_copy_only=False).copy()
        missing[fault_of] = False
        lost = faults.filter(pa.array(missing))
        unmet.add([UnmetFaults(lost.num_rows, _examples(lost))])
    return unmet


def _matches(events: pa.RecordBatch, faults: pa.RecordBatch) -> tuple[Numbers, Numbers]:
    """Return the numbers of faults and of their events.

    DDLs and resolved events are those in the partition of the fault; of its topic, if that is one of theirs.

    >>> events = {"event_key": [5, 6, 6], "kind": [Kind.ROW, Kind.DDL, Kind.DDL], "partition": [0, 0, 1]}
    >>> faults = {"event_key": [6, 5], "topic": ["t"] * 2, "partition": [1, 1], "row_id": [0, 0]}
    >>> _matches(*map(pa.record_batch, ({**events, "topic": ["t"] * 3, "row_id": [0] * 3}, faults)))
    (array([0, 1]), array([2, 0]))
    """
    ids, fault_ids = (side.column(EVENT_KEY).to_numpy() for side in (events, faults))
    order = np.argsort(ids, kind="stable")
    start, stop = (np.searchsorted(ids[order], fault_ids, side) for side in ("left", "right"))
    counts = stop - start
    fault_of = np.repeat(np.arange(len(fault_ids)), counts)
    event_of = order[flat_positions(start, counts)]
    in_partition = integers(events, "partition")[event_of] == faults.column("partition").to_numpy()[fault_of]
    topics = (
        side.column("topic").take(pa.array(of)) for side, of in ((events, event_of), (faults, fault_of))
    )
    in_topic = pc.equal(*topics).to_numpy(zero_copy_only=False)
    has_topic = np.zeros(len(fault_ids), np.bool_)
    has_topic[fault_of[in_partition & in_topic]] = True
    fits = is_kind(events, Kind.ROW)[event_of] | (in_partition & (in_topic | ~has_topic[fault_of]))
    given = pc.fill_null(faults.column("row_id"), 0).to_numpy()[fault_of]
    own = integers(events, "row_id")[event_of]
    fits &= (given == 0) | (own <= 0) | (given == own)
    return fault_of[fits], event_of[fits]


def _after_their_time(events: EventBatch, faults: pa.RecordBatch) -> EventBatch:
    """Return copies after all events of their time, in the order of their recorded messages."""
    halves = faults.column("required").to_numpy(zero_copy_only=False).astype(np.int64)
    kinds = faults.column("kind").dictionary_encode()
    traps = pa.array([TRAPS[kind] for kind in kinds.dictionary.to_pylist()]).take(kinds.indices)
    return replaced(
        events,
        {
            "deliver_after_ts": faults.column("delivered_ts"),
            "kind_order": KIND_ORDER,
            "txn_order_key": order_keys(faults, halves),
            "delivery_no": 1,
            "fault": traps,
        },
    )


def order_keys(faults: pa.RecordBatch, halves: Numbers) -> pa.Array:
    """Return the order keys of recorded faults: their positions, then those of their messages."""
    count = faults.column("delivered_count").to_numpy().astype(np.int64)
    positions = [np.where(count < 0, _AT_END, count)]
    positions += [faults.column(name).to_numpy().astype(np.int64) for name in ("partition", "offset")]
    positions.append(pc.fill_null(faults.column("index"), 0).to_numpy().astype(np.int64))
    return pc.binary_join_element_wise(_AFTER_OTHERS, *map(eight_bytes, (*positions, halves)), b"")


def _examples(faults: pa.RecordBatch) -> list[tuple[str, str]]:
    rows = faults.slice(0, MAX_UNMET).select(["kind", "topic", "partition", "offset"]).to_pylist()
    return [(TRAPS[row["kind"]], f"{row['topic']}/{row['partition']}@{row['offset']}") for row in rows]


_TIME = ("partition_index", "restart_epoch", "deliver_after_ts")


def at_recorded_positions(batches: Batches) -> Batches:
    """Move copies to their positions among the events of their time.

    :param batches: shape ``EVENT_STREAM``, whole partitions in delivery order.
    """
    for batch in whole_groups(batches, _TIME):
        copies = pc.starts_with(batch.column("txn_order_key"), _AFTER_OTHERS).to_numpy(zero_copy_only=False)
        yield batch.take(pa.array(_order(batch, copies))) if copies.any() else batch


def _order(events: EventBatch, copies: Flags) -> Numbers:
    """Return the order in which each copy follows as many events of its time as in the recorded topic.

    >>> at_one_time = {"partition_index": [0] * 3, "restart_epoch": [0] * 3, "deliver_after_ts": [9] * 3}
    >>> keys = [b"a", b"b", _AFTER_OTHERS + (1).to_bytes(8, "big")]
    >>> events = pa.record_batch({**at_one_time, "kind": [1] * 3, "txn_order_key": keys})
    >>> _order(events, np.array([False, False, True]))
    array([0, 2, 1])
    """
    starts = first_of_groups(events, _TIME)
    groups = np.cumsum(starts)
    counted = ~copies & (integers(events, "kind") != ROW_ELSEWHERE)
    total = np.cumsum(counted)
    before = (total - counted)[np.flatnonzero(starts)][groups - 1]
    position = total - before
    keys = events.column("txn_order_key").filter(pa.array(copies))
    packed = pc.binary_slice(keys, len(_AFTER_OTHERS), len(_AFTER_OTHERS) + 8).cast(pa.binary(8))
    position[copies] = np.frombuffer(packed.buffers()[1], ">i8", len(packed))
    return np.lexsort((copies, position, groups))
