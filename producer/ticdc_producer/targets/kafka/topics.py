"""Checks and creates topics before anything is written.

Source of the defaults: tiflow ``pkg/sink/kafka/options.go`` (three partitions, one replica, topics created
by TiCDC).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition, Uuid
from confluent_kafka.admin import AdminClient, ClusterMetadata, NewTopic, OffsetSpec

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import AuthorizationError, BrokerError, TopicError
from ticdc_producer.kafka.client import (
    CONNECT_SECONDS,
    OUTAGE_TIMEOUT_S,
    Brokers,
    connect_seconds,
    connection,
)
from ticdc_producer.kafka.client_errors import (
    ConnectionErrors,
    broker_error,
    invalid_properties,
    until_answered,
)

_PAUSE_SECONDS = 0.02
_FIRST_SECONDS = 0.5
"""Timeout of the first request; a rejection arrives soon. The timeout doubles with each further request."""

_NO_ID = Uuid(0, 0)

Offsets = Mapping[tuple[str, int], int]
"""Offsets by (topic, partition)."""


@dataclass(frozen=True)
class Topics:
    """The topics of one cluster.

    :param brokers: the Kafka cluster.
    """

    brokers: Brokers

    def _admin(self) -> AdminClient:
        return self._client(ConnectionErrors(self.brokers))

    def _client(self, connection_errors: ConnectionErrors) -> AdminClient:
        try:
            return AdminClient(
                dict[str, Any](connection(self.brokers)) | {"error_cb": connection_errors.on_error}
            )
        except KafkaException as error:
            raise invalid_properties(error) from None

    def existing(self) -> dict[str, int]:
        """Return the number of partitions of every topic.

        :raises BrokerError: if no broker answers in time, or a broker rejects the client.
        :raises ChangefeedError: if the client's properties are invalid.
        """
        return {name: len(topic.partitions) for name, topic in self._metadata().topics.items()}

    def cluster_id(self) -> str | None:
        """Return the id of the cluster; None if its brokers have none.

        :raises BrokerError: as ``existing``, and ``ChangefeedError``.
        """
        number: str | None = self._metadata().cluster_id
        return number

    def _metadata(self) -> ClusterMetadata:
        connection_errors = ConnectionErrors(self.brokers)
        limit = connect_seconds(self.brokers)
        admin, waited, wait = self._client(connection_errors), 0.0, min(_FIRST_SECONDS, limit)
        while True:
            try:
                metadata = admin.list_topics(timeout=wait)
            except KafkaException as error:
                admin.poll(0)
                connection_errors.check()
                waited, wait = waited + wait, min(wait * 2, limit - waited - wait)
                if waited >= limit:
                    raise broker_error(self.brokers, error) from None
            else:
                return metadata

    def prepare(
        self, changefeed: Changefeed, topics: Iterable[str], *, append: bool, replace: bool = False
    ) -> Offsets:
        """Check that the topics can be written, and create missing ones.

        All checks precede the creation of the first topic.

        :param append: accept topics that have messages.
        :param replace: delete the topics if they exist.
        :return: the end offset of each partition.
        :raises TopicError: if a topic has another number of partitions, or has messages.
        """
        ends, absent = self.check(changefeed, topics, append=append, replace=replace)
        if replace:
            self._delete(absent)
        self._create(changefeed, absent)
        new = {(topic, number): 0 for topic in absent for number in range(changefeed.partitions_of(topic))}
        return {**ends, **new}

    def check(
        self, changefeed: Changefeed, topics: Iterable[str], *, append: bool, replace: bool = False
    ) -> tuple[Offsets, list[str]]:
        """Check that the topics can be written.

        :param append: accept topics that have messages.
        :param replace: the topics will be deleted: existing ones count as missing.
        :return: the end offset of each existing partition that is written, and the missing topics.
        :raises TopicError: as ``prepare``.
        """
        names, existing = sorted(topics), self.existing()
        present = [topic for topic in names if topic in existing and not replace]
        absent = [topic for topic in names if topic not in present]
        for topic in present:
            _check_partitions(topic, existing[topic], changefeed)
        ends = self.ends({topic: existing[topic] for topic in present})
        if not append:
            self._check_empty(ends)
        ends = {
            (topic, number): end
            for (topic, number), end in ends.items()
            if number < changefeed.partitions_of(topic)
        }
        if absent and not changefeed.auto_create_topic:
            raise TopicError("the topic does not exist", topic=absent[0], hint="auto-create-topic is false")
        return ends, absent

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        """Return the ids that topics got when they were created (KIP-516); topics without one are left out.

        :raises BrokerError: for a topic that does not exist, and as ``existing``.
        """
        admin, names = self._admin(), TopicCollection([*topics])

        def ids() -> dict[str, Uuid]:
            futures = admin.describe_topics(names, request_timeout=CONNECT_SECONDS)
            return {topic: future.result().topic_id for topic, future in futures.items()}

        try:
            return {topic: str(number) for topic, number in until_answered(ids).items() if number != _NO_ID}
        except KafkaException as error:
            raise broker_error(self.brokers, error) from None

    def ends(self, topics: Mapping[str, int]) -> dict[tuple[str, int], int]:
        """Return the end offset of every partition of the topics."""
        return self._offsets(topics, OffsetSpec.latest())

    def starts(self, topics: Mapping[str, int]) -> dict[tuple[str, int], int]:
        """Return the offset of the first retained message of every partition."""
        return self._offsets(topics, OffsetSpec.earliest())

    def at_time(self, topics: Mapping[str, int], timestamp: int) -> dict[tuple[str, int], int]:
        """Return the offset of the first message of every partition at or after a time.

        :param timestamp: in Unix milliseconds, as in records.
        :return: where no such message exists, the end offset.
        """
        later = self._offsets(topics, OffsetSpec.for_timestamp(timestamp))
        ends = self.ends(topics)
        return {position: ends[position] if offset < 0 else offset for position, offset in later.items()}

    def _offsets(self, topics: Mapping[str, int], spec: OffsetSpec) -> dict[tuple[str, int], int]:
        partitions = [TopicPartition(topic, n) for topic, count in topics.items() for n in range(count)]
        if not partitions:
            return {}
        admin = self._admin()  # its futures are cancelled when it is garbage-collected

        def offsets() -> dict[tuple[str, int], int]:
            # A new client without metadata waits three seconds for the leaders, about once in thirty times.
            for topic in topics:
                _check_name(topic, admin.list_topics(topic, timeout=CONNECT_SECONDS).topics[topic].error)
            futures = admin.list_offsets(dict.fromkeys(partitions, spec), request_timeout=CONNECT_SECONDS)
            return {(p.topic, p.partition): int(future.result().offset) for p, future in futures.items()}

        try:
            return until_answered(offsets)
        except KafkaException as error:
            raise broker_error(self.brokers, error) from None

    def _check_empty(self, ends: Offsets) -> None:
        for (topic, _), end in sorted(ends.items()):
            if end > 0:
                hint = "`replace` deletes them, `append` appends to them"
                what = "the topic already holds messages"
                raise TopicError(what, topic=topic, hint=hint).about("append", "replace")

    def _delete(self, topics: Iterable[str]) -> None:
        """Delete those of the topics that exist, and wait until the brokers no longer list them."""
        present = sorted(set(topics) & self.existing().keys())
        if not present:
            return
        admin = self._admin()
        for topic, future in admin.delete_topics(present, request_timeout=CONNECT_SECONDS).items():
            try:
                self._result(future)
            except BrokerError as error:
                raise TopicError(f"cannot delete the topic: {error.what}", topic=topic) from None
        deadline = monotonic() + OUTAGE_TIMEOUT_S
        while remaining := sorted(set(present) & self.existing().keys()):
            if monotonic() > deadline:
                raise TopicError("the brokers do not delete the topic", topic=remaining[0])
            admin.poll(_PAUSE_SECONDS)

    def _create(self, changefeed: Changefeed, topics: list[str]) -> None:
        # A message may be as large as the changefeed allows. Brokers count whole batches, which the client
        # fills up to a little less than Kafka's own default, 1 MiB.
        config = {"max.message.bytes": str(max(changefeed.max_message_bytes + 1024, 1 << 20))}
        new = [
            NewTopic(
                topic,
                num_partitions=changefeed.partitions_of(topic),
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
                self._result(future)
            except AuthorizationError as error:
                raise AuthorizationError(
                    f"cannot create topic {topic}: {error.what}",
                    address=error.address,
                    hint="the user needs the ACL Create on it, or on the cluster",
                ) from None
            except BrokerError as error:
                raise TopicError(f"cannot create the topic: {error.what}", topic=topic) from None

    def _result(self, future: Any) -> Any:
        try:
            return future.result()
        except KafkaException as error:
            raise broker_error(self.brokers, error) from None


def _check_name(topic: str, error: KafkaError | None) -> None:
    """Check the broker's answer about one topic.

    :raises TopicError: if the broker rejects its name. A request for its offsets would time out.
    """
    if error is not None and error.code() == KafkaError.TOPIC_EXCEPTION:
        hint = "Kafka accepts 1 to 249 of A-Z a-z 0-9 . _ -, and not . or .."
        raise TopicError("Kafka rejects the name of the topic", topic=topic, hint=hint)


def _check_partitions(topic: str, existing: int, changefeed: Changefeed) -> None:
    """Check the number of partitions of a topic.

    The sink URI's topic may have more than ``partition-num``; those after the first ones get no messages.

    :raises TopicError: for a topic with too few partitions, or another topic with too many.
    """
    expected = changefeed.partitions_of(topic)
    if existing < expected or (existing > expected and topic != changefeed.sink_uri.topic):
        raise TopicError(
            f"the topic has {existing} partitions, but the changefeed has partition-num={expected}",
            topic=topic,
            hint=f"set partition-num={existing}",
        )
