"""Illegal faults in the event stream: defects that TiCDC must never produce.

Only the events of the segments that the plan reserves for them are looked at. Each fault has a condition
that an event must meet and an edit; one of the events that meet it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.event_columns import Columns, chosen, has_op, integers, is_kind, replaced
from ticdc_producer.faults.neighbours import Neighbours
from ticdc_producer.faults.plan import IllegalFault
from ticdc_producer.faults.seeded_hash import seeded_hash
from ticdc_producer.faults.table_facts import TableFacts
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.shapes import DELIVERY_KEY
from ticdc_producer.pipeline.row_images import Flags, column_values, same_values

DROPPED = 0
"""``kind`` of an event that a fault removed: the row marks the position and is not sent."""
_AFTER_ORIGINAL = 100
"""``delivery_no`` that sorts an event directly after the one whose delivery key it copies."""
_FIRST = {"kind_order": -1, "txn_order_key": b""}
"""The part of the delivery key that sorts an event before all others of its commit."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """What an illegal fault changes.

    :param fits: which events meet its condition.
    :param changes: new values of columns, for the number of an event.
    :param adds: whether the changed event is added after the original instead of replacing it.
    :param several: whether the topic needs several partitions for the fault to be visible.
    """

    fits: Flags
    changes: Callable[[int], Columns]
    adds: bool = False
    several: bool = False


def illegal_fault(
    events: pa.RecordBatch, fault: IllegalFault, seed: int, facts: TableFacts, partitions: int
) -> pa.RecordBatch:
    """Inject an illegal fault into one event of its segments, if any fits.

    A removed event remains, with the kind ``DROPPED``.

    :param events: all events of the segments that are reserved for the fault (shape ``EVENT_STREAM``).
    :param partitions: number of partitions of a topic.
    """
    make = _EDITS.get(fault.trap)
    if make is None or not events.num_rows:
        return events
    group = _Group(events, facts, partitions)
    edit = make(group)
    if edit.several and partitions == 1:
        return events
    drawn = group.first_drawn(edit.fits, fault, seed)
    if drawn is None:
        return events
    changed = replaced(events.slice(drawn, 1), {**edit.changes(drawn), "fault": fault.trap})
    gone = np.zeros(events.num_rows, bool)
    gone[drawn] = not edit.adds
    parts = [changed]
    if fault.trap == "unsplit":
        partner = group.neighbours.partners(drawn) & has_op(events, Op.DELETE)
        parts.append(replaced(events.filter(pa.array(partner)), {"kind": DROPPED, "fault": fault.trap}))
        gone |= partner
    return pa.concat_batches([chosen(events, ~gone), *parts])


@dataclass(frozen=True)
class _Group:
    """The events of the segments of one fault."""

    events: pa.RecordBatch
    facts: TableFacts
    partitions: int

    @cached_property
    def neighbours(self) -> Neighbours:
        return Neighbours(self.events, self.facts)

    def first_drawn(self, fits: Flags, fault: IllegalFault, seed: int) -> int | None:
        """The event that is changed; None if none fits."""
        keys = (self.events.column(name) for name in ("partition_index", "deliver_after_ts", "txn_order_key"))
        hashes = seeded_hash(seed, "illegal", len(fits), fault.trap, fault.number, *keys)
        candidates = np.flatnonzero(fits)
        if not len(candidates):
            return None
        least = candidates[hashes[candidates] == hashes[candidates].min()]
        tied = self.events.select(DELIVERY_KEY).take(pa.array(least))
        return int(least[pc.sort_indices(tied, [(name, "ascending") for name in DELIVERY_KEY])[0].as_py()])

    def rows(self, *ops: Op) -> Flags:
        return has_op(self.events, *ops or Op)

    def value(self, name: str, number: int) -> pa.Array:
        return self.events.column(name).slice(number, 1)

    def differs(self) -> Flags:
        """Which updates change a column that is in no index."""
        versions, found = integers(self.events, "table_version"), np.zeros(self.events.num_rows, bool)
        updates = self.rows(Op.UPDATE)
        for version in np.unique(versions[updates]).tolist():
            rows = np.flatnonzero(updates & (versions == version))
            for index in self.facts.unindexed[version]:
                values = [
                    column_values(self.events.column(name), rows, index) for name in ("before", "after")
                ]
                found[rows] |= ~same_values(*values)
        return found


def _removal(fits: Flags, *, several: bool = False) -> _Edit:
    return _Edit(fits, lambda _: {"kind": DROPPED}, several=several)


def _early_resolved(group: _Group) -> _Edit:
    times, epochs = group.neighbours.row_before
    fits = is_kind(group.events, Kind.RESOLVED) & (times >= 0)
    return _Edit(fits, lambda n: _moved_before(times[n], epochs[n]))


def _ddl_before_its_rows(group: _Group) -> _Edit:
    times, epochs = group.neighbours.table_row_before
    fits = is_kind(group.events, Kind.DDL) & (times >= 0)
    return _Edit(fits, lambda n: _moved_before(times[n], epochs[n]))


def _moved_before(after_ts: int, restart_epoch: int) -> Columns:
    """The delivery key of an event that precedes all rows of an earlier commit."""
    first: Columns = {name: pa.array([value]) for name, value in _FIRST.items()}
    return {**first, "deliver_after_ts": int(after_ts), "restart_epoch": int(restart_epoch)}


def _reordered_key(group: _Group) -> _Edit:
    following = group.neighbours.next_of_row
    times = integers(group.events, "deliver_after_ts")
    fits = (following >= 0) & (times[following] > times)

    def changes(number: int) -> Columns:
        position: Columns = {name: group.value(name, int(following[number])) for name in DELIVERY_KEY}
        return {**position, "delivery_no": _AFTER_ORIGINAL}

    return _Edit(fits, changes)


def _wrong_partition(group: _Group) -> _Edit:
    partition = integers(group.events, "partition")
    index = integers(group.events, "partition_index")

    def changes(number: int) -> Columns:
        other = int(partition[number] + 1) % group.partitions
        return {"partition": other, "partition_index": int(index[number] - partition[number]) + other}

    return _Edit(group.rows(), changes, several=True)


def _changed_duplicate(group: _Group) -> _Edit:
    def changes(number: int) -> Columns:
        return {"after": group.value("before", number), "delivery_no": _AFTER_ORIGINAL}

    return _Edit(group.differs(), changes, adds=True)


def _uncollapsed(group: _Group) -> _Edit:
    def changes(number: int) -> Columns:
        image = group.value("after", number)
        return {"op": int(Op.UPDATE), "before": image, "delivery_no": _AFTER_ORIGINAL}

    return _Edit(group.rows(Op.INSERT) & ~group.neighbours.split_halves, changes, adds=True)


def _unsplit(group: _Group) -> _Edit:
    deleted = group.neighbours.deleted_half

    def changes(number: int) -> Columns:
        return {"op": int(Op.UPDATE), "before": group.value("before", int(deleted[number]))}

    return _Edit(group.rows(Op.INSERT) & (deleted >= 0), changes)


def _schema_drift(group: _Group) -> _Edit:
    versions = integers(group.events, "table_version")
    fits = group.rows() & np.isin(versions, list(group.facts.drifted))
    return _Edit(fits, lambda number: {"table_version": group.facts.drifted[int(versions[number])]})


_EDITS: Mapping[str, Callable[[_Group], _Edit]] = {
    "lost-row": lambda group: _removal(group.rows()),
    "reordered-key": _reordered_key,
    "wrong-partition": _wrong_partition,
    "early-resolved": _early_resolved,
    # A later resolved event shows that the partition did not merely end.
    "missing-resolved": lambda group: _removal(group.neighbours.has_later_resolved, several=True),
    "missing-ddl": lambda group: _removal(is_kind(group.events, Kind.DDL), several=True),
    "ddl-before-its-rows": _ddl_before_its_rows,
    "changed-duplicate": _changed_duplicate,
    "stale-before-image": lambda group: _Edit(
        group.differs(), lambda number: {"before": group.value("after", number)}
    ),
    "uncollapsed": _uncollapsed,
    "unsplit": _unsplit,
    "schema-drift": _schema_drift,
}
