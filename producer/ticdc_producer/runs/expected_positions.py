"""Which event stands where: expected events with the offset and index that the encoder gave them."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.config import SinkKind
from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.pipeline.expected_events import expected
from ticdc_producer.pipeline.handle_key import shown_by_handle_key
from ticdc_producer.pipeline.order import order
from ticdc_producer.runs.prepare import Job

_EVENT = ("topic", "partition", "event")
_ROW_OF_PARTITION = (1 << 33) - 1
"""The bits of Spark's ``monotonically_increasing_id`` that count the rows of a Spark partition."""


def expected_events(job: Job, events: DataFrame, places: DataFrame) -> DataFrame:
    """The events that a reader of a job's messages must see, placed.

    :param events: the event stream; ``places`` where its messages carry them (shape ``EVENT_PLACES``).
    """
    losses, catalog = job.encoder.losses, job.catalog
    by_handle_key = job.changefeed.large_message_handle_option == "handle-key-only"
    told = _numbered(job, expected(events, catalog, losses, with_handle_key=by_handle_key))
    carried = places.where("offset is not null").select(
        *_EVENT, "offset", "index", F.col("handle_key_only").alias("large")
    )
    # So well do places compress that Spark takes millions of them for a small table, and would broadcast it.
    found = told.join(carried.hint("merge"), [*_EVENT]).drop("event", "slot", *DELIVERY_KEY)
    return shown_by_handle_key(found, losses) if by_handle_key else found.drop("large")


def _numbered(job: Job, expected: DataFrame) -> DataFrame:
    """Events with ``event``, their number in the partition."""
    if job.changefeed.sink_uri.kind is SinkKind.STORAGE:  # directories have no slots
        in_order = Window.partitionBy("topic", "partition").orderBy(*DELIVERY_KEY)
        return expected.withColumn("event", F.row_number().over(in_order) - 1)
    # A window would hold all events of a partition before it numbers the first.
    number = F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_OF_PARTITION))
    return order(expected, job.stream.slots).withColumn("event", number)
