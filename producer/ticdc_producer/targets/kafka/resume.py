"""Resumes writing: the start offsets of a run, and partitions that an earlier task or run has begun.

They are the committed offsets of a consumer group that has no members and is named after the run
(docs/decisions/0007-runs-that-last.md).

Message ``k`` of a partition is always the same (``docs/design.md#determinism``), so the messages after the
start offset are the first ones that would be written now. The last one is compared, to detect another
writer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka import Message as Delivered

from ticdc_producer.errors import DeliveryError, ForeignMessageError
from ticdc_producer.kafka.client import CONNECT_SECONDS, OUTAGE_TIMEOUT_S, Brokers, connection
from ticdc_producer.kafka.client_errors import broker_error, hint_for, until_answered
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.kafka.topics import Offsets


@dataclass(frozen=True)
class StartOffsets:
    """The start offsets of one run.

    :param brokers: the Kafka cluster.
    :param run: identity of the run; the same if the run is started again.
    """

    brokers: Brokers
    run: str

    def save(self, starts: Offsets, notes: Mapping[tuple[str, int], str] = MappingProxyType({})) -> None:
        """Store all start offsets.

        :param notes: a text for each of the partitions, which is stored with its offset.
        :raises BrokerError: if the brokers reject them.
        """
        pending = [
            TopicPartition(*partition, offset, notes.get(partition, ""))
            for partition, offset in starts.items()
        ]
        client = self._client()

        def commit() -> None:
            # A topic that was just created may still be unknown to the group coordinator.
            nonlocal pending
            results = client.commit(offsets=pending, asynchronous=False)
            failed = {(result.topic, result.partition): result for result in results if result.error}
            pending = [position for position in pending if (position.topic, position.partition) in failed]
            if pending:
                raise KafkaException(next(iter(failed.values())).error)

        try:
            until_answered(commit)
        except KafkaException as error:
            raise broker_error(self.brokers, error) from None
        finally:
            client.close()

    def load(self, topics: Mapping[str, int]) -> Offsets | None:
        """Read the stored offsets; None unless all of these partitions have one.

        :param topics: numbers of partitions by topic.
        :raises BrokerError: if no broker answers.
        """
        stored = self.with_notes(topics)
        return None if stored is None else {partition: offset for partition, (offset, _) in stored.items()}

    def with_notes(self, topics: Mapping[str, int]) -> dict[tuple[str, int], tuple[int, str]] | None:
        """Read the stored offsets with their notes; None unless all of these partitions have an offset.

        :param topics: numbers of partitions by topic.
        :raises BrokerError: if no broker answers.
        """
        requested = [TopicPartition(topic, n) for topic, count in topics.items() for n in range(count)]
        client = self._client()
        try:
            positions = committed_positions(client, requested, CONNECT_SECONDS)
        except KafkaException as error:
            raise broker_error(self.brokers, error) from None
        finally:
            client.close()
        if any(position.offset < 0 for position in positions):
            return None
        return {(p.topic, p.partition): (p.offset, p.metadata or "") for p in positions}

    def _client(self) -> Consumer:
        group = f"ticdc-producer.{self.run}"
        return Consumer({**connection(self.brokers), "group.id": group, "enable.auto.commit": False})


# Messages can be as large as max-message-bytes; a fetch must hold at least one.
_FETCH = {"fetch.message.max.bytes": 16 << 20, "enable.partition.eof": True, "auto.offset.reset": "error"}
_HINT = "another program writes to the topic, but a run needs exclusive access: run again with another topic"


@dataclass(frozen=True)
class PartitionResume:
    """One partition, and the offset at which the messages of the run begin.

    :param start: offset of the run's first message.
    """

    brokers: Brokers
    topic: str
    partition: int
    start: int

    def skip_existing(self, batches: Iterator[MessageBatch]) -> Iterator[MessageBatch]:
        """Skip the messages that the partition already has.

        :raises ForeignMessageError: if the partition has a message that the run did not write.
        :raises DeliveryError: if the broker does not answer.
        """
        reader = self._reader()
        try:
            end = self._end(reader)
            if end < self.start:
                what = f"the partition ends at {end}, but the run began at {self.start}"
                raise self._foreign(what, end, "the topic was recreated in the meantime: start a new run")
            last, rest = self._split(batches, end - self.start)
            if last is not None and _content(last) != _delivered(self._at(reader, end - 1)):
                raise self._foreign("the existing message is not the one that the run writes", end - 1)
        finally:
            reader.close()
        return chain(rest, batches)

    def check_end(self, count: int) -> None:
        """Check that the partition ends after the run's messages.

        :param count: number of messages, all of them acknowledged.
        :raises ForeignMessageError: if it has more.
        :raises DeliveryError: if the broker does not answer.
        """
        reader = self._reader()
        try:
            end = self._end(reader)
        finally:
            reader.close()
        if end != self.start + count:
            raise self._more(count)

    def _split(
        self, batches: Iterator[MessageBatch], count: int
    ) -> tuple[Message | None, Sequence[MessageBatch]]:
        """Skip the first ``count`` messages; return the last of them and the rest of its batch."""
        remaining = count
        while remaining:
            batch = next(batches, None)
            if batch is None:
                raise self._more(count - remaining)
            if remaining <= len(batch):
                (last,) = batch.slice(remaining - 1, 1).messages()
                return last, [batch.slice(remaining)] if remaining < len(batch) else []
            remaining -= len(batch)
        return None, []

    def _more(self, count: int) -> ForeignMessageError:
        what = f"there are more messages than the {count} that the run writes"
        return self._foreign(what, self.start + count)

    def _foreign(self, what: str, offset: int, hint: str = _HINT) -> ForeignMessageError:
        return ForeignMessageError(what, topic=self.topic, partition=self.partition, offset=offset, hint=hint)

    def _reader(self) -> Consumer:
        return Consumer({**connection(self.brokers), **_FETCH, "group.id": "ticdc-producer"})

    def _end(self, reader: Consumer) -> int:
        def end() -> int:
            # A new client without metadata waits 0.7 s for the leader, about once in ten times.
            reader.list_topics(self.topic, timeout=CONNECT_SECONDS)
            partition = TopicPartition(self.topic, self.partition)
            return int(reader.get_watermark_offsets(partition, timeout=CONNECT_SECONDS)[1])

        try:
            return until_answered(end)
        except KafkaException as error:
            raise self._failure(error.args[0]) from None

    def _at(self, reader: Consumer, offset: int) -> Delivered | None:
        """Return the message at an offset; None if it no longer exists."""
        reader.assign([TopicPartition(self.topic, self.partition, offset)])
        message = reader.poll(OUTAGE_TIMEOUT_S)
        if message is None:
            raise self._failure(KafkaError(KafkaError._TIMED_OUT, f"no answer within {OUTAGE_TIMEOUT_S} s"))
        error = message.error()
        if error is None:
            return message if message.offset() == offset else None
        if error.code() in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET):
            return None
        raise self._failure(error)

    def _failure(self, error: KafkaError) -> DeliveryError:
        return DeliveryError(
            str(error.str()), topic=self.topic, partition=self.partition, hint=hint_for(error)
        )


def _content(message: Message) -> tuple[object, ...]:
    return message.key, message.value, list(message.headers)


def _delivered(message: Delivered | None) -> tuple[object, ...]:
    return () if message is None else (message.key(), message.value(), list(message.headers() or ()))


def committed_positions(
    client: Consumer, partitions: list[TopicPartition], seconds: float
) -> list[TopicPartition]:
    """Return what the group of a consumer has committed; a negative offset means that it has nothing.

    :param seconds: timeout of a request, which is sent again while a retry can succeed.
    :raises KafkaException: if the broker does not answer, or has an error of a partition.
    """

    def committed() -> list[TopicPartition]:
        positions = client.committed(partitions, timeout=seconds)
        for position in positions:
            if position.error:
                raise KafkaException(position.error)
        return list(positions)

    return until_answered(committed)
