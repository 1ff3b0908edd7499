"""The positions of expected events: message offset and index within the message, as encoded."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.config import SinkKind
from ticdc_producer.model.dataframes import EXPECTED_EVENTS
from ticdc_producer.model.shapes import CARRIED, DELIVERY_KEY
from ticdc_producer.pipeline.expected_events import ExpectedEvents
from ticdc_producer.runs.prepare import Job

_EVENT = ("topic", "partition", "event_ordinal")
_ROW_OF_PARTITION = (1 << 33) - 1
"""The bits of Spark's ``monotonically_increasing_id`` that count the rows of a Spark partition."""


def expected_events(job: Job, events: DataFrame, offsets: DataFrame) -> DataFrame:
    """The events that a reader of a job's messages must decode (shape ``EXPECTED_EVENTS``).

    :param events: the ordered event stream, one Spark partition per Kafka partition.
    :param offsets: the offsets of the messages that carry the events (shape ``EVENT_OFFSETS``).
    """
    catalog, fidelity = job.catalog, job.encoder.fidelity

    def expected(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = ExpectedEvents(catalog, fidelity)
        return (reader.expected(batch) for batch in batches if batch.num_rows)

    carried = offsets.where("offset is not null").select(*_EVENT, "offset", "index", "handle_key_only")
    # Force a merge join: offsets compress so well that Spark would broadcast millions of them.
    found = _numbered(job, events).join(carried.hint("merge"), [*_EVENT])
    return found.select(*CARRIED.names).mapInArrow(expected, EXPECTED_EVENTS)


def _numbered(job: Job, events: DataFrame) -> DataFrame:
    """Events with ``event_ordinal``, their number in the partition."""
    if job.changefeed.sink_uri.kind is SinkKind.STORAGE:  # directories are not partitions of a topic
        in_order = Window.partitionBy("topic", "partition").orderBy(*DELIVERY_KEY)
        return events.withColumn("event_ordinal", F.row_number().over(in_order) - 1)
    # A window would buffer all events of a partition before numbering the first.
    number = F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_OF_PARTITION))
    return events.withColumn("event_ordinal", number)
