"""Micro-batches of a streaming read: as Spark asks for them, and by Spark itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.serializers import CPickleSerializer
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.streaming.datasource import ReadAllAvailable

from pyspark_ticdc import DefaultSource

POSITION = ("topic", "partition", "offset", "index", "kind", "commit_ts", "op")
_PICKLE = CPickleSerializer()


class MicroBatches:
    """Calls a reader in the order in which Spark calls it, with its serializers, without Spark's processes.

    :ivar offset: the checkpoint.
    """

    def __init__(self, **options: str) -> None:
        self._source = DefaultSource(CaseInsensitiveDict(options))
        self._schema = self._source.schema()
        self.offset: dict[str, Any] | None = None

    def start(self) -> None:
        """Begin a query that has no checkpoint yet."""
        self.offset = _json(self._source.streamReader(self._schema).initialOffset())

    def read(self) -> list[list[dict[str, Any]]]:
        """Start the query again, and return the micro-batches of the messages that are there."""
        reader = self._source.streamReader(self._schema)
        reader.prepareForTriggerAvailableNow()
        limit = reader.getDefaultReadLimit()
        batches = []
        start = self.offset or _json(reader.initialOffset())
        while (end := _json(reader.latestOffset(start, limit))) != start:
            batches.append(self.between(start, end))
            start = self.offset = end
        assert _json(reader.latestOffset(start, ReadAllAvailable())) == start
        return batches

    def between(self, start: dict[str, Any], end: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows between two offsets, read by a new process."""
        reader = self._source.streamReader(self._schema)
        parts = [_PICKLE.loads(_PICKLE.dumps(part)) for part in reader.partitions(start, end)]
        return [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]


def _json(offset: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(offset))


class SparkBatches:
    """Runs a streaming query until it has read what is there, and collects its micro-batches."""

    def __init__(self, spark: SparkSession, checkpoint: Path, **options: str) -> None:
        self._spark, self.checkpoint, self._options = spark, checkpoint, options
        self.rows: dict[int, list[Row]] = {}

    def read(self) -> list[list[Row]]:
        """Return the rows of the micro-batches of this run."""
        self.rows = {}
        frame = self._spark.readStream.format("ticdc").options(**self._options).load()

        def collect(batch: DataFrame, number: int) -> None:
            self.rows[number] = batch.collect()

        query = (
            frame.writeStream.foreachBatch(collect)
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(300)
        return [self.rows[number] for number in sorted(self.rows)]

    def forget_last_commit(self) -> int:
        """Make the next run repeat the last micro-batch, as after a crash."""
        last = max(int(path.name) for path in (self.checkpoint / "commits").iterdir() if path.name.isdigit())
        (self.checkpoint / "commits" / str(last)).unlink()
        (self.checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
        return last


def events_of(rows: Iterable[Mapping[str, object] | Row]) -> list[tuple[object, ...]]:
    """What is compared of events, in order."""
    return sorted((tuple(row[name] for name in POSITION) for row in rows), key=str)
