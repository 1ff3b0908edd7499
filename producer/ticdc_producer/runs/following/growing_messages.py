"""The messages of a topic that grows, as datasets of an engine, in the order of their arrival; and their
decoder."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Semaphore
from typing import TYPE_CHECKING, cast

from ticdc_producer.config import Changefeed, SinkKind
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineChoice, Estimate, choose_engine
from ticdc_producer.engine.dataset import Dataset, Engine, EngineName
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import ChangefeedError, SparkError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.rows.origin import TABLE_DESCRIPTIONS
from ticdc_producer.runs.decode import names_protocol
from ticdc_producer.runs.targets.existing_topics import brokers_of
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.kafka.follow import growing_topics
from ticdc_producer.targets.kafka.read import OffsetRange, topic_rows
from ticdc_producer.targets.kafka.schema_registry import registry_options
from ticdc_producer.targets.kafka.topics import Offsets
from ticdc_producer.targets.record_batches import TableDescriptions, with_table_schemas

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_WAIT_SECONDS = 0.5
_TRIGGER = "1 second"
"""Spark asks the brokers for new messages this often."""


class GrowingDecoder:
    """The decoder of a topic that grows. A message may describe a table of which later messages have rows.

    :param descriptions: messages that describe tables.
    :ivar decode: the function from messages to events.
    """

    def __init__(self, changefeed: Changefeed, descriptions: Iterable[bytes]) -> None:
        self._changefeed, self._tables = changefeed, TableDescriptions(changefeed.spec)
        self._tables.add(descriptions)
        self.decode = self._decoder()

    @property
    def descriptions(self) -> list[bytes]:
        """The messages that describe tables."""
        return self._tables.values

    def add(self, messages: Dataset) -> None:
        """Look for tables that the next messages describe."""
        known = len(self.descriptions)
        added = with_table_schemas(messages, self._changefeed.protocol, {})
        self._tables.add(cast("Sequence[bytes]", added.get(TABLE_DESCRIPTIONS, ())))
        if len(self.descriptions) > known:
            self.decode = self._decoder()

    def _decoder(self) -> BatchFunction:
        options = registry_options(self._changefeed)
        if self.descriptions:
            options[TABLE_DESCRIPTIONS] = tuple(self.descriptions)
        return event_decoder(self._changefeed.protocol, options, self._changefeed.claim_check_storage_uri)


def check_followable(changefeed: Changefeed) -> None:
    """Refuse a stream that cannot be followed.

    :raises ChangefeedError: for another sink than a topic of a broker.
    """
    if changefeed.sink_uri.kind is SinkKind.STORAGE or changefeed.sink_uri.embedded:
        what = "only a topic of a broker can be followed"
        raise ChangefeedError(what, parameter="sink-uri", hint="kafka://HOST:PORT/TOPIC?protocol=…")


def engine_choice(option: EngineOption) -> EngineChoice:
    """Return the engine that follows a topic."""
    if option == "auto":
        return EngineChoice("local", "one process follows a topic unless `spark` is requested")
    return choose_engine(option, Estimate(events=0))


def growing_messages(
    engine: EngineName,
    changefeed: Changefeed,
    sink_uri: str,
    kafka_properties: Iterable[str],
    offsets: Offsets,
    most: int,
) -> Generator[Dataset | None, None, None]:
    """Yield the next messages of a topic, whenever there are some; None: it waits for messages.

    :param offsets: of the first message of each partition.
    :param most: messages that Spark takes at a time.
    :raises ProducerError: if they cannot be read.
    """
    if engine == "local":
        return local_batches(brokers_of(changefeed), offsets)
    return micro_batches(sink_uri, changefeed, kafka_properties, offsets, most)


def local_batches(brokers: Brokers, offsets: Offsets) -> Generator[Dataset | None, None, None]:
    """Yield the messages as this process reads them; None: none came within half a second.

    :raises BrokerError: for an error of a broker, and if it is away for a minute.
    """
    engine = LocalEngine()
    for batch in growing_topics(brokers, offsets):
        yield engine.of_batches([batch], batch.schema) if batch.num_rows else None


def micro_batches(
    sink_uri: str, changefeed: Changefeed, kafka_properties: Iterable[str], offsets: Offsets, most: int
) -> Generator[Dataset | None, None, None]:
    """Yield the micro-batches of a query of Structured Streaming; None: it waits for messages.

    The query gives the offsets of a micro-batch. A task reads the messages and decodes them at once: a source
    of messages would hand them to the JVM, and the JVM to the task that decodes.

    A micro-batch ends when the next one is taken. The query begins at the offsets, because the follower has a
    checkpoint of its own; the query's checkpoint is temporary.

    :param most: messages of a micro-batch, from Spark 4.2 on.
    :raises SparkError: if the query ends, and for a password in the sink URI, which Spark would show.
    """
    uri = sink_uri if names_protocol(sink_uri, None) else _with_protocol(sink_uri, changefeed.protocol)
    engine, ranges = _growing_ranges(uri, kafka_properties, offsets, most)
    brokers = brokers_of(changefeed)
    frames: Queue[DataFrame] = Queue()
    consumed, ended = Semaphore(0), False

    def hand_over(batch: DataFrame, _number: int) -> None:
        if not ended:
            frames.put(batch)
            consumed.acquire()

    with TemporaryDirectory(prefix="ticdc-producer-query-") as folder:
        query = (
            ranges.writeStream.foreachBatch(hand_over)
            .option("checkpointLocation", folder)
            .trigger(processingTime=_TRIGGER)
            .start()
        )
        try:
            while True:
                with suppress(Empty):
                    rows = frames.get(timeout=_WAIT_SECONDS).collect()
                    yield topic_rows(engine, brokers, [OffsetRange(**row.asDict()) for row in rows])
                    consumed.release()
                    continue
                _check(query)
                if _waits(query):
                    yield None
        finally:
            ended = True
            consumed.release()
            query.stop()


def _growing_ranges(
    sink_uri: str, kafka_properties: Iterable[str], offsets: Offsets, most: int
) -> tuple[Engine, DataFrame]:
    """Return the engine of a session, and its streaming DataFrame of the ranges of offsets."""
    from ticdc_producer.spark.session import spark_session

    session = spark_session()
    from ticdc_producer.engine.spark import SparkEngine
    from ticdc_producer.spark.read_limit import LIMITED

    options = _query_options(sink_uri, kafka_properties, offsets, most if LIMITED else None)
    return SparkEngine(session), session.readStream.format("ticdc").options(**options).load()


def _query_options(
    sink_uri: str, kafka_properties: Iterable[str], offsets: Offsets, most: int | None
) -> dict[str, str]:
    """Return the options of a query of the format ``ticdc`` for the offsets of its micro-batches.

    :param most: messages of a micro-batch; None: Spark is too old to limit them.
    """
    return {
        "sink-uri": sink_uri,
        "rows": "ranges",
        "startingOffsets": _starting_offsets(offsets),
        **({} if most is None else {"maxOffsetsPerTrigger": str(most)}),
        **dict(f"kafka.{setting}".split("=", 1) for setting in kafka_properties),
    }


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
    """Return whether a query has found no new messages, and waits for some.

    It also waits for the time of its next trigger, with messages that were too many for the last micro-batch.
    """
    status = query.status
    return not status["isDataAvailable"] and str(status["message"]).startswith("Waiting")
