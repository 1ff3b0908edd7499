"""Reads the rows of a storage folder as a DataFrame of messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.config.file_system import file_system
from ticdc_producer.model.dataframes import MESSAGES
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.decoding.dataframes import record_batches
from ticdc_producer.targets.storage.listing import DataFile, Listing
from ticdc_producer.targets.storage.read import file_records


def storage_messages(spark: SparkSession, listing: Listing, protocol: str, options: Options) -> DataFrame:
    """The rows of all data files (shape ``MESSAGES``); each file is read by one task.

    The topic is the directory; offsets increase with file number and row.
    """
    uri = listing.uri
    tasks = spark.createDataFrame(
        [astuple(file) for file in listing.data],
        "directory string, number long, name string, version_folder string",
    )

    def fetch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        system, folder = file_system(uri, "sink-uri")
        for task in (task for batch in batches for task in batch.to_pylist()):
            yield from record_batches(file_records(system, folder, DataFile(**task), protocol, options))

    return tasks.repartition("directory", "number").mapInArrow(fetch, MESSAGES)
