"""Resumes writing: where the partitions ended before a run, and what an earlier task has written.

Message ``k`` of a partition is always the same (``docs/design.md#determinism``), so the messages after the
end are the first ones that would be written now. They are compared. The ids of messages do not count them:
they have gaps between ledgers, and at entries that are not messages. So two messages of a run follow one
another if no message can be read between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.errors import BrokerError, DeliveryError, ForeignMessageError
from ticdc_producer.targets.pulsar.client import PulsarCluster, reason

if TYPE_CHECKING:
    import pulsar

Ends: TypeAlias = Mapping[str, bytes]
"""The serialized id of the last message of each partition of a topic, by the partition's name, in order.

It is that of the earliest message for an empty partition, and empty for one that stores no messages.
"""
_CONSUME = "a run reads what it has written; the client needs the permission to consume"
_FOREIGN = (
    "another program writes to the topic, or the client lost its connection and sent messages again, which"
    " Pulsar's deduplication prevents: run again with another topic"
)
_THREADS = 8
_READ_AHEAD = 100
"""Messages that the client requests before they are read. They may be large."""


def stores_messages(topic: str) -> bool:
    """Return whether Pulsar stores the messages of a topic.

    >>> stores_messages("persistent://a/b/c"), stores_messages("c"), stores_messages("non-persistent://a/b/c")
    (True, True, False)
    """
    return not topic.startswith("non-persistent://")


def topic_ends(cluster: PulsarCluster, topics: Iterable[str]) -> dict[str, Ends]:
    """Return where the partitions of topics end.

    :raises BrokerError: if no broker answers, or it refuses to read a partition.
    """
    import pulsar

    with cluster.client() as client, ThreadPoolExecutor(_THREADS) as pool:
        try:
            partitions = {topic: client.get_topic_partitions(topic) for topic in topics}
            names = [name for of_topic in partitions.values() for name in of_topic]
            ends = dict(zip(names, pool.map(partial(_end, cluster, client), names), strict=True))
        except pulsar.PulsarException as error:
            what = f"the topics of Pulsar at {cluster.url} cannot be read: {reason(error)}"
            raise BrokerError(what, hint=_CONSUME) from None
    return {topic: {name: ends[name] for name in of_topic} for topic, of_topic in partitions.items()}


def _end(cluster: PulsarCluster, client: pulsar.Client, partition: str) -> bytes:
    import pulsar

    if not stores_messages(partition):
        return b""
    with closing(_reader(client, partition, pulsar.MessageId.latest, inclusive=True)) as reader:
        message = _next(reader, cluster)
    last = pulsar.MessageId.earliest if message is None else message.message_id()
    return bytes(last.serialize())


def _reader(
    client: pulsar.Client, partition: str, start: pulsar.MessageId, *, inclusive: bool = False
) -> pulsar.Reader:
    """Return a reader of a partition.

    :param inclusive: whether it begins with the message ``start`` instead of the next one.
    """
    return client.create_reader(
        partition, start, receiver_queue_size=_READ_AHEAD, start_message_id_inclusive=inclusive
    )


def _next(reader: pulsar.Reader, cluster: PulsarCluster) -> pulsar.Message | None:
    """Return the next message; None at the end."""
    return reader.read_next(cluster.timeout_ms) if reader.has_message_available() else None


class PartitionMessages:
    """The messages of a run in one partition: those that it has, and those that are sent to it.

    :param partition: topic and number of the partition.
    :param name: its name, by which clients read it.
    :param end: where it ended before the run, as in ``Ends``.
    :param failures: receives the numbers of partitions with the reasons of failed messages.
    :raises DeliveryError: if the broker does not answer.
    """

    def __init__(
        self,
        cluster: PulsarCluster,
        client: pulsar.Client,
        partition: tuple[str, int],
        name: str,
        end: bytes,
        failures: list[tuple[int, str]],
    ) -> None:
        import pulsar

        self._cluster, self._client = cluster, client
        self._topic, self._number = partition
        self._name, self._failures = name, failures
        self._count = 0
        self._last = pulsar.MessageId.deserialize(end) if end else None
        self._unproven: list[tuple[pulsar.MessageId, pulsar.MessageId]] = []
        self._reader: pulsar.Reader | None = None
        self._ahead: pulsar.Message | None = None
        if end:
            with self._reading():
                self._reader = _reader(client, name, self._last)
                self._read_ahead()

    def skip(self, key: str | None, value: bytes) -> bool:
        """Return whether the partition has the next message of the run.

        :raises ForeignMessageError: if it has another one.
        :raises DeliveryError: if the broker does not answer.
        """
        message = self._ahead
        if message is None:
            return False
        if (message.partition_key(), message.data()) != (key or "", value):
            raise self.foreign("the existing message is not the one that the run writes")
        self._last = message.message_id()
        self._count += 1
        with self._reading():
            self._read_ahead()
        return True

    def _read_ahead(self) -> None:
        if self._reader is not None:
            self._ahead = _next(self._reader, self._cluster)
            if self._ahead is None:
                self._reader.close()
                self._reader = None

    def on_delivery(self, result: object, message_id: pulsar.MessageId) -> None:
        """Note that the next message was acknowledged, or why not. The client has a thread for this."""
        name = getattr(result, "name", str(result))
        if name != "Ok":
            self._failures.append((self._number, name))
            return
        self._count += 1
        if self._last is not None:
            # A batch is one entry of a ledger, with messages of one producer.
            if message_id.batch_index() <= 0 and not _is_next_entry(self._last, message_id):
                self._unproven.append((self._last, message_id))
            self._last = message_id

    def check_end(self) -> None:
        """Check that the messages of the run follow one another, and that none follows them.

        :raises ForeignMessageError: if the partition has others.
        :raises DeliveryError: if the broker does not answer.
        """
        if self._last is None:
            return
        for before, after in (*self._unproven, (self._last, None)):
            message = self._following(before)
            if message is not None and (after is None or _position(message.message_id()) < _position(after)):
                raise self.foreign(f"there are more messages than the {self._count} that the run writes")

    def _following(self, before: pulsar.MessageId) -> pulsar.Message | None:
        """Return the message after another one; None at the end."""
        import pulsar

        # The id that the producer of a partition returns lacks its number. The client compares it.
        start = pulsar.MessageId(_index(self._name), *_position(before))
        with self._reading(), closing(_reader(self._client, self._name, start)) as reader:
            return _next(reader, self._cluster)

    def foreign(self, what: str) -> ForeignMessageError:
        """Return the error for a message that is not the run's."""
        return ForeignMessageError(
            what, topic=self._topic, partition=self._number, offset=self._count, hint=_FOREIGN
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Convert the client's errors of the block."""
        import pulsar

        try:
            yield
        except pulsar.PulsarException as error:
            what = f"the partition cannot be read: {reason(error)}"
            raise DeliveryError(what, topic=self._topic, partition=self._number, hint=_CONSUME) from None


def _index(partition: str) -> int:
    """Return the number of a partition in its ids, which is that of its name; -1 for another topic.

    >>> _index("persistent://a/b/c-partition-2"), _index("persistent://a/b/c")
    (2, -1)
    """
    _, divides, number = partition.rpartition("-partition-")
    return int(number) if divides and number.isdecimal() else -1


def _position(message_id: pulsar.MessageId) -> tuple[int, int, int]:
    return message_id.ledger_id(), message_id.entry_id(), message_id.batch_index()


def _is_next_entry(before: pulsar.MessageId, after: pulsar.MessageId) -> bool:
    """Return whether one entry of a ledger follows another, so that no message is between them."""
    (ledger, entry, _), (next_ledger, next_entry, _) = _position(before), _position(after)
    return ledger == next_ledger and entry + 1 == next_entry
