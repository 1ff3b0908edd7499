"""The events of messages, as the rows from which a recording is made.

A part reads messages in the order of their partitions and offsets, because what is late in a partition
follows from the messages before it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Part, Tagged
from ticdc_producer.masks.events import EventMasks
from ticdc_producer.model.column_functions import Flags, Numbers, filtered, of_partitions
from ticdc_producer.model.event import Op
from ticdc_producer.model.fingerprint import combined, not_zero, value_hashes
from ticdc_producer.model.shapes import EVENT_IMAGE, DecodedBatch
from ticdc_producer.recording.marks import Marked, Marks, maxima
from ticdc_producer.recording.selection import Selection
from ticdc_producer.recording.summary import Summary
from ticdc_producer.rows.columns import damage_error, rejected_value
from ticdc_producer.targets.decode import EventsFunction
from ticdc_producer.verifier.event_layouts import LayoutBatch
from ticdc_producer.verifier.events import EventKind

CHANGES = pa.schema([
    ("commit_ts", pa.int64()), ("rank", pa.int8()), ("topic", pa.string()), ("partition", pa.int32()),
    ("offset", pa.int64()), ("index", pa.int32()), ("digest", pa.int64()), ("is_late", pa.bool_()),
    ("has_key", pa.bool_()), ("statement", pa.string()), ("op", pa.string()), ("schema", pa.string()),
    ("table", pa.string()), ("before", EVENT_IMAGE), ("after", EVENT_IMAGE), ("row_id", pa.int64()),
    ("old_key", pa.int64()), ("new_key", pa.int64()), ("delivered_ts", pa.int64()),
    ("delivered_count", pa.int32()),
])  # fmt: skip
"""Row changes and DDLs. ``digest`` is equal for equal events, ``is_late`` says that the partition had a
resolved-ts of the commit-ts or above. ``old_key`` and ``new_key`` are digests of the handle key's values
before and after the change; 0: there is none. ``delivered_ts`` and ``delivered_count`` are its position
among the events of its partition (``marks.Marked``)."""
RESOLVED = pa.schema([
    ("resolved", pa.int64()), ("commit_ts", pa.int64()), ("topic", pa.string()), ("partition", pa.int32()),
    ("offset", pa.int64()), ("delivered_ts", pa.int64()), ("delivered_count", pa.int32()),
])  # fmt: skip
"""Resolved events. ``commit_ts`` is the TSO after whose commits the event was delivered; the last two columns
are as in ``CHANGES``."""
DAMAGES = pa.schema([
    ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("delivered_ts", pa.int64()),
    ("delivered_count", pa.int32()), ("key", pa.binary()), ("value", pa.binary()), ("error", pa.string()),
])  # fmt: skip
"""Messages that do not decode; the columns are those of ``shapes.RECORDED_FAULTS``."""
DELETED, CHANGED, DDL = range(3)
"""The ranks of the events with one commit-ts: rows before DDLs, as TiCDC sends them, and deletes before
others, because a transaction may give the unique keys of deleted rows to others."""

_POSITION = ("topic", "partition", "offset", "index")
_ONLY_KEY = "the message has the handle key alone, because the row was too large for it"
_NO_TIME = "the event has no commit-ts"


@dataclass(frozen=True, kw_only=True)
class EventReader:
    """The function from messages to the rows of a recording: ``changes``, ``resolved`` and ``damages``.

    :param decode: from messages to events with the ids of their rows.
    :param selection: the events that are recorded.
    :param exact: whether the time stamps of rows and DDLs are exact. If not, the order of the events in their
        partition says more than the time stamps.
    :param skip_damaged: count messages that cannot be recorded, and keep those of topics that do not decode;
        otherwise the first one is an error.
    :param mask: masks the events, before anything is stored; None: they stay.
    :param times_deletes: whether a delete without a commit-ts gets the first one after the event before it in
        its partition.
    :param in_files: whether the messages are rows of files, whose offsets do not say where a topic begins.
    """

    decode: EventsFunction
    selection: Selection
    exact: bool
    skip_damaged: bool
    mask: EventMasks | None = None
    times_deletes: bool = False
    in_files: bool = False

    def __call__(self, _part: Part, messages: Batches) -> Generator[Tagged, None, Summary]:
        """Yield the rows of the messages.

        :raises ProducerError: for a message that cannot be recorded.
        """
        summary, marks, highest = Summary(), Marks(), dict[tuple[str, int], int]()
        last: dict[tuple[str, int], int] = {}
        for events in self.decode(messages):
            batch = _with_times(events.batch, last) if self.times_deletes else events.batch
            layout_numbers = events.layout_numbers if events.rows else None
            received = LayoutBatch(batch, layout_numbers=layout_numbers)
            if not self.in_files:
                summary.see_messages(events.messages, received.decoded, self.selection)
            is_recorded = self._recorded(received, highest, summary)
            numbers = np.repeat(np.arange(len(events.counts)), events.counts)[is_recorded]
            recorded = filtered(received.decoded, is_recorded)
            batch, row_ids = self._masked(recorded, events.all_row_ids[is_recorded])
            if not batch.num_rows:
                continue
            summary.see_recorded(batch)
            layouts = received
            if batch is not received.decoded:  # the layouts of masked rows may lack columns
                if layout_numbers is not None:
                    layout_numbers = layout_numbers[is_recorded] if self.mask is None else None
                layouts = LayoutBatch(batch, layout_numbers=layout_numbers)
            is_resolved, is_damage = layouts.kind == EventKind.RESOLVED, layouts.kind == EventKind.ERROR
            keys, digests = _keys(layouts, summary), _digests(layouts, row_ids)
            keyless = (layouts.kind == EventKind.ROW) & (keys[0] == 0) & (keys[1] == 0)
            if keyless.any():
                summary.see_keyless(batch, keyless)
            has_key = ~keyless | (row_ids != 0)
            marked = marks.advance(batch, is_resolved, is_damage, digests, has_key)
            if is_resolved.any():
                yield "resolved", _resolved(batch, is_resolved, marked)
            if is_damage.any():
                of_rows = events.messages.take(pa.array(numbers[is_damage]))
                yield "damages", _damages(batch, is_damage, marked, of_rows, masked=self.mask is not None)
            is_change = ~(is_resolved | is_damage)
            if is_change.any():
                changes = _changes(layouts, row_ids, has_key, marked, keys, digests, exact=self.exact)
                yield "changes", filtered(changes, is_change)
        return summary

    def _recorded(self, layouts: LayoutBatch, highest: dict[tuple[str, int], int], summary: Summary) -> Flags:
        """Return which events are recorded.

        A damaged message is, unless an event before it in its partition commits after ``until``.

        :param highest: the highest commit-ts of each partition so far; it is updated.
        """
        batch = layouts.decoded
        damaged, error = self._damaged(layouts)
        summary.damaged += int(damaged.sum())
        recorded: Flags = self.selection.events(layouts) & ~damaged
        if self.in_files:
            return recorded
        for name, rows in of_partitions(batch):
            early = maxima(layouts.commit_ts[rows], highest, name) <= self.selection.until
            recorded[rows] |= error[rows] & early
        return recorded

    def _masked(self, batch: DecodedBatch, row_ids: Numbers) -> tuple[DecodedBatch, Numbers]:
        """Return events and the ids of their rows, masked if they are to be."""
        if self.mask is None:
            return batch, row_ids
        return self.mask(batch), np.where(self.mask.hides_row_id(batch), 0, row_ids)

    def _damaged(self, layouts: LayoutBatch) -> tuple[Flags, Flags]:
        """Return which events cannot be recorded, and which of them are messages that do not decode.

        :raises ProducerError: for the first one, if they are not to be left out.
        """
        batch, is_row = layouts.decoded, layouts.kind == EventKind.ROW
        error: Flags = layouts.kind == EventKind.ERROR
        only_key = is_row & (layouts.integers("handle_key_only") == 1) & (layouts.op != Op.DELETE)
        timeless = is_row & (layouts.commit_ts == 0)
        damaged: Flags = error | only_key | timeless
        if damaged.any() and not self.skip_damaged:
            first = int(np.argmax(damaged))
            if error[first]:
                damage = damage_error(batch, first)
                damage.hint = "`skip_damaged` leaves it out"
                raise damage.about("skip_damaged")
            what, hint = (
                (_ONLY_KEY, "the row is known to the upstream alone; `skip_damaged` leaves it out")
                if only_key[first]
                else (_NO_TIME, "record a topic of a changefeed with enable-tidb-extension=true")
            )
            raise rejected_value(batch, first, what, hint).about("skip_damaged")
        return damaged, error


def _with_times(batch: DecodedBatch, last: dict[tuple[str, int], int]) -> DecodedBatch:
    """Return events of which deletes without a commit-ts have the first one after the event before them.

    >>> columns = {"topic": ["t"] * 4, "partition": [0] * 4, "op": ["delete", "insert", "delete", "delete"]}
    >>> batch, last = pa.record_batch(columns | {"commit_ts": [None, 5, None, 9]}), {("t", 0): 3}
    >>> _with_times(batch, last).column("commit_ts").to_pylist(), last
    ([4, 5, 6, 9], {('t', 0): 9})

    :param last: the commit-ts of the last event of each partition that has one; it is updated.
    """
    ts = pc.fill_null(batch.column("commit_ts"), 0).to_numpy().copy()
    deleted = pc.fill_null(pc.equal(batch.column("op"), Op.DELETE.label), False)
    timeless = (ts == 0) & deleted.to_numpy(zero_copy_only=False)
    for name, rows in of_partitions(batch):
        known = np.concatenate([[last.get(name, 0)], ts[rows]])
        latest = known[np.maximum.accumulate(np.where(known > 0, np.arange(len(known)), 0))]
        last[name] = int(latest[-1])
        own = timeless[rows] & (latest[1:] > 0)
        ts[rows[own]] = latest[1:][own] + 1
    column = pa.array(ts, mask=(ts == 0) & batch.column("commit_ts").is_null().to_numpy(zero_copy_only=False))
    return batch.set_column(batch.schema.get_field_index("commit_ts"), "commit_ts", column)


def _resolved(batch: DecodedBatch, rows: Flags, marked: Marked) -> pa.RecordBatch:
    resolved = batch.filter(pa.array(rows))
    ts = resolved.column("commit_ts")
    after = pa.array(np.maximum(marked.highest[rows], ts.to_numpy()))
    positions = [resolved.column(name) for name in ("topic", "partition", "offset")]
    among = [pa.array(marked.position_ts[rows]), pa.array(marked.position_count[rows].astype(np.int32))]
    return pa.RecordBatch.from_arrays([ts, after, *positions, *among], schema=RESOLVED)


def _damages(
    batch: DecodedBatch, rows: Flags, marked: Marked, messages: pa.RecordBatch, *, masked: bool
) -> pa.RecordBatch:
    """Return the damaged messages (shape ``DAMAGES``).

    :param messages: shape ``MESSAGES``.
    """
    damaged = batch.filter(pa.array(rows))
    position = pa.array(marked.position_ts[rows]), pa.array(marked.position_count[rows].astype(np.int32))
    nulls = pa.nulls(damaged.num_rows, pa.binary())
    content = (nulls, nulls) if masked else (messages.column("key"), messages.column("value"))
    columns = [damaged.column(name) for name in ("topic", "partition", "offset")]
    return pa.RecordBatch.from_arrays(
        [*columns, *position, *content, damaged.column("error")], schema=DAMAGES
    )


def _changes(
    layouts: LayoutBatch,
    row_ids: Numbers,
    has_key: Flags,
    marked: Marked,
    keys: tuple[Numbers, Numbers],
    digests: Numbers,
    *,
    exact: bool,
) -> pa.RecordBatch:
    batch = layouts.decoded
    is_ddl, is_delete = layouts.kind == EventKind.DDL, layouts.op == Op.DELETE
    ranks = np.where(is_ddl, DDL, np.where(is_delete, DELETED, CHANGED))
    columns = {
        **{name: batch.column(name) for name in (*_POSITION, "commit_ts", "op", "table", "before", "after")},
        "rank": pa.array((ranks if exact else np.full(len(ranks), CHANGED)).astype(np.int8)),
        "digest": pa.array(digests),
        "is_late": pa.array(marked.is_late),
        "has_key": pa.array(has_key),
        "statement": batch.column("query"),
        # The database of a DDL of a database may not exist before it.
        "schema": pc.if_else(pc.equal(batch.column("table"), ""), None, batch.column("schema")),
        "row_id": pa.array(row_ids, mask=row_ids == 0),
        "old_key": pa.array(keys[0]),
        "new_key": pa.array(keys[1]),
        "delivered_ts": pa.array(marked.position_ts),
        "delivered_count": pa.array(marked.position_count.astype(np.int32)),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in CHANGES.names], schema=CHANGES)


def _digests(events: LayoutBatch, row_ids: Numbers) -> Numbers:
    query, images = value_hashes(events.decoded.column("query")), (events.old.hashes, events.new.hashes)
    return combined(events.kind, events.tables, events.op, query, *images, row_ids).view(np.int64)


def _keys(events: LayoutBatch, summary: Summary) -> tuple[Numbers, Numbers]:
    """Return the digests of each row's handle key before and after; 0: it is not known."""
    old, new = (np.zeros(events.decoded.num_rows, np.int64) for _ in range(2))
    for layout in events.layouts():
        summary.see_rows(events.decoded, layout)
        names = layout.handle_names
        sides = (old, layout.before, layout.old_images), (new, layout.after, layout.new_images)
        for digests, known, images in sides:
            if names and known.keys() >= {*names}:
                starts = images.lists.starts[layout.rows]
                hashes = combined(*(images.value_hashes[starts + known[name]] for name in names))
                digests[layout.rows] = np.where(images.lists.present[layout.rows], not_zero(hashes), 0)
    return old, new
