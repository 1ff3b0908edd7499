"""The Spark session in which a stream is read, chosen by the size of the stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow.dataset as ds
from pyspark.sql import SparkSession

from ticdc_producer.config import Changefeed
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.golden.write import MESSAGE_FILES
from ticdc_producer.targets.kafka.read import OffsetRange

LIGHT_MESSAGES = 100_000
"""Below this many messages, a session that starts quickly beats one that works quickly."""

PRELOADED_MODULES = (
    "ticdc_producer.targets.encoding.encoded_stream",
    "ticdc_producer.targets.decoding.decode",
)
"""Modules that the Python workers of a run or verification load in advance."""


def topic_session(changefeed: Changefeed, ranges: Sequence[OffsetRange]) -> SparkSession:
    """The session to read some ranges of topics."""
    messages = sum(part.end - part.start for part in ranges)
    return spark_session(
        light=messages < LIGHT_MESSAGES, rows=max_rows(changefeed, messages), preload=PRELOADED_MODULES
    )


def folder_session(changefeed: Changefeed, folder: Path) -> SparkSession:
    """The session to read a golden folder. Parquet files mean a large folder."""
    files = folder / MESSAGE_FILES
    if not files.exists():
        return spark_session(light=True, preload=PRELOADED_MODULES)
    return spark_session(rows=max_rows(changefeed, ds.dataset(files, format="parquet").count_rows()))


def max_rows(changefeed: Changefeed, messages: int) -> int:
    """Upper limit of the rows in ``messages`` messages; the size of tasks depends on it."""
    return messages * changefeed.max_batch_size if changefeed.batches_rows else messages
