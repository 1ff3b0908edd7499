"""Topics before anything is written: there with the right number of partitions, and empty.

Source of the defaults: tiflow ``pkg/sink/kafka/options.go`` (three partitions, one replica, topics made
by TiCDC itself).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from producer.changefeed import Changefeed
from producer.changefeed.kafka_client import CONNECT_SECONDS, connection
from producer.errors import BrokerError, TopicError

Offsets = Mapping[tuple[str, int], int]
"""An offset for each (topic, partition)."""


@dataclass(frozen=True)
class Topics:
    """The topics of one cluster.

    :param bootstrap: ``host:port[,host:port]``.
    """

    bootstrap: str

    def _admin(self) -> AdminClient:
        return AdminClient(connection(self.bootstrap))

    def existing(self) -> dict[str, int]:
        """Number of partitions of every topic.

        :raises BrokerError: if no broker answers in time.
        """
        try:
            metadata = self._admin().list_topics(timeout=CONNECT_SECONDS)
        except KafkaException as error:
            raise unreachable(self.bootstrap, error) from None
        return {name: len(topic.partitions) for name, topic in metadata.topics.items()}

    def prepare(self, changefeed: Changefeed, topics: Iterable[str], *, append: bool) -> Offsets:
        """Make sure that the topics can be written; create those that are absent.

        All checks come before the first topic is created.

        :param append: accept topics that hold messages.
        :return: the offset of each partition's end.
        :raises TopicError: for another number of partitions, or messages in a topic.
        """
        wanted, there = sorted(topics), self.existing()
        present = [topic for topic in wanted if topic in there]
        absent = [topic for topic in wanted if topic not in there]
        for topic in present:
            _check_partitions(topic, there[topic], changefeed.partition_num)
        ends = self.ends({topic: there[topic] for topic in present})
        if not append:
            self._check_empty(ends)
        if absent and not changefeed.auto_create_topic:
            raise TopicError("the topic does not exist", topic=absent[0], hint="auto-create-topic is false")
        self._create(changefeed, absent)
        new = {(topic, partition): 0 for topic in absent for partition in range(changefeed.partition_num)}
        return {**ends, **new}

    def ends(self, topics: Mapping[str, int]) -> dict[tuple[str, int], int]:
        """End offset of every partition of the topics."""
        return self._offsets(topics, OffsetSpec.latest())

    def starts(self, topics: Mapping[str, int]) -> dict[tuple[str, int], int]:
        """Offset of the first message that every partition still holds."""
        return self._offsets(topics, OffsetSpec.earliest())

    def _offsets(self, topics: Mapping[str, int], spec: OffsetSpec) -> dict[tuple[str, int], int]:
        places = [TopicPartition(topic, n) for topic, count in topics.items() for n in range(count)]
        if not places:
            return {}
        admin = self._admin()  # its futures are cancelled when it goes
        asked = admin.list_offsets(dict.fromkeys(places, spec), request_timeout=CONNECT_SECONDS)
        return {(p.topic, p.partition): self._answer(future).offset for p, future in asked.items()}

    def _check_empty(self, ends: Offsets) -> None:
        for (topic, _), end in sorted(ends.items()):
            if end > 0:
                raise TopicError(
                    "the topic already holds messages", topic=topic, hint="--append writes behind them"
                )

    def _create(self, changefeed: Changefeed, topics: list[str]) -> None:
        # A message may be as large as the changefeed allows. Brokers count whole batches, which the client
        # fills up to a little less than Kafka's own default, 1 MiB.
        config = {"max.message.bytes": str(max(changefeed.max_message_bytes + 1024, 1 << 20))}
        new = [
            NewTopic(
                topic,
                num_partitions=changefeed.partition_num,
                replication_factor=changefeed.replication_factor,
                config=config,
            )
            for topic in topics
        ]
        if not new:
            return
        admin = self._admin()
        for topic, future in admin.create_topics(new, request_timeout=CONNECT_SECONDS).items():
            try:
                self._answer(future)
            except BrokerError as error:
                raise TopicError(f"cannot create the topic: {error.what}", topic=topic) from None

    def _answer(self, future: Any) -> Any:
        try:
            return future.result()
        except KafkaException as error:
            raise unreachable(self.bootstrap, error) from None


def _check_partitions(topic: str, there: int, wanted: int) -> None:
    if there != wanted:
        raise TopicError(
            f"the topic has {there} partitions, the changefeed wants {wanted}",
            topic=topic,
            hint=f"partition-num={there} fits it",
        )


def unreachable(bootstrap: str, error: KafkaException) -> BrokerError:
    """What a failed request says to the user."""
    cause: KafkaError = error.args[0]
    if cause.code() in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT):
        hint = "is Kafka running there, and does the address reach it?"
        return BrokerError("no Kafka broker answers", address=bootstrap, hint=hint)
    return BrokerError(str(cause.str()), address=bootstrap)
