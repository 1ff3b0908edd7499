"""A copy of a stream in a folder: its messages and their events, as Arrow files that are mapped into memory.

A window of the messages costs what it has, whatever the size of the stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.errors import TopicError
from ticdc_producer.model.column_functions import Flags, Numbers, flat_positions
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.shapes import DECODED, MESSAGES
from ticdc_producer.runs.copies.stream_location import StreamLocation, detected, messages_of, origin_of


class CopiedMessage(TypedDict):
    """A row of the shape ``MESSAGES``.

    :ivar event_count: number of its events.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[Mapping[str, object]] | None
    timestamp: int
    event_count: int


_POSITION = ("topic", "partition", "offset")
_FIRST = pa.field("first_event", pa.int64())
_COUNT = pa.field("event_count", pa.int64())
_RESOLVED = pa.field("is_resolved", pa.bool_())
_COPIED = pa.schema([*MESSAGES, _FIRST, _COUNT, _RESOLVED])


@dataclass(frozen=True, kw_only=True)
class CopyLimits:
    """The limits of a copy.

    :param messages: number of messages; of a topic the newest are copied.
    :param nbytes: bytes of keys and values.
    """

    messages: int
    nbytes: int


def copy_stream(source: StreamLocation, folder: Path, limits: CopyLimits) -> StreamCopy:
    """Read, decode and copy a stream.

    :param folder: an empty folder.
    :raises TopicError: for a stream above the limits, of which no part can be left out.
    :raises ProducerError: for a source that cannot be read.
    """
    read = messages_of(source, limits.messages)
    batches = [*_limited(read.rows.batches(), source.name, limits)]
    order = [(name, "ascending") for name in _POSITION]
    messages = pa.Table.from_batches(batches, MESSAGES).sort_by(order).combine_chunks()
    source = detected(source, messages)
    counts, resolved = list[Numbers](), list[Flags]()
    protocol = ""
    with pa.OSFile(str(folder / "events.arrow"), "wb") as file, pa.ipc.new_file(file, DECODED) as writer:
        if messages.num_rows:
            origin = origin_of(source, messages.to_batches())
            protocol = origin.changefeed.protocol
            for events in origin.events_decoder(origin.messages.batches()):
                writer.write_batch(events.batch)
                counts.append(events.counts)
                resolved.append(_all_resolved(events.batch, events.counts))
    for field, column in zip((_FIRST, _COUNT, _RESOLVED), _event_columns(counts, resolved), strict=True):
        messages = messages.append_column(field, pa.array(column))
    with pa.OSFile(str(folder / "messages.arrow"), "wb") as file, pa.ipc.new_file(file, _COPIED) as writer:
        writer.write_table(messages)
    content = {"protocol": protocol, "left": read.omitted, "named": source.protocol}
    (folder / "stream.json").write_text(json.dumps(content), "utf-8")
    return StreamCopy(folder)


def _limited(batches: Batches, name: str, limits: CopyLimits) -> Iterator[pa.RecordBatch]:
    rows = nbytes = 0
    for batch in batches:
        rows += batch.num_rows
        nbytes += sum(pc.sum(pc.binary_length(batch.column(part))).as_py() or 0 for part in ("key", "value"))
        for amount, most, unit in ((rows, limits.messages, "messages"), (nbytes, limits.nbytes, "bytes")):
            if amount > most:
                hint = "use the commands verify and decode, which have no limit"
                raise TopicError(f"it has more than {most:,} {unit}", topic=name, hint=hint)
        yield batch.select(MESSAGES.names)


def _event_columns(counts: Sequence[Numbers], resolved: Sequence[Flags]) -> tuple[Numbers, Numbers, Flags]:
    """Return for each message its first event, the number of its events, and whether all are resolved.

    >>> counts, resolved = [np.array([2, 0]), np.array([1])], [np.zeros(2, bool), np.ones(1, bool)]
    >>> [column.tolist() for column in _event_columns(counts, resolved)]
    [[0, 2, 2], [2, 0, 1], [False, False, True]]

    :param counts, resolved: the numbers of events and the flags of the messages of each batch.
    """
    of_messages = np.concatenate(counts) if counts else np.zeros(0, np.int64)
    all_resolved = np.concatenate(resolved) if resolved else np.zeros(0, bool)
    return np.cumsum(of_messages) - of_messages, of_messages, all_resolved


def _all_resolved(events: pa.RecordBatch, counts: Numbers) -> Flags:
    """Return which messages have resolved events, and no others.

    >>> events = pa.record_batch({"kind": ["resolved", "row", "resolved"]})
    >>> _all_resolved(events, np.array([1, 2, 0])).tolist()
    [True, False, False]
    """
    resolved = pc.equal(events.column("kind"), "resolved").to_numpy(zero_copy_only=False)
    sums = np.concatenate([[0], np.cumsum(resolved)])
    ends = np.cumsum(counts)
    matching: Flags = (counts > 0) & (sums[ends] - sums[ends - counts] == counts)
    return matching


@dataclass(frozen=True, kw_only=True)
class CopiedPartition:
    """A partition of a copy.

    :param first, last: offsets of its messages.
    :param messages: their number.
    :param others: number of those that have more than resolved events.
    """

    topic: str
    partition: int
    first: int
    last: int
    messages: int
    others: int


class StreamCopy:
    """A copy of a stream.

    :param folder: its folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.messages, self.events = (_mapped(folder / f"{name}.arrow") for name in ("messages", "events"))
        self._content: dict[str, Any] = json.loads((folder / "stream.json").read_text("utf-8"))

    @property
    def protocol(self) -> str:
        """The protocol of the messages; empty without messages."""
        return str(self._content["protocol"])

    @property
    def named_protocol(self) -> str:
        """The protocol that the request named, or that was detected; empty: the source names it."""
        return str(self._content["named"])

    @property
    def omitted(self) -> int:
        """The number of older messages of the topic that were not copied."""
        return int(self._content["left"])

    @cached_property
    def partitions(self) -> list[CopiedPartition]:
        """The partitions, in the order of the messages."""
        groups = self.messages.select([*_POSITION, _RESOLVED.name]).group_by(["topic", "partition"])
        table = groups.aggregate([
            ("offset", "min"), ("offset", "max"), ("offset", "count"), (_RESOLVED.name, "sum"),
        ]).sort_by([("topic", "ascending"), ("partition", "ascending")])  # fmt: skip
        return [
            CopiedPartition(
                topic=row["topic"],
                partition=row["partition"],
                first=row["offset_min"],
                last=row["offset_max"],
                messages=row["offset_count"],
                others=row["offset_count"] - row[f"{_RESOLVED.name}_sum"],
            )
            for row in table.to_pylist()
        ]

    def numbers(self, *, with_resolved: bool, partition: tuple[str, int] | None = None) -> Numbers:
        """Return the numbers of messages in the copy, in order.

        :param with_resolved: whether those with resolved events alone count.
        :param partition: topic and partition; None: all.
        """
        mask = np.ones(self.messages.num_rows, bool)
        if not with_resolved:
            mask &= ~self.messages.column(_RESOLVED.name).to_numpy()
        if partition is not None:
            mask &= self._equal("topic", partition[0]) & self._equal("partition", partition[1])
        return np.flatnonzero(mask)

    def next_number(self, topic: str, partition: int, offset: int) -> int:
        """Return the number of the message at a position, or of the next message of the partition.

        It is that of the first message of the following partition if there is none.
        """
        before = 0
        for part in self.partitions:
            if (part.topic, part.partition) >= (topic, partition):
                break
            before += part.messages
        numbers = self.numbers(with_resolved=True, partition=(topic, partition))
        offsets = self.messages.column("offset").to_numpy()[numbers]
        return before + int(np.searchsorted(offsets, offset))

    def position(self, number: int) -> tuple[str, int, int] | None:
        """Return topic, partition and offset of a message; None if there is no such message."""
        if number >= self.messages.num_rows:
            return None
        topic, partition, offset = (self.messages.column(name)[number].as_py() for name in _POSITION)
        return topic, partition, offset

    def rows(self, numbers: Sequence[int] | Numbers) -> list[CopiedMessage]:
        """Return messages (shape ``MESSAGES``) by their numbers, with ``event_count``."""
        rows: list[CopiedMessage] = self.messages.take(pa.array(numbers, pa.int64())).to_pylist()
        return rows

    def events_of(self, numbers: Sequence[int] | Numbers, most: int) -> list[DecodedRow]:
        """Return the first events (shape ``DECODED``) of messages, in order.

        :param most: number of events of each message.
        """
        indexes = np.asarray(numbers, np.int64)
        firsts = self.messages.column(_FIRST.name).to_numpy()[indexes]
        counts = np.minimum(self.messages.column(_COUNT.name).to_numpy()[indexes], most)
        rows: list[DecodedRow] = self.events.take(pa.array(flat_positions(firsts, counts))).to_pylist()
        return rows

    def _equal(self, column: str, value: object) -> Flags:
        values: Flags = pc.equal(self.messages.column(column), value).to_numpy()
        return values


def _mapped(path: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
