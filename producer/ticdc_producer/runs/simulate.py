"""Simulates a changefeed on a small history: one plain function on Arrow columns, without Spark or Kafka.

``run`` calls it in one Spark task. Tests, fuzzing and services can call it directly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.event_columns import integers
from ticdc_producer.faults.illegal_event import DROPPED
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.shapes import CARRIED, CHANGE_LOG, EXPECTED_EVENTS
from ticdc_producer.pipeline.event_stream import event_stream
from ticdc_producer.pipeline.expected_events import ExpectedEvents
from ticdc_producer.runs.fault_occurrences import PartitionFaults, occurrences_in_order
from ticdc_producer.runs.prepare import Job
from ticdc_producer.scenario.history import Change
from ticdc_producer.targets.encoding.encode import EncodePlan
from ticdc_producer.targets.encoding.encode_partition import EncodedPartition, encode_partition
from ticdc_producer.targets.encoding.message_rows import at_positions

_NO_EVENTS = pa.RecordBatch.from_pylist([], CARRIED)
_POSITION = ("topic", "partition", "offset", "index")


@dataclass(frozen=True)
class Simulation:
    """What a changefeed sends for a history.

    :param events: the event stream (shape ``EVENT_STREAM``), with the events that faults removed.
    :param partitions: the messages of each partition that has any.
    """

    job: Job
    events: pa.RecordBatch
    partitions: Sequence[EncodedPartition]

    @property
    def skipped_tables(self) -> frozenset[str]:
        """``schema.table`` of the tables with events that TiCDC's encoder rejects."""
        return frozenset(error.table for one in self.partitions for error in one.rejected.values())

    @property
    def injected_traps(self) -> frozenset[str]:
        """The traps that ``fault_occurrences`` has."""
        of_events = pc.unique(self.events.column("fault").drop_null()).to_pylist()
        return frozenset([*of_events, *(note["trap"] for one in self.partitions for note in one.faults)])

    @cached_property
    def expected_events(self) -> pa.Table:
        """The events that a reader of the messages must decode (shape ``EXPECTED_EVENTS``), in order."""
        parts = [
            carried(events, partition.offsets)
            for (_, events), partition in zip(by_partition(sent(self.events)), self.partitions, strict=True)
        ]
        # One call for all partitions: for few rows its time does not depend on their number.
        together = pa.concat_batches([_NO_EVENTS, *parts])
        expected = ExpectedEvents(self.job.catalog, self.job.encoder.fidelity).expected(together)
        order = pc.sort_indices(expected, [(name, "ascending") for name in _POSITION])
        return pa.Table.from_batches([expected.take(order)], EXPECTED_EVENTS)

    @cached_property
    def fault_occurrences(self) -> list[dict[str, Any]]:
        """One object per injected fault, in order."""
        encoded = {(one.topic, one.partition): one for one in self.partitions}
        found = []
        for index, events in by_partition(self.events):
            name = self.job.stream.topic_partitions.name(index)
            faults = PartitionFaults(*name)
            for _ in faults.sent([events]):
                if name in encoded:
                    faults.carried(encoded[name].offsets)
            found += faults.occurrences(encoded[name].faults if name in encoded else ())
        return occurrences_in_order(found)


def simulate(job: Job, generated: Sequence[pa.RecordBatch] = (), *, faults: bool = True) -> Simulation:
    """Encode the whole stream of a job; events that TiCDC's encoder rejects are left out.

    :param generated: the changes of ``generate`` steps (shape ``CHANGE_LOG``), see ``step_rows``.
    :param faults: whether to inject illegal faults of events and faults of messages. Without them the
        result is the stream that TiCDC would have sent.
    """
    changes = pa.concat_batches([change_batch(job.history.changes), *generated])
    stage: EventFaults | None = job.event_faults(illegal=faults)
    events = event_stream(changes, job.stream, stage)
    plan = job.encode_plan(skip_refused=True, faults=faults)
    return Simulation(job, events, _encoded(job, plan, sent(events)))


def change_batch(changes: Sequence[Change]) -> pa.RecordBatch:
    """Changes of SQL as a batch (shape ``CHANGE_LOG``)."""
    columns = [[getattr(change, name) for change in changes] for name in CHANGE_LOG.names]
    return pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(columns, CHANGE_LOG, strict=True)],
        schema=CHANGE_LOG,
    )


def _encoded(job: Job, plan: EncodePlan, events: pa.RecordBatch) -> list[EncodedPartition]:
    names = job.stream.topic_partitions.name
    return [encode_partition(plan, *names(index), part) for index, part in by_partition(events)]


def sent(events: pa.RecordBatch) -> pa.RecordBatch:
    """An event stream (shape ``EVENT_STREAM``) without the events that faults removed, in the same order."""
    kinds = integers(events, "kind")
    return events.filter(pa.array(kinds != DROPPED)) if (kinds == DROPPED).any() else events


def by_partition(events: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Each partition index with its events.

    :param events: shape ``EVENT_STREAM``, in delivery order.
    """
    indexes = integers(events, "partition_index")
    if not len(indexes):
        return
    starts = np.flatnonzero(np.diff(indexes, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(indexes)], strict=True):
        yield int(indexes[start]), events.slice(start, end - start)


def carried(events: pa.RecordBatch, offsets: pa.RecordBatch) -> pa.RecordBatch:
    """The events that messages carry, with their positions (shape ``CARRIED``).

    :param events: all events of a partition that are sent, in delivery order.
    :param offsets: shape ``EVENT_OFFSETS``.
    """
    return at_positions(events, offsets.filter(offsets.column("offset").is_valid()))
