"""Compares the old image of an update or delete with the values of the row's previous event: INV-OLD-IMAGE.

Fingerprints select the suspected events. Only their images are compared, column by column: the columns that
both images have, JSON by value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.verifier.events import offset_and_index
from ticdc_producer.verifier.invariants.row_state import history_severity
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.readable import image_of, readable
from ticdc_producer.verifier.row_history import RowHistory
from ticdc_producer.verifier.violations import EventID, EventPositions, Violations

SUSPECTED = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int64()),
        ("position", pa.int64()),
        ("previous_partition", pa.int64()),
        ("previous_position", pa.int64()),
    ]
)
"""An event whose old image has another fingerprint than the previous event's new image, and that event."""


def suspected(history: RowHistory) -> pa.RecordBatch:
    """The events whose images must be compared (:data:`SUSPECTED`)."""
    rows = np.flatnonzero(history.wrong_old)
    changes = history.changes
    columns = (
        changes.partition,
        changes.position,
        history.previous(changes.partition),
        history.previous(changes.position),
    )
    topics = changes.topic.take(pa.array(rows))
    return pa.record_batch([topics, *(pa.array(column[rows]) for column in columns)], schema=SUSPECTED)


def event_pairs(events: pa.RecordBatch) -> Iterator[tuple[EventID, EventID]]:
    """The previous event and the suspected one of each row of :data:`SUSPECTED`."""
    for row in events.to_pylist():
        yield (
            (row["topic"], row["previous_partition"], *offset_and_index(row["previous_position"])),
            (row["topic"], row["partition"], *offset_and_index(row["position"])),
        )


def old_image_violations(
    events: pa.RecordBatch, rows: Mapping[EventID, Mapping[str, Any]], options: VerifyOptions
) -> Violations:
    """The suspected events whose images really differ.

    :param events: :data:`SUSPECTED`.
    :param rows: the decoded events (shape ``DECODED``) by their position.
    """
    details = [difference(rows[event], rows[previous], options) for previous, event in event_pairs(events)]
    found = np.flatnonzero([bool(detail) for detail in details])
    topics = sorted(set(events.column("topic").to_pylist()))
    codes = np.array([topics.index(topic) for topic in events.column("topic").to_pylist()], np.int64)
    column = {name: events.column(name).to_numpy() for name in SUSPECTED.names[1:]}
    return Violations(
        history_severity(options),
        codes[found],
        topics,
        (
            EventPositions(column["previous_partition"][found], column["previous_position"][found]),
            EventPositions(column["partition"][found], column["position"][found]),
        ),
        lambda number: details[int(found[number])],
    )


def difference(event: Mapping[str, Any], previous: Mapping[str, Any], options: VerifyOptions) -> str:
    """The columns in which an event's old image differs from the new image of the previous event."""
    old, new = image_of(event["before"]), image_of(previous["after"])
    if options.old_columns != "all" and event["op"] == "update":
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
