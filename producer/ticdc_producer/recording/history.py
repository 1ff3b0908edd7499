"""The history of a topic: its events in the order of their commits, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.model.column_functions import first_of_groups, whole_groups
from ticdc_producer.model.shapes import EVENT_IMAGE
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.verifier.fingerprint import Numbers, combined

RECORDED = pa.schema([
    ("commit_ts", pa.int64()), ("seq", pa.int64()), ("statement", pa.string()), ("op", pa.string()),
    ("schema", pa.string()), ("table", pa.string()), ("before", EVENT_IMAGE), ("after", EVENT_IMAGE),
    ("row_id", pa.int64()), ("resolved", pa.int64()), ("origin", pa.string()),
])  # fmt: skip
"""The rows of a recording: those of a ``changes`` step with canonical values."""
_IN_ORDER = ("commit_ts", "rank", "topic", "partition", "offset", "index")
_FIRST = 3


@dataclass
class Deliveries:
    """The events that were delivered again.

    :ivar repeated: number of row events that are equal to an earlier delivery.
    :ivar examples: the messages of the first of them, each with that of the first delivery.
    """

    repeated: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)


def recorded_changes(
    changes: Dataset, deliveries: Deliveries, *, exact: bool, start: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the row changes and DDLs of a recording (shape ``RECORDED``), in the order of their commits.

    The first delivery of an event counts. Equal rows of a table without a handle key may be several rows, so
    only one that comes after its resolved-ts is a repetition.

    :param changes: shape ``events.CHANGES``.
    :param deliveries: gets the repetitions.
    :param exact: whether the time stamps are exact. If not, each event is a transaction of its own.
    :param start: TSO up to which only DDLs count; None: the recording has all events.
    """
    ordered = changes.in_order(*_IN_ORDER).batches()
    for batch in whole_groups(ordered, ("commit_ts",)):
        if start is not None:
            later = pc.greater(batch.column("commit_ts"), start)
            batch = batch.filter(pc.or_(batch.column("op").is_null(), later))
        once = batch.take(pa.array(_first_deliveries(batch, deliveries)))
        ts, position = once.column("commit_ts").to_numpy(), _positions(once)
        if not exact:
            ts, position = ts + position, np.zeros(len(position), np.int64)
        given = {"commit_ts": pa.array(ts), "seq": pa.array(position), "origin": origins(once)}
        yield recorded_rows(once, given)


def _first_deliveries(batch: pa.RecordBatch, deliveries: Deliveries) -> Numbers:
    """Return the numbers of the events that are no repetitions."""
    keys = combined(batch.column("commit_ts").to_numpy(), batch.column("digest").to_numpy())
    _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
    first = firsts[groups]
    may_repeat = pc.or_(batch.column("has_key"), batch.column("is_late")).to_numpy(zero_copy_only=False)
    repeated = (first != np.arange(len(first))) & may_repeat
    is_row = batch.column("op").is_valid().to_numpy(zero_copy_only=False)  # a DDL comes in every partition
    rows = np.flatnonzero(repeated & is_row)
    deliveries.repeated += len(rows)
    for row in rows[: _FIRST - len(deliveries.examples)].tolist():
        again, origin = origins(batch.take(pa.array([row, int(first[row])]))).to_pylist()
        deliveries.examples.append((again, origin))
    return np.flatnonzero(~repeated)


def recorded_resolved(resolved: Dataset, start: int | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the resolved events of a recording (shape ``RECORDED``), each once, at its first delivery.

    :param resolved: shape ``events.RESOLVED``.
    :param start: TSO after which they are recorded; None: all.
    """
    if start is not None:
        resolved = resolved.within("resolved", start + 1, MAX_TS)
    ordered = resolved.in_order("resolved", "commit_ts", "topic", "partition", "offset").batches()
    for batch in whole_groups(ordered, ("resolved",)):
        once = batch.filter(pa.array(first_of_groups(batch, ("resolved",))))
        origin = origins(once)
        yield recorded_rows(once, {"seq": pa.nulls(len(origin), pa.int64()).fill_null(0), "origin": origin})


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
    columns = {name: batch.column(name) for name in batch.schema.names} | given
    nulls = (pa.nulls(batch.num_rows, column.type) for column in RECORDED)
    arrays = [columns.get(name, null) for name, null in zip(RECORDED.names, nulls, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=RECORDED)
