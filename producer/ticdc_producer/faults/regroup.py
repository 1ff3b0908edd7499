"""Reorders rows of different dispatch keys as TiCDC's batcher does.

The batcher appends rows of one key to one group and thus preserves their order, into however many messages
the group is divided (docs/stream-semantics.md §8). A row with a private key has the key of its table or value
there.

The batcher takes up to 2048 rows at a time, groups them by dispatch key and sends the groups in the order
of a Go map. No row is moved across a DDL or resolved event, because all earlier rows were acknowledged
before it (docs/stream-semantics.md §8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.event_traps import integers, is_kind, replaced
from ticdc_producer.faults.fault_plan import seeded_hash, threshold
from ticdc_producer.model.column_functions import Flags, Numbers, whole_groups
from ticdc_producer.model.event import Kind
from ticdc_producer.model.shapes import EVENT_STREAM, EventBatch
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.pipeline.delivery import in_delivery_order
from ticdc_producer.pipeline.mutations import eight_bytes

_SEPARATOR = "\0"
"""Separates the batcher's key from the private part; no name of a table contains it."""


def with_private_keys(events: EventBatch, rows: Flags, fault: str) -> EventBatch:
    """Give some rows a private dispatch key, by which no other row joins their message.

    :param events: shape ``EVENT_STREAM``, in any order.
    :param rows: one flag per event.
    :return: the same events, in their order, with other values in ``dispatch_key`` and ``fault``.
    :param fault: the id of the trap.
    """
    keys = [
        key.hex().upper() if is_hit else None
        for key, is_hit in zip(events.column("txn_order_key").to_pylist(), rows.tolist(), strict=True)
    ]
    prefix = pc.fill_null(events.column("dispatch_key"), "")
    private_keys = pc.binary_join_element_wise(prefix, pa.array(keys, pa.string()), _SEPARATOR)
    return replaced(
        events,
        {
            "dispatch_key": pc.if_else(pa.array(rows), private_keys, events.column("dispatch_key")),
            "fault": pc.if_else(pa.array(rows), fault, events.column("fault")),
        },
    )


def batcher_keys(events: EventBatch) -> pa.Array:
    """Return the dispatch keys by which the batcher groups rows, without the private part of single rows.

    :param events: shape ``EVENT_STREAM``; its column ``dispatch_key`` is read.
    :return: text, one element per event.
    """
    return pc.replace_substring_regex(events.column("dispatch_key"), pattern="(?s)\\x00.*", replacement="")


ROUND = 2048
_ROUND_KEY = ("partition_index", "restart_epoch", "run", "round", "reserved")


@dataclass(frozen=True)
class Regrouping:
    """The rows of some rounds, grouped by dispatch key.

    :param rate: share of the rounds.
    :param reserved: which events are in segments in which nothing is reordered.
    :param fault: the id of the trap.
    """

    seed: int
    rate: float
    reserved: Callable[[pa.RecordBatch], Flags]
    fault: str

    def regrouped(self, batches: Iterable[EventBatch]) -> Iterator[EventBatch]:
        """Yield the events in their new order.

        :param batches: whole partitions in delivery order (shape ``EVENT_STREAM``).
        :return: the same shape, rows and partitions, in delivery order by new delivery keys.
        """
        for batch in whole_groups(_with_rounds(batches, self.reserved), _ROUND_KEY):
            yield in_delivery_order(self._reordered(batch))

    def _reordered(self, events: EventBatch) -> EventBatch:
        """Give the events of whole rounds the delivery keys of their new positions.

        In a round whose rows are regrouped, rows with the dispatch keys a, b, a are delivered as a, a, b or
        as b, a, a, by the hashes of the keys.
        """
        row = is_kind(events, Kind.ROW) & (integers(events, "reserved") == 0)
        run, after = integers(events, "run"), integers(events, "deliver_after_ts")
        rounds = pa.array(integers(events, "round"), pa.int32())
        keys = events.column("partition_index"), events.column("restart_epoch"), pa.array(run), rounds
        count = events.num_rows
        mixed = (seeded_hash(self.seed, "regrouped", count, *keys) < threshold(self.rate)) & row
        groups = xx_hash(count, self.seed, rounds, batcher_keys(events)).astype(np.int64)
        order_key = pc.binary_join_element_wise(
            eight_bytes(integers(events, "round")),
            eight_bytes(np.where(mixed, groups, 0)),
            eight_bytes(after),
            events.column("txn_order_key"),
            b"",
        )
        is_fault = pc.and_(pa.array(mixed), events.column("fault").is_null())
        return replaced(
            events.select(EVENT_STREAM.names),
            {
                "txn_order_key": pc.if_else(pa.array(row), order_key, events.column("txn_order_key")),
                "deliver_after_ts": np.where(row, integers(events, "run_start"), after),
                "fault": pc.if_else(is_fault, self.fault, events.column("fault")),
            },
        )


@dataclass
class _Position:
    """The position at which the previous batch ended.

    :param barriers: number of DDL and resolved events of the partition so far.
    :param rows: number of events of the run so far.
    :param run_start: ``deliver_after_ts`` of the run's first row; -1 if it has none yet.
    """

    key: tuple[int, int, int, int] = (-1, -1, -1, -1)
    barriers: int = 0
    rows: int = 0
    run_start: int = -1


def _with_rounds(
    batches: Iterable[pa.RecordBatch], reserved: Callable[[pa.RecordBatch], Flags]
) -> Iterator[EventBatch]:
    """Add the number of the run between two barriers, of the round in it, and the run's first time."""
    position = _Position()
    for events in batches:
        if events.num_rows:
            yield _batch_with_rounds(events, reserved(events), position)


def _batch_with_rounds(events: EventBatch, reserved: Flags, position: _Position) -> EventBatch:
    """Add the columns ``run``, ``round``, ``reserved`` and ``run_start``, and advance the position.

    >>> events = pa.record_batch({  # two rows, a resolved event, a row
    ...     "partition_index": [0, 0, 0, 0], "restart_epoch": [0, 0, 0, 0],
    ...     "kind": [1, 1, 3, 1], "deliver_after_ts": [10, 11, 11, 12],
    ... })
    >>> with_rounds = _batch_with_rounds(events, np.zeros(4, bool), _Position())
    >>> with_rounds.column("run").to_pylist(), with_rounds.column("run_start").to_pylist()
    ([0, 0, 1, 1], [10, 10, 12, 12])
    """
    count = events.num_rows
    partition, epoch = (integers(events, name) for name in ("partition_index", "restart_epoch"))
    run = _runs(partition, ~is_kind(events, Kind.ROW) & ~reserved, position)
    key = np.stack([partition, epoch, run, reserved.astype(np.int64)])
    starts = np.flatnonzero((np.diff(key, axis=1, prepend=np.array(position.key)[:, None]) != 0).any(axis=0))
    continued = not len(starts) or bool(starts[0])  # the batch begins in the middle of a run
    first = np.concatenate([[0], starts]) if continued else starts
    before = position.rows if continued else 0
    sizes = np.diff(np.append(first, count))
    number = np.arange(count) - np.repeat(first, sizes)
    number[: sizes[0]] += before
    run_starts = _first_rows(events, first, sizes)
    if continued and position.run_start >= 0:
        run_starts[0] = position.run_start
    position.key = tuple(key[:, -1].tolist())
    position.rows, position.run_start = int(number[-1]) + 1, int(run_starts[-1])
    columns = {
        "run": run,
        "round": number // ROUND,
        "reserved": reserved.astype(np.int64),
        "run_start": np.repeat(run_starts, sizes),
    }
    for name, values in columns.items():
        events = events.append_column(name, pa.array(values, pa.int64()))
    return events


def _first_rows(events: EventBatch, first: Numbers, sizes: Numbers) -> Numbers:
    """Return ``deliver_after_ts`` of the first row of each run; -1 for a run without rows.

    A run may begin with a barrier. Then its first row is the second event.

    >>> kind = pa.array([Kind.DDL, Kind.ROW, Kind.RESOLVED], pa.int8())
    >>> events = pa.record_batch({"kind": kind, "deliver_after_ts": [5, 7, 9]})
    >>> _first_rows(events, np.array([0, 2]), np.array([2, 1])).tolist()
    [7, -1]
    """
    after = np.append(integers(events, "deliver_after_ts"), -1)
    is_row = is_kind(events, Kind.ROW)[first]
    return np.where(is_row, after[first], np.where(sizes > 1, after[first + 1], -1))


def _runs(partition: Numbers, barriers: Flags, position: _Position) -> Numbers:
    """Return the number of barriers of the partition up to each event.

    >>> at = _Position(key=(0, 0, 0, 0), barriers=2)  # the previous batch ended in partition 0
    >>> _runs(np.array([0, 0, 1, 1]), np.array([False, True, False, True]), at).tolist()
    [2, 3, 0, 1]
    """
    total = np.cumsum(barriers)
    starts = np.flatnonzero(np.diff(partition, prepend=position.key[0]))
    base = np.zeros(len(partition), np.int64)
    base[: starts[0] if len(starts) else None] = -position.barriers
    for start in starts.tolist():
        base[start:] = total[start] - barriers[start]
    runs: Numbers = total - base
    position.barriers = int(runs[-1])
    return runs
