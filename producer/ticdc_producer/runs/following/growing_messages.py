"""The messages of a topic that grows, as datasets of an engine, in the order of their arrival."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Semaphore
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import SparkError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.runs.decode import names_protocol
from ticdc_producer.targets.kafka.follow import growing_topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

Offsets: TypeAlias = Mapping[tuple[str, int], int]
"""By topic and partition the offset of the first message."""
_WAIT_SECONDS = 0.5
_TRIGGER = "1 second"
"""Spark asks the brokers for new messages this often."""


def local_batches(brokers: Brokers, offsets: Offsets) -> Generator[Dataset | None, None, None]:
    """Yield the messages as this process reads them; None: none came within half a second.

    :raises BrokerError: for an error of a broker, and if it is away for a minute.
    """
    engine = LocalEngine()
    for batch in growing_topics(brokers, offsets):
        yield engine.of_batches([batch], batch.schema) if batch.num_rows else None


def micro_batches(
    sink_uri: str, protocol: str, kafka_properties: Iterable[str], offsets: Offsets, most: int
) -> Generator[Dataset | None, None, None]:
    """Yield the micro-batches of a query of Structured Streaming; None: it waits for messages.

    A micro-batch ends when the next one is taken. The query begins at the offsets, because the follower
    has a checkpoint of its own; the query's checkpoint is temporary.

    :param most: messages of a micro-batch.
    :raises SparkError: if the query ends, and for a password in the sink URI, which Spark would show.
    """
    from ticdc_producer.spark.session import spark_session

    session = spark_session()
    from ticdc_producer.engine.spark import SparkDataset

    options = {
        "sink-uri": sink_uri if names_protocol(sink_uri, None) else _with_protocol(sink_uri, protocol),
        "rows": "messages",
        "startingOffsets": _starting_offsets(offsets),
        "maxOffsetsPerTrigger": str(most),
        **dict(f"kafka.{setting}".split("=", 1) for setting in kafka_properties),
    }
    frame = session.readStream.format("ticdc").options(**options).load()
    frames: Queue[DataFrame] = Queue()
    taken, ended = Semaphore(0), False

    def hand_over(batch: DataFrame, _number: int) -> None:
        if not ended:
            frames.put(batch)
            taken.acquire()

    with TemporaryDirectory(prefix="ticdc-producer-query-") as folder:
        query = (
            frame.writeStream.foreachBatch(hand_over)
            .option("checkpointLocation", folder)
            .trigger(processingTime=_TRIGGER)
            .start()
        )
        try:
            while True:
                with suppress(Empty):
                    yield SparkDataset(frames.get(timeout=_WAIT_SECONDS), MESSAGES)
                    taken.release()
                    continue
                _check(query)
                if _waits(query):
                    yield None
        finally:
            ended = True
            taken.release()
            query.stop()


def _with_protocol(sink_uri: str, protocol: str) -> str:
    return f"{sink_uri}{'&' if '?' in sink_uri else '?'}protocol={protocol}"


def _starting_offsets(offsets: Offsets) -> str:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in offsets.items():
        by_topic.setdefault(topic, {})[str(partition)] = offset
    return json.dumps(by_topic)


def _check(query: StreamingQuery) -> None:
    """Raise the error of a query that has ended."""
    if query.isActive:
        return
    from ticdc_producer.spark.spark_errors import first_sentence, worker_error

    error = query.exception()
    if error is None:
        raise SparkError("the streaming query was stopped by another program")
    raise worker_error(error) or SparkError(f"the streaming query has failed: {first_sentence(error)}")


def _waits(query: StreamingQuery) -> bool:
    """Return whether a query waits for messages: it neither starts nor plans a micro-batch."""
    return str(query.status["message"]).startswith("Waiting")
