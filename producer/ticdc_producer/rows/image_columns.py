"""The row images of one table in decoded events, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import Op
from ticdc_producer.targets.decoded_events import DecodedEvents
from ticdc_producer.verifier.event_layouts import EventLayout, Images, LayoutBatch

INSERT, DELETE, BEFORE, AFTER = range(4)
"""The kinds of images: of an insert, of a delete, and the old and the new one of an update."""


@dataclass(frozen=True, kw_only=True)
class ImageColumns:
    """Images of one kind that have the same columns.

    :param events: the numbers of their events.
    :param commit_ts: TSO (int64).
    :param handle_key_only: whether the messages contain only the handle key, because the rows were too large.
    :param values: by column, as canonical texts (binary). An old image of an update that has only the changed
        columns is completed with those of the new image.
    """

    events: Numbers
    kind: int
    commit_ts: pa.Array
    handle_key_only: bool
    values: Mapping[str, pa.Array]


def image_columns(events: DecodedEvents, schema: str, table: str) -> Iterator[ImageColumns]:
    """Yield the images of a table."""
    *of_rows, of_others = events.numbers
    for numbers, rows in zip(of_rows, events.rows, strict=True):
        if (rows.schema, rows.table) == (schema, table):
            yield from _images(
                numbers, rows.op, rows.commit_ts, rows.handle_key_only, rows.before, rows.after
            )
    others = LayoutBatch(events.others)
    for layout in others.layouts():
        if (layout.schema, layout.table) == (schema, table):
            yield from _images_of_layout(others, layout, of_others)


def _images(
    numbers: Numbers,
    op: Op,
    commit_ts: pa.Array,
    handle_key_only: bool,
    before: Mapping[str, pa.Array] | None,
    after: Mapping[str, pa.Array] | None,
) -> Iterator[ImageColumns]:
    """Yield the images of row events with these numbers."""
    kinds: dict[int, Mapping[str, pa.Array]] = {}
    if op is Op.INSERT:
        kinds[INSERT] = after or {}
    elif op is Op.DELETE:
        kinds[DELETE] = before or {}
    else:
        kinds[AFTER] = after or {}
        if before is not None:
            kinds[BEFORE] = {**kinds[AFTER], **before}
    for kind, values in kinds.items():
        yield ImageColumns(
            events=numbers,
            kind=kind,
            commit_ts=commit_ts,
            handle_key_only=handle_key_only,
            values=values,
        )


def _images_of_layout(batch: LayoutBatch, layout: EventLayout, events: Numbers) -> Iterator[ImageColumns]:
    """Yield the images of a layout, by operation.

    :param events: the numbers of the batch's events.
    """
    codes = 2 * batch.op[layout.rows] + batch.reduced[layout.rows]
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        op, flag = divmod(code, 2)
        numbers = layout.rows[codes == code]
        yield from _images(
            events[numbers],
            Op(op),
            batch.decoded.column("commit_ts").take(pa.array(numbers)),
            bool(flag),
            _values(layout.old_images, layout.before, numbers),
            _values(layout.new_images, layout.after, numbers),
        )


def _values(images: Images, positions: Mapping[str, int], rows: Numbers) -> dict[str, pa.Array] | None:
    """Return the values of some images by column; None without images."""
    if not images.lists.present[rows[0]]:
        return None
    starts = images.lists.starts[rows]
    return {name: images.values.take(pa.array(starts + position)) for name, position in positions.items()}
