"""The broker of a pytest run, and topics that are created, filled and deleted without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby

from confluent_kafka.admin import AdminClient

from ticdc_producer.config import Changefeed
from ticdc_producer.installation import missing_part
from ticdc_producer.kafka.client import CONNECT_SECONDS, Brokers, Cluster, connection
from ticdc_producer.model.event import Message, Record
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.targets.kafka.topics import Offsets, Topics
from ticdc_producer.targets.kafka.write import PartitionWriter


@dataclass(frozen=True, slots=True)
class Broker:
    """A running Kafka broker.

    :param bootstrap: ``host:port[,host:port]`` for clients.
    :param embedded: whether it is embedded; such a broker and its topics are removed when the run ends.
    :param client: properties that clients need besides the address, such as TLS and credentials, as
        librdkafka spells them: ``Consumer({"bootstrap.servers": broker.bootstrap, **broker.client, …})``.
    """

    bootstrap: str
    embedded: bool
    client: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def cluster(self) -> Cluster:
        """Address and client properties as one object."""
        return Cluster(self.bootstrap, self.client)


@contextmanager
def broker(bootstrap: str | None, client: Iterable[str] = ()) -> Iterator[Broker]:
    """Provide a broker for the duration of the block.

    :param bootstrap: address of a running broker; None starts an embedded one.
    :param client: ``name=value`` each, properties for clients of a running broker; ``${NAME}`` in a value is
        an environment variable.
    :raises BrokerError: if the broker does not answer, refuses the client, or does not start.
    :raises ChangefeedError: if a property is invalid, or cannot be set by users.
    :raises JavaError: if no Java is found for an embedded broker.
    :raises MissingPartError: if the extra ``kafka`` is not installed, which an embedded broker needs.
    """
    if bootstrap is not None:
        from ticdc_producer.config.kafka_properties import parse_kafka_properties
        from ticdc_producer.targets.kafka.topics import Topics

        running = Broker(bootstrap, embedded=False, client=parse_kafka_properties(client))
        Topics(running.cluster).existing()
        yield running
        return
    from ticdc_producer.kafka.embedded import EmbeddedKafka

    with ExitStack() as stack:
        try:
            kafka = stack.enter_context(EmbeddedKafka())
        except ImportError as error:
            raise missing_part(error) or error from None
        yield Broker(kafka.bootstrap, embedded=True)


_WRITERS = 8


def create(brokers: Brokers, changefeed: Changefeed, topics: Iterable[str]) -> Offsets:
    """Create topics with the changefeed's settings: partitions, replicas, maximum message size.

    :return: the end offset of each partition, for ``send``.
    :raises BrokerError: if no broker answers in time.
    :raises TopicError: if a topic exists and contains messages.
    """
    return Topics(brokers).prepare(changefeed, topics, append=False)


def send(brokers: Brokers, changefeed: Changefeed, records: Iterable[Record], starts: Offsets) -> None:
    """Write records to their partitions, in their order.

    :param starts: the end offset of each partition.
    :raises DeliveryError: for the first record that the broker did not accept.
    """
    properties = changefeed.producer_properties(brokers)

    def write(name: tuple[str, int], group: Sequence[Record]) -> None:
        messages = from_messages([_message(record) for record in group])
        PartitionWriter(brokers, properties, *name).write([messages], starts[name])

    partitions = [
        (name, [*group]) for name, group in groupby(sorted(records, key=_partition), key=_partition)
    ]
    with ThreadPoolExecutor(_WRITERS) as pool:
        for _ in pool.map(lambda partition: write(*partition), partitions):
            pass


def _partition(record: Record) -> tuple[str, int]:
    return record.topic, record.partition


def _message(record: Record) -> Message:
    return Message(record.key, record.value, record.type, commit_ts=0, headers=record.headers)


def delete(brokers: Brokers, topics: Iterable[str]) -> None:
    """Request the deletion of topics; errors are ignored, because they do not concern the test."""
    admin = AdminClient(connection(brokers))
    for answer in admin.delete_topics(sorted(topics), request_timeout=CONNECT_SECONDS).values():
        answer.exception(CONNECT_SECONDS)
