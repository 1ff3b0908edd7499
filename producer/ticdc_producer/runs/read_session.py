"""The Spark session to read a stream in, by how much there is to read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow.dataset as ds
from pyspark.sql import SparkSession

from ticdc_producer.config import Changefeed
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.golden.write import MESSAGE_FILES
from ticdc_producer.targets.kafka.read import Range

LIGHT_MESSAGES = 100_000
"""Below this many messages a session that starts quickly is worth more than one that runs quickly."""

LOADS = ("ticdc_producer.targets.encoding.messages", "ticdc_producer.targets.decoding.decode")
"""What workers need of a run or a verification."""

BATCHED = ("open-protocol", "craft")
"""Protocols that have several rows in a message."""


def topic_session(feed: Changefeed, ranges: Sequence[Range]) -> SparkSession:
    """For what stands in some ranges of topics."""
    messages = sum(part.end - part.start for part in ranges)
    return spark_session(light=messages < LIGHT_MESSAGES, rows=most_rows(feed, messages), loads=LOADS)


def folder_session(feed: Changefeed, folder: Path) -> SparkSession:
    """For the messages of a golden folder, which is large if they are in parquet."""
    files = folder / MESSAGE_FILES
    if not files.exists():
        return spark_session(light=True, loads=LOADS)
    return spark_session(rows=most_rows(feed, ds.dataset(files, format="parquet").count_rows()))


def most_rows(feed: Changefeed, messages: int) -> int:
    """How many rows may be in so many messages: tasks are sized by the rows, which nobody has counted yet."""
    return messages * feed.max_batch_size if feed.protocol in BATCHED else messages
