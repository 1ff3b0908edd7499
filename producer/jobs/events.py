"""Which event stands where: expected events with the offset and index that the encoder gave them."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from producer.model.shapes import DELIVERY_KEY
from producer.sink.messages import REFUSED

_PARTITION = ("topic", "partition")


def placed(expected: DataFrame, messages: DataFrame) -> DataFrame:
    """Expected events with ``offset`` and ``index`` of the message that carries them.

    Events and messages of a partition are numbered in delivery order and matched by number; what was
    refused is counted and left out.

    :param expected: as ``stream.expected`` gives them.
    :param messages: shape ``MESSAGES``, offsets as in their partition.
    """
    in_order = Window.partitionBy(*_PARTITION).orderBy(*DELIVERY_KEY)
    numbered = expected.withColumn("event", F.row_number().over(in_order) - 1)
    sent = _renumbered(numbered.join(_refused(messages), [*_PARTITION, "event"], "left_anti"))
    return sent.join(_places(messages), [*_PARTITION, "event"]).drop("event", "slot", *DELIVERY_KEY)


def _refused(messages: DataFrame) -> DataFrame:
    lines = messages.where(F.col("type") == REFUSED)
    event = F.get_json_object(F.col("value").cast("string"), "$.event").cast("int")
    return lines.select(*_PARTITION, event.alias("event"))


def _renumbered(events: DataFrame) -> DataFrame:
    in_order = Window.partitionBy(*_PARTITION).orderBy("event")
    return events.withColumn("event", F.row_number().over(in_order) - 1)


def _places(messages: DataFrame) -> DataFrame:
    """``event, offset, index`` of every event of every message, ``event`` counting from 0."""
    in_order = Window.partitionBy(*_PARTITION).orderBy("offset", "index")
    each = messages.where((F.col("type") != REFUSED) & (F.col("events") > 0)).select(
        *_PARTITION, "offset", F.explode(F.sequence(F.lit(0), F.col("events") - 1)).alias("index")
    )
    return each.withColumn("event", F.row_number().over(in_order) - 1)
