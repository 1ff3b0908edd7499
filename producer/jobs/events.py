"""Which event stands where: expected events with the offset and index that the encoder gave them."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from producer.jobs.prepare import Job
from producer.model.shapes import DELIVERY_KEY
from producer.sink.messages import FAULT, HANDLE_KEY_ONLY, NOTES, REFUSED
from producer.stream.expected import expected
from producer.stream.handle_key import shown_by_handle_key
from producer.stream.order import order
from producer.stream.slots import Slots

_PARTITION = ("topic", "partition")
_ROW_OF_PARTITION = (1 << 33) - 1
"""The bits of Spark's ``monotonically_increasing_id`` that count the rows of a Spark partition."""


def expected_events(job: Job, events: DataFrame, messages: DataFrame) -> DataFrame:
    """The events that a reader of a job's messages must see, placed.

    :param events: the event stream; ``messages`` what became of it, notes included.
    """
    losses, catalog = job.encoder.losses, job.catalog
    slots = job.stream.slots
    if job.changefeed.large_message_handle_option != HANDLE_KEY_ONLY:
        return placed(numbered(expected(events, catalog, losses), slots), messages)
    told = numbered(expected(events, catalog, losses, with_handle_key=True), slots)
    large = _noted(messages, HANDLE_KEY_ONLY).withColumn("large", F.lit(True))
    marked = told.join(large, [*_PARTITION, "event"], "left").fillna(False, "large")
    return placed(shown_by_handle_key(marked, losses), messages)


def placed(expected: DataFrame, messages: DataFrame) -> DataFrame:
    """Expected events with ``offset`` and ``index`` of the message that carries them.

    Events and messages of a partition are numbered in delivery order and matched by number; what was
    refused is counted and left out.

    :param expected: as ``stream.expected`` gives them, numbered.
    :param messages: shape ``MESSAGES`` or their account, offsets as in their partition.
    """
    refused = _noted(messages, REFUSED)
    sent = _renumbered(expected.join(refused, [*_PARTITION, "event"], "left_anti"))
    return sent.join(places(messages), [*_PARTITION, "event"]).drop("event", "slot", *DELIVERY_KEY)


def numbered(expected: DataFrame, slots: Slots) -> DataFrame:
    """Events with ``event``, their number in the partition."""
    # A window would hold all events of a partition before it numbers the first.
    number = F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_OF_PARTITION))
    return order(expected, slots).withColumn("event", number)


def account(messages: DataFrame) -> DataFrame:
    """What of messages tells where events are: whoever keeps it need not encode again."""
    note = F.when(F.col("type").isin(*NOTES), F.col("value"))
    return messages.select(*_PARTITION, "offset", "type", "events", note.alias("value"))


def _noted(messages: DataFrame, note: str) -> DataFrame:
    """Numbers of the events that a note is about."""
    lines = messages.where(F.col("type") == note)
    event = F.get_json_object(F.col("value").cast("string"), "$.event").cast("int")
    return lines.select(*_PARTITION, event.alias("event"))


def _renumbered(events: DataFrame) -> DataFrame:
    in_order = Window.partitionBy(*_PARTITION).orderBy("event")
    return events.withColumn("event", F.row_number().over(in_order) - 1)


def places(messages: DataFrame) -> DataFrame:
    """``event, offset, index`` of every event of every message, ``event`` counting from 0 in each partition.

    Where a fault took a message away or repeats one, a note says with which number the events go on.
    """
    told = F.from_json(F.col("value").cast("string"), "offset long, event long")
    notes = messages.where(F.col("type") == FAULT).select(*_PARTITION, told.alias("told"))
    jumps = notes.select(*_PARTITION, "told.*").where("event is not null").groupBy(*_PARTITION, "offset")
    sent = messages.where(~F.col("type").isin(*NOTES)).join(
        jumps.agg(F.max("event").alias("jump")), [*_PARTITION, "offset"], "left"
    )
    so_far = Window.partitionBy(*_PARTITION).orderBy("offset")
    before = F.coalesce(F.sum("events").over(so_far.rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    behind = F.last("shift", ignorenulls=True).over(so_far)
    shifted = sent.withColumn("before", before).withColumn("shift", F.col("jump") - F.col("before"))
    first = shifted.withColumn("first", F.col("before") + F.coalesce(behind, F.lit(0)))
    each = first.where(F.col("events") > 0).select(
        *_PARTITION, "offset", "first", F.explode(F.sequence(F.lit(0), F.col("events") - 1)).alias("index")
    )
    return each.withColumn("event", (F.col("first") + F.col("index")).cast("long")).drop("first")
