"""Compares the old image of an update or delete with the values of the row's previous event: INV-OLD-IMAGE.

Fingerprints select the suspected events. Only their images are compared, column by column: the columns that
both images have, JSON by value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.verifier.events import INDEX_BITS
from ticdc_producer.verifier.fingerprint import Numbers
from ticdc_producer.verifier.invariants.row_state import history_severity
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.readable import image_of, readable
from ticdc_producer.verifier.row_history import RowHistory
from ticdc_producer.verifier.violations import EventID, EventPositions, Violations

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
    """The events whose images must be compared (:data:`SUSPECTED`)."""
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


def event_pair(row: Mapping[str, Any]) -> tuple[EventID, EventID]:
    """The previous event and the suspected one of a row of :data:`SUSPECTED`."""
    names = ("partition", "offset", "index")
    return (
        (row["topic"], *(row[f"previous_{name}"] for name in names)),
        (row["topic"], *(row[name] for name in names)),
    )


def with_images(
    candidates: Sequence[Mapping[str, Any]],
    rows_at: Callable[[Iterable[EventID]], Mapping[EventID, Mapping[str, Any]]],
) -> Iterator[dict[str, Any]]:
    """Few suspected events with what ``old_image_violations`` compares.

    :param candidates: rows of :data:`SUSPECTED`.
    :param rows_at: returns the decoded events at some positions.
    """
    rows = rows_at(event for row in candidates for event in event_pair(row))
    for candidate in candidates:
        previous, event = event_pair(candidate)
        yield {**rows[event], **candidate, "previous_after": rows[previous]["after"]}


def old_image_violations(rows: Iterable[Mapping[str, Any]], options: VerifyOptions) -> Violations:
    """The suspected events whose images really differ.

    :param rows: :data:`SUSPECTED` with ``op``, ``columns``, ``before`` and ``after`` of the event, and
        ``previous_after``.
    """
    found = [(event_pair(row), detail) for row in rows if (detail := difference(row, options))]
    topics = sorted({event[0] for (_, event), _ in found})
    return Violations(
        history_severity(options),
        np.array([topics.index(event[0]) for (_, event), _ in found], np.int64),
        topics,
        tuple(
            EventPositions(
                np.array([pair[which][1] for pair, _ in found], np.int64),
                np.array([(pair[which][2] << INDEX_BITS) + pair[which][3] for pair, _ in found], np.int64),
            )
            for which in (0, 1)
        ),
        lambda number: found[number][1],
    )


def difference(event: Mapping[str, Any], options: VerifyOptions) -> str:
    """The columns in which an event's old image differs from the new image of the previous event."""
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
