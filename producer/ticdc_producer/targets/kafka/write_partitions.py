"""Writes the messages of several Kafka partitions in one process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event

from ticdc_producer.errors import DeliveryError, ForeignMessageError, ProducerError
from ticdc_producer.kafka.client import Brokers, Properties
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.kafka.topics import Offsets
from ticdc_producer.targets.kafka.write import PartitionWriter

_WRITERS = 8
"""Partitions that are written at the same time."""


def write_partitions(
    brokers: Brokers,
    properties: Properties,
    partitions: Mapping[tuple[str, int], Iterable[MessageBatch]],
    starts: Offsets,
    claims: str = "",
) -> None:
    """Write the messages that the partitions lack, and wait until they are acknowledged.

    Partitions are written side by side: most of the time goes to waiting for the broker.

    :param properties: librdkafka properties of the producers.
    :param partitions: the messages by topic and partition.
    :param starts: offset of each partition's first message.
    :param claims: URI of the storage for claim-check objects, empty if there is none.
    :raises DeliveryError: for the first partition whose messages or claim-check objects were rejected.
    :raises ForeignMessageError: for a partition with a message that the run did not write.
    """

    interrupt = Event()

    def write(topic: str, partition: int, messages: Iterable[MessageBatch]) -> None:
        try:
            writer = PartitionWriter(brokers, properties, topic, partition, claims, interrupt)
            writer.write(messages, starts[topic, partition])
        except (DeliveryError, ForeignMessageError):
            raise
        except ProducerError as error:
            raise DeliveryError(error.what, topic=topic, partition=partition, hint=error.hint) from error

    with ThreadPoolExecutor(_WRITERS) as pool:
        writes = [pool.submit(write, *name, messages) for name, messages in partitions.items()]
        try:
            wait(writes)
        except BaseException:  # Ctrl-C: Python waits at its end for threads, and a broker may be away
            interrupt.set()
            pool.shutdown(cancel_futures=True)
            raise
    for written in writes:
        written.result()
