"""Where the faults of a stream of any size happened, as a DataFrame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.runs.fault_occurrences import MAX_LISTED, FaultSummary, PartitionFaults, summarize_faults
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.event_offsets import PartitionEventOffsets
from ticdc_producer.targets.encoding.split_by_partition import split_by_partition

_OCCURRENCES = (
    "trap string, topic string, partition int, offset long, until long, events long, commit_ts long"
)
_ARROW = pa.schema(
    [
        ("trap", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        *((name, pa.int64()) for name in ("offset", "until", "events", "commit_ts")),
    ]
)


def fault_occurrences(faulted_events: DataFrame, plan: EncodePlan) -> DataFrame:
    """One row per fault, in order: the fields of ``runs.fault_occurrences``.

    :param faulted_events: the ordered event stream, including the events that faults removed.
    :param plan: the plan with which the messages are made.
    """

    def found(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (topic, partition), events in split_by_partition(batches):
            faults = PartitionFaults(topic, partition)
            encoder = PartitionEncoder(plan, topic, partition)
            offsets = PartitionEventOffsets(topic, partition, encoder)
            for batch in encoder.batches(faults.sent(events)):
                faults.carried(offsets.carried(batch))
            notes = (note for note in encoder.faults if "trap" in note)
            yield pa.RecordBatch.from_pylist(faults.occurrences(notes), _ARROW)

    occurrences = faulted_events.mapInArrow(found, _OCCURRENCES)
    return occurrences.orderBy("topic", "partition", "commit_ts", "offset", "trap")


def summarized(job: Job, occurrences: DataFrame) -> FaultSummary:
    """The number of occurrences of each trap, and the first occurrences."""
    listed = [row.asDict() for row in occurrences.limit(MAX_LISTED).collect()]
    if len(listed) < MAX_LISTED:
        return summarize_faults(job, listed)
    counted = occurrences.groupBy("trap").count().collect()  # one row per trap
    return summarize_faults(job, listed, Counter({row["trap"]: row["count"] for row in counted}))
