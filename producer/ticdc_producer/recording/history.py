"""The history of a topic: its events in the order of their commits, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.model import tso
from ticdc_producer.model.column_functions import Flags, Numbers, first_of_groups, whole_groups
from ticdc_producer.model.fingerprint import combined, text_hashes
from ticdc_producer.model.shapes import EVENT_IMAGE, RECORDED_FAULTS
from ticdc_producer.model.tso import MAX_TS

RECORDED = pa.schema([
    ("commit_ts", pa.int64()), ("seq", pa.int64()), ("statement", pa.string()), ("op", pa.string()),
    ("schema", pa.string()), ("table", pa.string()), ("before", EVENT_IMAGE), ("after", EVENT_IMAGE),
    ("row_id", pa.int64()), ("resolved", pa.int64()), ("origin", pa.string()),
])  # fmt: skip
"""The rows of a recording: those of a ``changes`` step with canonical values."""
ORDERS = {
    "changes": ("commit_ts", "rank", "topic", "partition", "offset", "index"),
    "resolved": ("resolved", "commit_ts", "topic", "partition", "offset"),
}
"""The order of the rows of which a recording is made, by their kind (``events.EventReader``)."""
_FIRST = 3
_AT_END = -1
"""The ``delivered_count`` of a position after all events of its time."""


def _ignored(_rows: pa.RecordBatch) -> None:
    """Do nothing: the default of ``Deliveries.write``."""


@dataclass
class Deliveries:
    """The events that were delivered again, and the damaged messages.

    :param write: gets them (shape ``RECORDED_FAULTS``), in no order.
    :ivar repeated: number of row events that are equal to an earlier delivery.
    :ivar damages: number of damaged messages.
    :ivar examples: the messages of the first repeated events, each with that of the first delivery.
    """

    write: Callable[[pa.RecordBatch], None] = _ignored
    repeated: int = 0
    damages: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)


def recorded_changes(
    changes: Dataset, deliveries: Deliveries, *, exact: bool, start: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the row changes and DDLs of a recording (shape ``RECORDED``), in the order of their commits.

    The first delivery of an event counts. Equal rows of a table without a handle key may be several rows, so
    only one that comes after its resolved-ts is a repetition.

    :param changes: shape ``events.CHANGES``, in their order.
    :param deliveries: gets the repetitions.
    :param exact: whether the time stamps are exact. If not, each event is a transaction of its own.
    :param start: TSO up to which only DDLs count; None: the recording has all events.
    """
    for batch in whole_groups(changes.batches(), ("commit_ts",)):
        if start is not None:
            later = pc.greater(batch.column("commit_ts"), start)
            batch = batch.filter(pc.or_(batch.column("op").is_null(), later))
        first = _first_deliveries(batch)
        firsts = np.flatnonzero(first == np.arange(len(first)))
        once = batch if len(firsts) == batch.num_rows else batch.take(pa.array(firsts))
        ts, position = _times(once, exact=exact)
        repeated = np.flatnonzero(_is_repeated(batch, first))
        if len(repeated):
            of_first = ts[np.searchsorted(firsts, first[repeated])]
            _see_repetitions(batch, repeated, first[repeated], of_first, deliveries, exact=exact)
        given = {"commit_ts": pa.array(ts), "seq": pa.array(position), "origin": origins(once)}
        yield recorded_rows(once, given)


def _first_deliveries(batch: pa.RecordBatch) -> Numbers:
    """Return for each event the number of its first delivery; its own one if it is that.

    >>> keys = {"commit_ts": [1, 1, 2], "digest": [7, 7, 7]}
    >>> _first_deliveries(pa.record_batch({**keys, "has_key": [True] * 3, "is_late": [False] * 3}))
    array([0, 0, 2])
    """
    keys = combined(batch.column("commit_ts").to_numpy(), batch.column("digest").to_numpy())
    _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
    may_repeat = pc.or_(batch.column("has_key"), batch.column("is_late")).to_numpy(zero_copy_only=False)
    first: Numbers = np.where(may_repeat, firsts[groups], np.arange(len(groups)))
    return first


def _is_repeated(batch: pa.RecordBatch, first: Numbers) -> Flags:
    """Return which events their own partition has before; a DDL comes once in every partition.

    :param first: the number of the first delivery of each event.

    >>> ddls = {"op": pa.nulls(3, pa.int8()), "topic": ["t"] * 3, "partition": [0, 1, 1]}
    >>> _is_repeated(pa.record_batch(ddls), np.zeros(3, np.int64))
    array([False, False,  True])
    """
    repeated: Flags = first != np.arange(len(first))
    ddls = np.flatnonzero(repeated & batch.column("op").is_null().to_numpy(zero_copy_only=False))
    if len(ddls):
        topics, partitions = batch.column("topic"), batch.column("partition").to_numpy()
        own = combined(first, text_hashes(topics), partitions)
        _, firsts = np.unique(own, return_index=True)
        is_first = np.isin(ddls, firsts)
        repeated[ddls[is_first]] = False
    return repeated


def _see_repetitions(
    batch: pa.RecordBatch, rows: Numbers, first: Numbers, ts: Numbers, deliveries: Deliveries, *, exact: bool
) -> None:
    """Count and write events that were delivered again.

    :param rows: their numbers.
    :param first: the numbers of their first deliveries.
    :param ts: the commit-ts of these in the recording.
    """
    again = batch.take(pa.array(rows))
    is_row = again.column("op").is_valid().to_numpy(zero_copy_only=False)
    deliveries.repeated += int(is_row.sum())
    for number in np.flatnonzero(is_row)[: _FIRST - len(deliveries.examples)].tolist():
        pair = origins(batch.take(pa.array([int(rows[number]), int(first[number])]))).to_pylist()
        deliveries.examples.append((pair[0], pair[1]))
    given = {"kind": pa.array(np.where(is_row, "row", "ddl")), "commit_ts": pa.array(ts)}
    if not exact:
        given |= _at_end(again.column("delivered_ts"))
    deliveries.write(_with_columns(again, given, RECORDED_FAULTS))


def recorded_resolved(
    resolved: Dataset, deliveries: Deliveries, start: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the resolved events of a recording (shape ``RECORDED``), each once, at its first delivery.

    :param resolved: shape ``events.RESOLVED``, in their order.
    :param deliveries: gets those that came again in their partition.
    :param start: TSO after which they are recorded; None: all.
    """
    if start is not None:
        resolved = resolved.within("resolved", start + 1, MAX_TS)
    for batch in whole_groups(resolved.batches(), ("resolved",)):
        once = batch.filter(pa.array(first_of_groups(batch, ("resolved",))))
        codes = combined(text_hashes(batch.column("topic")), batch.column("partition").to_numpy())
        in_partition = combined(batch.column("resolved").to_numpy(), codes)
        offsets = batch.column("offset").to_numpy()
        order = np.lexsort((offsets, in_partition))
        again = order[1:][in_partition[order][1:] == in_partition[order][:-1]]
        if len(again):
            repeated = batch.take(pa.array(np.sort(again)))
            given = {"kind": pa.repeat("resolved", len(again)), "commit_ts": repeated.column("resolved")}
            deliveries.write(_with_columns(repeated, given, RECORDED_FAULTS))
        origin = origins(once)
        yield recorded_rows(once, {"seq": pa.nulls(len(origin), pa.int64()).fill_null(0), "origin": origin})


def record_damages(damages: Dataset, deliveries: Deliveries, *, exact: bool, start: int | None) -> None:
    """Write the messages that do not decode, each with its position.

    :param damages: shape ``events.DAMAGES``.
    :param start: TSO after which they are recorded; None: all.
    """
    for batch in damages.batches():
        later = batch.filter(pc.greater(batch.column("delivered_ts"), -1 if start is None else start))
        ts = later.column("delivered_ts")
        given = {"kind": pa.repeat("damage", later.num_rows), "commit_ts": ts}
        deliveries.write(_with_columns(later, given if exact else given | _at_end(ts), RECORDED_FAULTS))
        deliveries.damages += later.num_rows


def _at_end(ts: pa.Array) -> dict[str, pa.Array]:
    """Return positions after all events of units of time, whose events have times of their own.

    :param ts: a TSO of each unit.
    """
    unit = ts.to_numpy() | ((1 << tso.LOGICAL_BITS) - 1)
    return {"delivered_ts": pa.array(unit), "delivered_count": pa.repeat(_AT_END, len(unit))}


def _times(batch: pa.RecordBatch, *, exact: bool) -> tuple[Numbers, Numbers]:
    """Return the commit-ts of each event in the recording, and its position among those with this commit-ts.

    >>> [column.tolist() for column in _times(pa.record_batch({"commit_ts": [5, 5, 9]}), exact=False)]
    [[5, 6, 9], [0, 0, 0]]
    """
    ts, position = batch.column("commit_ts").to_numpy(), _positions(batch)
    return (ts, position) if exact else (ts + position, np.zeros(len(position), np.int64))


def _positions(batch: pa.RecordBatch) -> Numbers:
    """Return the position of each event among those with its commit-ts.

    >>> _positions(pa.record_batch({"commit_ts": [5, 5, 9, 9, 9]})).tolist()
    [0, 1, 0, 1, 2]
    """
    first = first_of_groups(batch, ("commit_ts",))
    starts = np.flatnonzero(first)
    numbers = np.arange(batch.num_rows)
    positions: Numbers = numbers - starts[np.cumsum(first) - 1]
    return positions


def origins(batch: pa.RecordBatch) -> pa.Array:
    """Return the position of each event's message as text."""
    partition, offset = (batch.column(name).cast(pa.string()) for name in ("partition", "offset"))
    partitions = pc.binary_join_element_wise(batch.column("topic"), partition, "/")
    return pc.binary_join_element_wise(partitions, offset, "@")


def recorded_rows(batch: pa.RecordBatch, given: dict[str, pa.Array]) -> pa.RecordBatch:
    """Return rows of a recording; the columns that neither the batch nor the others have are NULL."""
    return _with_columns(batch, given, RECORDED)


def _with_columns(batch: pa.RecordBatch, given: Mapping[str, pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    columns = {name: batch.column(name) for name in batch.schema.names} | {**given}
    nulls = (pa.nulls(batch.num_rows, column.type) for column in schema)
    arrays = [columns.get(name, null) for name, null in zip(schema.names, nulls, strict=True)]
    typed = [
        array if array.type == column.type else array.cast(column.type)
        for array, column in zip(arrays, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(typed, schema=schema)
