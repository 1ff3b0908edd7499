"""Which message of an event stream carries which event: the messages without their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.model.dataframes import EVENT_PLACES, EVENT_PLACES_ARROW
from ticdc_producer.protocols.arrow_text import Numbers, numbers
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.message_rows import chunks
from ticdc_producer.targets.encoding.row_batches import NEEDED
from ticdc_producer.targets.encoding.split_by_partition import by_place


def event_places(events: DataFrame, plan: EncodePlan) -> DataFrame:
    """Where each event of an event stream stands in its messages (shape ``EVENT_PLACES``).

    Everything is encoded for it, so keep it where it is read twice. An event that faults of messages take
    away has no line, one that they repeat has several.

    :param events: the ordered event stream; the events of a Kafka partition stand together.
    :param plan: as the messages are made by.
    """

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (topic, partition), events in by_place(batches):
            encoder = PartitionEncoder(plan, topic, partition)
            places = PartitionPlaces(topic, partition, encoder)
            yield from chunks(map(places.carried, encoder.batches(events)))
            yield places.refused()

    return events.select(*NEEDED).mapInArrow(place, EVENT_PLACES)


class PartitionPlaces:
    """Counts the events of one partition.

    :param encoder: what it says so far of refused and large events and of faults holds for all messages that
        have come out of it.
    """

    def __init__(self, topic: str, partition: int, encoder: PartitionEncoder) -> None:
        self._topic, self._partition = topic, partition
        self._encoder = encoder
        self._offset = self._sent = self._told = 0

    def carried(self, batch: MessageBatch) -> pa.RecordBatch:
        """A line per event of the next messages."""
        counts = numbers(batch.events).astype(np.int64)
        first = self._first_of_each(counts)
        index = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        event = self._with_refused(np.repeat(first, counts) + index)
        offset = np.repeat(np.arange(self._offset, self._offset + len(counts)), counts)
        self._offset += len(counts)
        self._sent = int(first[-1] + counts[-1]) if len(counts) else self._sent
        large = np.isin(event, np.array(self._encoder.handle_key_only, np.int64))
        return self._lines(event, pa.array(offset), pa.array(index), pa.array(large), None)

    def _first_of_each(self, counts: Numbers) -> Numbers:
        """The number of each message's first event among those that are sent."""
        first = self._sent + counts.cumsum() - counts
        for jump in self._jumps():
            at = jump["offset"] - self._offset
            first[at:] += jump["event"] - first[at]
        return first

    def _jumps(self) -> Iterator[dict[str, Any]]:
        """Where in the latest messages a fault has the numbers go on elsewhere."""
        notes, self._told = self._encoder.faults[self._told :], len(self._encoder.faults)
        return (note for note in notes if "event" in note)

    def _with_refused(self, sent: Numbers) -> Numbers:
        """Numbers among all events, of numbers among those that are sent."""
        refused = np.fromiter(self._encoder.refused, np.int64)
        return sent + np.searchsorted(refused - np.arange(len(refused)), sent, side="right")

    def refused(self) -> pa.RecordBatch:
        """Behind all messages: a line per event that is in none of them."""
        tables = pa.array([error.table for error in self._encoder.refused.values()], pa.string())
        return self._lines(np.fromiter(self._encoder.refused, np.int64), None, None, None, tables)

    def _lines(
        self,
        event: Numbers,
        offset: pa.Array | None,
        index: pa.Array | None,
        large: pa.Array | None,
        refused: pa.Array | None,
    ) -> pa.RecordBatch:
        rows = len(event)
        place = pa.repeat(self._topic, rows), pa.repeat(self._partition, rows)
        columns = [
            pa.nulls(rows) if column is None else column
            for column in (*place, pa.array(event), offset, index, large, refused)
        ]
        typed = [column.cast(field.type) for column, field in zip(columns, EVENT_PLACES_ARROW, strict=True)]
        return pa.record_batch(typed, schema=EVENT_PLACES_ARROW)
