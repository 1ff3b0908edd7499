"""The events of a partition and the messages that carry them: offset, and index in the message."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ticdc_producer.model import shapes
from ticdc_producer.model.event import MessageNote
from ticdc_producer.model.shapes import EventOffsetBatch
from ticdc_producer.protocols.arrow_text import Numbers, as_int64
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.wire_digests import WireDigests, contents
from ticdc_producer.targets.encode import PartitionEncoder


class PartitionEventOffsets:
    """The offsets and indexes of the events of one partition.

    :param encoder: its records of rejected and large events and of faults are complete for all messages
        that it has returned so far.
    :param wire: computes the digests of the events; None: they are 0.
    """

    def __init__(self, encoder: PartitionEncoder, wire: WireDigests | None = None) -> None:
        self._encoder, self._wire = encoder, wire
        self._offset = self._sent = self._notes_read = 0

    def event_offsets(self, batch: MessageBatch) -> EventOffsetBatch:
        """Return one row per event of the next messages.

        :return: shape ``EVENT_OFFSETS``, in the order of the messages; offsets begin with 0.

        >>> from ticdc_producer.model.catalog import Catalog
        >>> from ticdc_producer.model.event import Message
        >>> from ticdc_producer.protocols.message_batch import from_messages
        >>> from ticdc_producer.targets.encode import EncodePlan
        >>> plan = EncodePlan(protocol="open-protocol", options={}, catalog=Catalog(()))
        >>> offsets = PartitionEventOffsets(PartitionEncoder(plan))
        >>> messages = [Message(b"", b"", "row", 1, events=count) for count in (2, 1)]
        >>> rows = offsets.event_offsets(from_messages(messages))
        >>> rows.select(["event_ordinal", "offset", "index"]).to_pydict()
        {'event_ordinal': [0, 1, 2], 'offset': [0, 0, 1], 'index': [0, 1, 0]}
        """
        counts = as_int64(batch.events).astype(np.int64)
        first = self._first_of_each(counts)
        index = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        event = self._with_rejected(np.repeat(first, counts) + index)
        offset = np.repeat(np.arange(self._offset, self._offset + len(counts)), counts)
        self._offset += len(counts)
        self._sent = int(first[-1] + counts[-1]) if len(counts) else self._sent
        large = np.isin(event, np.array(self._encoder.handle_key_only, np.int64))
        wire = np.zeros(len(event), np.int64)
        if self._wire is not None:
            keys, values = [*batch.keys()], batch.value.to_pylist()
            wire = self._wire.of_messages(
                keys, values, counts.tolist(), contents(batch.claims), batch.headers
            )
        columns = event, offset, index.astype(np.int32), large, wire
        rows: EventOffsetBatch = pa.record_batch([*map(pa.array, columns)], schema=shapes.EVENT_OFFSETS)
        return rows

    def _first_of_each(self, counts: Numbers) -> Numbers:
        """Return the ordinal, among the sent events, of each message's first event.

        Messages of 2, 3 and 1 events begin at 0, 2 and 5. A fault that lost the message of event 2 makes them
        jump: they begin at 0, 3 and 6.
        """
        first = self._sent + counts.cumsum() - counts
        for jump in self._jumps():
            at = jump["offset"] - self._offset
            first[at:] += jump["event_ordinal"] - first[at]
        return first

    def _jumps(self) -> Iterator[MessageNote]:
        """Yield the records of faults in the latest messages that make event ordinals jump."""
        notes, self._notes_read = self._encoder.faults[self._notes_read :], len(self._encoder.faults)
        return (note for note in notes if "event_ordinal" in note)

    def _with_rejected(self, sent: Numbers) -> Numbers:
        """Convert ordinals among the sent events to ordinals among all events.

        With the rejected events 1 and 2, the sent events 0, 1 and 2 are the events 0, 3 and 4.
        """
        rejected = np.fromiter(self._encoder.rejected, np.int64)
        return sent + np.searchsorted(rejected - np.arange(len(rejected)), sent, side="right")
