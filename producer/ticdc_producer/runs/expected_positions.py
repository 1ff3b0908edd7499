"""The positions of expected events: message offset and index within the message, as encoded."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.config import SinkKind
from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.pipeline.expected_events import expected_decode
from ticdc_producer.pipeline.handle_key import reduce_to_handle_key
from ticdc_producer.pipeline.order import order
from ticdc_producer.runs.prepare import Job

_EVENT = ("topic", "partition", "event_ordinal")
_ROW_OF_PARTITION = (1 << 33) - 1
"""The bits of Spark's ``monotonically_increasing_id`` that count the rows of a Spark partition."""


def expected_events(job: Job, events: DataFrame, offsets: DataFrame) -> DataFrame:
    """The events that a reader of a job's messages must decode, with ``offset`` and ``index``.

    :param events: the event stream.
    :param offsets: the offsets of the messages that carry the events (shape ``EVENT_OFFSETS``).
    """
    fidelity, catalog = job.encoder.fidelity, job.catalog
    by_handle_key = job.changefeed.large_message_handle_option == "handle-key-only"
    expected_rows = _numbered(job, expected_decode(events, catalog, fidelity, with_handle_key=by_handle_key))
    carried = offsets.where("offset is not null").select(
        *_EVENT, "offset", "index", F.col("handle_key_only").alias("large")
    )
    # Force a merge join: offsets compress so well that Spark would broadcast millions of them.
    found = expected_rows.join(carried.hint("merge"), [*_EVENT]).drop(
        "event_ordinal", "partition_index", *DELIVERY_KEY
    )
    return reduce_to_handle_key(found, fidelity) if by_handle_key else found.drop("large")


def _numbered(job: Job, expected: DataFrame) -> DataFrame:
    """Events with ``event_ordinal``, their number in the partition."""
    if job.changefeed.sink_uri.kind is SinkKind.STORAGE:  # directories are not partitions of a topic
        in_order = Window.partitionBy("topic", "partition").orderBy(*DELIVERY_KEY)
        return expected.withColumn("event_ordinal", F.row_number().over(in_order) - 1)
    # A window would buffer all events of a partition before numbering the first.
    number = F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_OF_PARTITION))
    return order(expected, job.stream.topic_partitions).withColumn("event_ordinal", number)
