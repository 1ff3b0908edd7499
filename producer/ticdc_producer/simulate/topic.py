"""The topic of a small job in memory: its messages, expected events and faults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.event import Message
from ticdc_producer.model.shapes import EXPECTED_EVENTS
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import simulate
from ticdc_producer.targets.encoding.encode_partition import split_by_partition
from ticdc_producer.targets.encoding.message_rows import STORED_MESSAGES
from ticdc_producer.targets.encoding.stored_messages import stored_messages


@dataclass(frozen=True)
class SimulatedTopic:
    """What a changefeed sends for a small job.

    :param messages: in the order of topic, partition and offset (``message_rows.STORED_MESSAGES``).
    :param expected_events: what a reader of the messages must decode, in order (shape ``EXPECTED_EVENTS``).
    :param skipped_tables: ``schema.table`` of the tables with events that TiCDC's encoder rejects.
    :param faults: one object per injected fault, in order.
    """

    messages: pa.Table
    expected_events: pa.Table
    skipped_tables: frozenset[str]
    faults: list[dict[str, Any]]

    @cached_property
    def partitions(self) -> dict[tuple[str, int], list[Message]]:
        """The messages of each partition that has any, by topic and partition."""
        batches: Iterator[pa.RecordBatch] = iter(self.messages.to_batches())
        return {
            name: [message for batch in stored_messages(rows) for message in batch.messages()]
            for name, rows in split_by_partition(batches)
        }

    @property
    def injected_traps(self) -> frozenset[str]:
        """The traps that ``faults`` has."""
        return frozenset(fault["trap"] for fault in self.faults)


def simulated_topic(job: Job, *, faults: bool = True) -> SimulatedTopic:
    """Simulate a changefeed in this process; events that TiCDC's encoder rejects are left out.

    :param faults: whether to inject illegal faults of events and faults of messages. Without them the
        result is the topic that TiCDC would have written.
    """
    with simulate(job, LocalEngine(), faults=faults) as simulation:
        stream = simulation.encoded
        rows = stream.faults.batches() if faults and job.faults is not None else iter(())
        return SimulatedTopic(
            messages=pa.Table.from_batches(stream.messages.batches(), STORED_MESSAGES),
            expected_events=pa.Table.from_batches(stream.expected_events.batches(), EXPECTED_EVENTS),
            skipped_tables=stream.skipped_tables,
            faults=[row for batch in rows for row in batch.to_pylist()],
        )
