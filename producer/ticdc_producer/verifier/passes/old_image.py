"""Compares the old image of an update or delete with the values of the row's previous event: INV-OLD-IMAGE.

Fingerprints select the suspected events. Only their images are compared, column by column: the columns that
both images have, JSON by value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part, Sides
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event_line import ColumnDescription, DecodedRow, RowImage
from ticdc_producer.model.fingerprint import combined, text_hashes
from ticdc_producer.model.shapes import DECODED, BatchFunction
from ticdc_producer.verifier.events import INDEX_BITS, EventID
from ticdc_producer.verifier.finding import image_of, readable
from ticdc_producer.verifier.invariants.row_state import OLD_IMAGE, history_severity
from ticdc_producer.verifier.messages import LOCATION
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.row_history import RowHistory
from ticdc_producer.verifier.violations import ViolationCounts, Violations

SUSPECTED = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("index", pa.int32()),
        ("previous_partition", pa.int32()),
        ("previous_offset", pa.int64()),
        ("previous_index", pa.int32()),
    ]
)
"""An event whose old image has another fingerprint than the previous event's new image, and that event."""


def suspected(history: RowHistory) -> pa.RecordBatch:
    """Return the events whose images must be compared (:data:`SUSPECTED`)."""
    rows = np.flatnonzero(history.wrong_old)
    changes = history.changes
    topics = changes.topic.take(pa.array(rows))
    own = _location(changes.partition[rows], changes.position[rows])
    before = _location(history.previous(changes.partition)[rows], history.previous(changes.position)[rows])
    table = pa.Table.from_arrays([topics, *own, *before], SUSPECTED.names).cast(SUSPECTED)
    return pa.concat_batches(table.to_batches()) if len(rows) else pa.RecordBatch.from_pylist([], SUSPECTED)


def _location(partition: Numbers, position: Numbers) -> list[pa.Array]:
    offset, index = position >> INDEX_BITS, position & ((1 << INDEX_BITS) - 1)
    return [pa.array(column) for column in (partition, offset, index)]


class SuspectedRow(TypedDict):
    """A row of :data:`SUSPECTED`."""

    topic: str
    partition: int
    offset: int
    index: int
    previous_partition: int
    previous_offset: int
    previous_index: int


class ImagePair(SuspectedRow):
    """A suspected event with its description, and the new image of the event before it."""

    op: str | None
    columns: Sequence[ColumnDescription] | None
    before: RowImage | None
    after: RowImage | None
    previous_after: RowImage | None


def event_pair(row: SuspectedRow) -> tuple[EventID, EventID]:
    """Return the previous event and the suspected one of a row of :data:`SUSPECTED`."""
    return (
        (row["topic"], row["previous_partition"], row["previous_offset"], row["previous_index"]),
        (row["topic"], row["partition"], row["offset"], row["index"]),
    )


def with_images(
    candidates: Sequence[SuspectedRow],
    rows_at: Callable[[Iterable[EventID]], Mapping[EventID, DecodedRow]],
) -> Iterator[ImagePair]:
    """Yield a few suspected events with the images that ``old_image_violations`` compares.

    :param candidates: rows of :data:`SUSPECTED`.
    :param rows_at: returns the decoded events at some positions.
    """
    rows = rows_at(event for row in candidates for event in event_pair(row))
    for candidate in candidates:
        previous, event = event_pair(candidate)
        yield _image_pair(rows[event], candidate, rows[previous]["after"])


def _image_pair(event: DecodedRow, candidate: SuspectedRow, previous_after: RowImage | None) -> ImagePair:
    return {
        **candidate,
        "op": event["op"],
        "columns": event["columns"],
        "before": event["before"],
        "after": event["after"],
        "previous_after": previous_after,
    }


def old_image_violations(rows: Iterable[ImagePair], options: VerifyOptions) -> Violations:
    """Return the suspected events whose images really differ.

    :param rows: :data:`SUSPECTED` with ``op``, ``columns``, ``before`` and ``after`` of the event, and
        ``previous_after``.
    """
    differing = [(event_pair(row), detail) for row in rows if (detail := difference(row, options))]
    return Violations.of_positions(
        history_severity(options),
        [event[0] for (_, event), _ in differing],
        [
            [(partition, (offset << INDEX_BITS) + index) for _, partition, offset, index in pair]
            for pair, _ in differing
        ],
        lambda number: differing[number][1],
    )


def difference(event: ImagePair, options: VerifyOptions) -> str:
    """Return the columns in which an event's old image differs from the new image of the previous event."""
    old, new = image_of(event["before"]), image_of(event["previous_after"])
    if options.fidelity.old_values == "updated" and event["op"] == "update":
        old = image_of(event["after"]) | old
    documents = {column["name"] for column in event["columns"] or () if column["type"].lower() == "json"}
    return "; ".join(
        f"{name}: the old image has {readable(old[name])}, the previous event left {readable(new[name])}"
        for name in sorted(old)
        if name in new and not _same(old[name], new[name], is_document=name in documents)
    )


def _same(old: bytes | None, new: bytes | None, *, is_document: bool) -> bool:
    if old == new:
        return True
    if not is_document or old is None or new is None:
        return False
    try:
        return bool(json.loads(old) == json.loads(new))
    except (ValueError, RecursionError):
        return False


FEW_SUSPECTED = 1000
"""Up to this many suspected events, their messages are read one by one."""
_BUCKET = "bucket"
_BUCKETS = 1 << 20
_PREVIOUS = ("topic", "previous_partition", "previous_offset", "previous_index")
_IMAGES = pa.schema(
    [
        *(DECODED.field(name) for name in (*LOCATION, "op", "columns", "before", "after")),
        (_BUCKET, pa.int64()),
    ]
)
_IN_BUCKETS = SUSPECTED.append(pa.field(_BUCKET, pa.int64()))
_WITH_PREVIOUS = _IN_BUCKETS.append(pa.field("previous_after", DECODED.field("after").type))


def suspected_violations(
    engine: Engine,
    pairs: Dataset,
    number: int,
    messages: Dataset,
    decode: BatchFunction,
    options: VerifyOptions,
    rows_at: Callable[[Iterable[EventID]], Mapping[EventID, DecodedRow]],
    snapshot: Dataset | None = None,
) -> list[ViolationCounts]:
    """Compare the images of suspected events with those of the events before them.

    Only messages with these events are decoded.

    :param pairs: :data:`SUSPECTED`.
    :param number: of rows in ``pairs``.
    :param messages: all messages (shape ``MESSAGES``).
    :param rows_at: returns the decoded events at some positions.
    :param snapshot: events before the stream (shape ``EXPECTED_EVENTS``).
    """
    if number <= FEW_SUSPECTED:
        few = ViolationCounts(options.examples)
        candidates = with_images(pairs.small(FEW_SUSPECTED).to_pylist(), rows_at)
        few.add(OLD_IMAGE.id, old_image_violations(candidates, options))
        return [few]
    marked = np.bitwise_or.reduce(pairs.results(_marked_buckets))

    def images(batches: Batches) -> Batches:
        selected = (batch.filter(pa.array(_is_marked(marked, batch))) for batch in batches)
        for decoded in decode(batch for batch in selected if batch.num_rows):
            yield _images(decoded)

    in_buckets = pairs.map(lambda batches: (_in_buckets(batch, _PREVIOUS) for batch in batches), _IN_BUCKETS)

    def earlier_images(batches: Batches) -> Batches:
        for batch in batches:
            of_batch = _images(batch)
            yield of_batch.filter(pa.array(_is_marked(marked, of_batch)))

    all_images = messages.map(images, _IMAGES)
    if snapshot is not None:
        all_images = all_images.union(snapshot.map(earlier_images, _IMAGES))
    with all_images.cached() as decoded:
        before = engine.grouped({"pairs": in_buckets, "images": decoded}, _BUCKET)
        pairs_with_image = before.map(_with_previous, _WITH_PREVIOUS)
        both = engine.grouped({"pairs": pairs_with_image, "images": decoded}, _BUCKET)
        return both.results(partial(_checked_pairs, options))


def _checked_pairs(options: VerifyOptions, sides: Iterator[Sides]) -> ViolationCounts:
    """Compare the images of the events of some buckets with those of the events before them."""
    counts = ViolationCounts(options.examples)
    for groups in sides:
        by_event = _by_location(groups["images"], groups["pairs"], LOCATION)
        rows: list[Any] = [
            {**by_event[event_pair(pair)[1]], **pair}
            for pair in groups["pairs"].to_pylist()
            if event_pair(pair)[1] in by_event
        ]
        counts.add(OLD_IMAGE.id, old_image_violations(rows, options))
    return counts


def _with_previous(sides: Iterator[Sides]) -> Batches:
    """Yield the pairs with the new image of the previous event, in the buckets of the suspected events."""
    for groups in sides:
        by_event = _by_location(groups["images"], groups["pairs"], _PREVIOUS)
        rows = [
            {**pair, "previous_after": by_event[previous]["after"]}
            for pair in groups["pairs"].to_pylist()
            if (previous := event_pair(pair)[0]) in by_event
        ]
        batch = pa.RecordBatch.from_pylist(rows, _WITH_PREVIOUS)
        bucket = batch.schema.get_field_index(_BUCKET)
        yield batch.set_column(bucket, batch.schema.field(bucket), pa.array(_buckets(batch, LOCATION)))


def _by_location(
    images: pa.RecordBatch, pairs: pa.RecordBatch, names: Sequence[str]
) -> dict[EventID, dict[str, Any]]:
    """Return the events of some pairs that are among the images, by their location."""
    in_pairs = np.isin(images.column(_BUCKET).to_numpy(), _buckets(pairs, names))
    rows = images.filter(pa.array(in_pairs)).to_pylist()
    return {tuple(row[name] for name in LOCATION): row for row in rows}


def _buckets(rows: pa.RecordBatch, names: Sequence[str]) -> Numbers:
    """Return a hash of topic and numbers of each row."""
    topic, *numbers = names
    columns = (rows.column(name).to_numpy() for name in numbers)
    return combined(text_hashes(rows.column(topic)), *columns).view(np.int64)


def _in_buckets(pairs: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    return pairs.append_column(_BUCKET, pa.array(_buckets(pairs, names)))


def _marked_buckets(_part: Part, batches: Batches) -> npt.NDArray[np.bool_]:
    """Return a table in which the messages of all events of the pairs are marked by their hash."""
    marked = np.zeros(_BUCKETS, bool)
    for pairs in batches:
        for names in (LOCATION, _PREVIOUS):
            marked[_buckets(pairs, names[:3]) % _BUCKETS] = True
    return marked


def _is_marked(marked: npt.NDArray[np.bool_], messages: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    return marked[_buckets(messages, LOCATION[:3]) % _BUCKETS]


def _images(decoded: pa.RecordBatch) -> pa.RecordBatch:
    rows = decoded.filter(pc.equal(decoded.column("kind"), "row"))
    names = [name for name in _IMAGES.names if name != _BUCKET]
    return pa.record_batch([*rows.select(names).columns, pa.array(_buckets(rows, LOCATION))], schema=_IMAGES)
