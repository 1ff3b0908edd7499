"""A sample of a stream: the messages that findings name, and the first of each partition.

Its size is bounded, whatever that of the stream. The messages are read by their offsets, not searched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias, cast

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.model.event_line import DecodedRow, event_text
from ticdc_producer.model.shapes import MESSAGES, BatchFunction
from ticdc_producer.page.stream_content import (
    MessageRow,
    SpansOf,
    exact,
    message_objects,
    row_names,
)
from ticdc_producer.page.timeline import PartitionCount
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.messages import Messages

EventPosition: TypeAlias = tuple[str, int, int, int]
"""Topic, partition, offset, index in the message."""
_Offset: TypeAlias = tuple[str, int, int]
MOST_MESSAGES = 400
"""Messages of a sample."""
_MOST_NAMED = 200
MOST_BYTES = 2 << 20
"""Bytes of a sample as JSON."""
_MOST_EVENTS = 100
"""Events of a message that are in a sample."""
LONGEST_EVENT = 2_000
"""Maximum number of characters of the text of an event."""


def cut(text: str, most: int = LONGEST_EVENT) -> str:
    """Return the text, shortened to ``most`` characters."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample of a stream.

    :param messages: as JSON for the page, in the order of the stream.
    :param examples: events that findings name → text with their values.
    """

    messages: Sequence[Mapping[str, object]] = ()
    examples: Mapping[EventPosition, str] = field(default_factory=dict)


def message_sample(
    messages: Messages,
    decode: BatchFunction,
    spans_of: SpansOf,
    partitions: Sequence[PartitionCount],
    findings: Sequence[Finding],
) -> Sample:
    """Return the sample of a verified stream.

    :param decode: from messages to events.
    :param spans_of: the named ranges of a message.
    :param partitions: those of its timeline.
    :param findings: of its verdict.
    """
    named = {position[:3]: None for position in _named(findings)}
    few = dict.fromkeys(islice(named, _MOST_NAMED))
    positions = sorted({**few, **dict.fromkeys(_first(partitions, MOST_MESSAGES - len(few)))})
    if not positions:
        return Sample()
    of_parts = messages.at(positions).select(*MESSAGES.names).results(_head)
    few_rows = pa.concat_tables([MESSAGES.empty_table(), *of_parts])
    order = [(name, "ascending") for name in ("topic", "partition", "offset")]
    rows = few_rows.sort_by(order).slice(0, MOST_MESSAGES)
    events = [row for batch in decode(iter(rows.combine_chunks().to_batches())) for row in batch.to_pylist()]
    return Sample(
        messages=[*_bounded(rows, events, spans_of, few)],
        examples={
            position: cut(event_text(row))
            for row in events
            if (position := _position(row)) in {*_named(findings)}
        },
    )


def _head(_part: Part, batches: Batches) -> pa.Table:
    """Return the first rows of a part: a file may have a position several times."""
    rows: list[pa.RecordBatch] = []
    room = MOST_MESSAGES
    for batch in batches:
        rows.append(batch.slice(0, room))
        room -= rows[-1].num_rows
        if not room:
            break
    return pa.Table.from_batches(rows, MESSAGES)


def _named(findings: Sequence[Finding]) -> Iterator[EventPosition]:
    for finding in findings:
        for example in finding.examples:
            for event in example.events:
                if event.offset is not None and event.index is not None:
                    yield event.topic, event.partition, event.offset, event.index


def _position(row: Mapping[str, Any]) -> EventPosition:
    return row["topic"], row["partition"], row["offset"], row["index"]


def _first(partitions: Sequence[PartitionCount], most: int) -> Iterator[_Offset]:
    """Yield the first offsets of the partitions, as many of each; fewer if large messages fill the sample."""
    share = most // max(1, len(partitions)) or 1
    for part in partitions[:most]:
        filling = MOST_BYTES * max(1, part.messages) // max(1, part.size) or 1
        for offset in range(part.first, min(part.last + 1, part.first + min(share, filling))):
            yield part.topic, part.partition, offset


def _bounded(
    rows: pa.Table, events: list[dict[str, Any]], spans_of: SpansOf, named: Mapping[_Offset, None]
) -> list[Mapping[str, object]]:
    """Return the messages up to the size of a sample; those that findings name first."""
    few = cast("list[DecodedRow]", [row for row in events if row["index"] < _MOST_EVENTS])
    messages = cast("list[MessageRow]", rows.to_pylist())
    counts: dict[_Offset, int] = {}
    for row in events:
        counts[_position(row)[:3]] = row["index"] + 1
    objects = []
    for message in message_objects(messages, few, spans_of, lambda row: {"rows": row_names(row)}):
        position = cast(_Offset, (message["topic"], message["partition"], message["offset"]))
        objects.append((position, exact({**message, "count": counts.get(position, 0)})))
    within, size = set[_Offset](), 0
    for position, content in sorted(objects, key=lambda entry: (entry[0] not in named, entry[0])):
        size += len(json.dumps(content))
        if size > MOST_BYTES:
            break
        within.add(position)
    return [content for position, content in objects if position in within]
