"""Topics before anything is written: there with the right number of partitions, and empty.

Source of the defaults: tiflow ``pkg/sink/kafka/options.go`` (three partitions, one replica, topics made
by TiCDC itself).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import AuthorizationError, BrokerError, TopicError
from ticdc_producer.kafka.client import CONNECT_SECONDS, PATIENCE_SECONDS, Brokers, connection
from ticdc_producer.kafka.client_errors import Refusals, failure, may_pass, unusable

_PAUSE_SECONDS = 0.2
_FIRST_SECONDS = 0.5
"""The first look is short, since a refusal is known soon; each further one waits twice as long."""

Offsets = Mapping[tuple[str, int], int]
"""An offset for each (topic, partition)."""


@dataclass(frozen=True)
class Topics:
    """The topics of one cluster.

    :param brokers: where Kafka is.
    """

    brokers: Brokers

    def _admin(self) -> AdminClient:
        return self._watched(Refusals(self.brokers))

    def _watched(self, refusals: Refusals) -> AdminClient:
        try:
            return AdminClient(dict[str, Any](connection(self.brokers)) | {"error_cb": refusals.seen})
        except KafkaException as error:
            raise unusable(error) from None

    def existing(self) -> dict[str, int]:
        """Number of partitions of every topic.

        :raises BrokerError: if no broker answers in time, or one refuses the client.
        :raises ChangefeedError: if the client's properties are wrong.
        """
        refusals = Refusals(self.brokers)
        admin, waited, wait = self._watched(refusals), 0.0, _FIRST_SECONDS
        while True:
            try:
                metadata = admin.list_topics(timeout=wait)
            except KafkaException as error:
                admin.poll(0)
                refusals.check()
                waited, wait = waited + wait, min(wait * 2, CONNECT_SECONDS - waited - wait)
                if waited >= CONNECT_SECONDS:
                    raise failure(self.brokers, error) from None
            else:
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
        deadline = monotonic() + PATIENCE_SECONDS
        while True:
            asked = admin.list_offsets(dict.fromkeys(places, spec), request_timeout=CONNECT_SECONDS)
            try:
                return {(p.topic, p.partition): int(future.result().offset) for p, future in asked.items()}
            except KafkaException as error:
                if not may_pass(error) or monotonic() > deadline:
                    raise failure(self.brokers, error) from None
                admin.poll(_PAUSE_SECONDS)

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
            except AuthorizationError as error:
                raise AuthorizationError(
                    f"cannot create topic {topic}: {error.what}",
                    address=error.address,
                    hint="the user needs the ACL Create on it, or on the cluster",
                ) from None
            except BrokerError as error:
                raise TopicError(f"cannot create the topic: {error.what}", topic=topic) from None

    def _answer(self, future: Any) -> Any:
        try:
            return future.result()
        except KafkaException as error:
            raise failure(self.brokers, error) from None


def _check_partitions(topic: str, there: int, wanted: int) -> None:
    if there != wanted:
        raise TopicError(
            f"the topic has {there} partitions, the changefeed wants {wanted}",
            topic=topic,
            hint=f"partition-num={there} fits it",
        )
