"""A consumer group of a test: what a consumer has committed to Kafka, read by somebody else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import uuid4

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.client import Brokers, connect_seconds, connection
from ticdc_producer.targets.kafka.resume import committed_positions

_PARTITIONS = 8
"""Partitions of a new topic, or as many as are needed: random histories have at most four."""


class ConsumerGroups:
    """The groups of a cluster. Offsets are committed to topics that exist, so the topics are created.

    :param brokers: the cluster.
    """

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._seconds = connect_seconds(brokers)
        self._admin = AdminClient({**connection(brokers)})
        self._created: dict[str, int] = {}

    @property
    def bootstrap(self) -> str:
        """The address for a consumer of the group."""
        return str(self._brokers)

    def new_group(self, topics: Mapping[str, int]) -> str:
        """Return the name of a group without offsets, for topics that exist then.

        :param topics: the number of partitions that each topic needs.
        :raises BrokerError: if a topic cannot be created, or exists with fewer partitions.
        """
        for topic, partitions in topics.items():
            if self._created.get(topic, 0) < partitions:
                self._created[topic] = self._create(topic, partitions)
        return f"ticdc-producer-{uuid4().hex}"

    def _create(self, topic: str, partitions: int) -> int:
        number = max(partitions, _PARTITIONS)
        new = NewTopic(topic, num_partitions=number, replication_factor=1)
        try:
            self._admin.create_topics([new], request_timeout=self._seconds)[topic].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise self._error(f"the topic {topic} cannot be created", error) from None
            number = self._partitions(topic)
            if number < partitions:
                what = f"the topic {topic} exists with {number} partitions, not {partitions}"
                hint = "use a broker of its own for tests"
                raise BrokerError(what, address=self.bootstrap, hint=hint) from None
        return number

    def _partitions(self, topic: str) -> int:
        try:
            return len(self._admin.list_topics(topic, timeout=self._seconds).topics[topic].partitions)
        except KafkaException as error:
            raise self._error(f"the topic {topic} cannot be read", error) from None

    def committed(self, group: str, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Return the committed offset of each partition that has one.

        A consumer reads them: librdkafka's admin client gives up, and may crash the process, while a new
        broker loads the group.

        :raises BrokerError: if the group cannot be read.
        """
        topic_partitions = [TopicPartition(topic, number) for topic, number in partitions]
        own = {"group.id": group, "isolation.level": "read_committed"}
        consumer = Consumer({**connection(self._brokers), **own})
        try:
            parts = committed_positions(consumer, topic_partitions, self._seconds)
        except KafkaException as error:
            raise self._error("the committed offsets cannot be read", error) from None
        finally:
            consumer.close()
        return {(part.topic, part.partition): part.offset for part in parts if part.offset >= 0}

    def _error(self, what: str, error: KafkaException) -> BrokerError:
        return BrokerError(f"{what}: {error.args[0].str()}", address=self.bootstrap)
