"""The event stream of a job, encoded once into Spark's storage."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.model.dataframes import EXPECTED_EVENTS
from ticdc_producer.model.shapes import CARRIED
from ticdc_producer.runs.counts import Counts
from ticdc_producer.runs.expected_stream import expecting, observing
from ticdc_producer.runs.fault_occurrences import PartitionFaults
from ticdc_producer.runs.prepare import Job
from ticdc_producer.spark.background_jobs import materialized
from ticdc_producer.targets.encoding.encoded_stream import (
    CLAIM,
    COUNTS,
    ENCODED,
    EVENT,
    Wanted,
    encoded_stream,
    messages_of,
)
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents, row_limited_batches
from ticdc_producer.targets.kafka.delivery_stats import KindCount
from ticdc_producer.verifier.distributed_comparison import ExpectedStream
from ticdc_producer.verifier.event_columns import BLOCKS
from ticdc_producer.verifier.event_lookup import events_at
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.violations import EventID


@dataclass(frozen=True)
class Encoded(ExpectedStream):
    """An encoded event stream. If it has the events that messages carry, others are compared with them.

    :param events: the event stream, with the events that faults removed.
    :param entries: shape ``ENCODED``.
    """

    job: Job
    events: OrderedEvents
    entries: DataFrame

    @cached_property
    def counts(self) -> Counts:
        """The counts of all messages, whether or not the entries include them."""
        counts = Counts()
        for topic, partition, found in self._notes:
            for kind, of_kind in found["kinds"].items():
                counts.set(topic, partition, kind, KindCount(*of_kind))
        return replace(counts, rejected=sum(found["rejected"] for *_, found in self._notes))

    @property
    def skipped_tables(self) -> frozenset[str]:
        """``schema.table`` of the tables with rejected rows, which the messages lack."""
        return frozenset(table for *_, found in self._notes for table in found["rejected_tables"])

    @cached_property
    def _notes(self) -> list[tuple[str, int, dict[str, Any]]]:
        """Topic, partition and the counts of each partition."""
        found = self.entries.where(F.col("type") == COUNTS).select("topic", "partition", "value").collect()
        return [(row["topic"], row["partition"], json.loads(row["value"])) for row in found]

    @property
    def messages(self) -> DataFrame:
        """The messages (shape ``MESSAGES``)."""
        return messages_of(self.entries)

    @property
    def claims(self) -> DataFrame:
        """The claim-check objects (``CLAIMS``) of the messages."""
        found = self.entries.where(F.col("type") == CLAIM)
        return found.select(F.col("key").cast("string").alias("name"), F.col("value").alias("content"))

    def expected_events(self) -> DataFrame:
        """The events that a reader of the messages must decode (shape ``EXPECTED_EVENTS``), in order."""
        return self._carried.mapInArrow(expecting(self.job), EXPECTED_EVENTS)

    def observed(self, options: VerifyOptions) -> DataFrame:
        return self._carried.mapInArrow(observing(self.job, options), from_arrow_schema(BLOCKS))

    def at(self, wanted: Collection[EventID]) -> dict[EventID, dict[str, Any]]:
        return events_at(self.expected_events(), wanted)

    @property
    def _carried(self) -> DataFrame:
        columns = [name if name in ENCODED.names else f"event.{name}" for name in CARRIED.names]
        return self.entries.where(F.col("type") == EVENT).select(*columns)


@contextmanager
def encode_once(
    job: Job, events: OrderedEvents, *, messages: bool = False, carried: bool = False, faults: bool = True
) -> Iterator[Encoded]:
    """Encode an event stream once; everything in the block reads the stored result.

    :param events: the ordered event stream; with ``faults`` it includes the events that faults removed.
    :param messages: whether the messages are wanted, to write them.
    :param carried: whether the expected events are wanted.
    :param faults: whether to inject the faults of messages, and to log all faults. Without them the events
        have no illegal faults, and the result is the stream that TiCDC would have sent.
    """
    plan = job.encode_plan(skip_refused=True, faults=faults)
    log = PartitionFaults if faults and job.faults is not None else None
    entries = encoded_stream(events, plan, Wanted(messages=messages, events=carried, fault_log=log))
    with ExitStack() as stack:
        with row_limited_batches(events.spark, plan.catalog):
            found = Encoded(job, events, stack.enter_context(materialized(entries, in_order=True)))
            _ = found.counts  # encodes
        yield found
