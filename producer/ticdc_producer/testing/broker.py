"""The broker of a pytest run: an embedded one, or one that runs already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ticdc_producer.kafka.client import Cluster


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
    """A broker for the duration of the block.

    :param bootstrap: address of a running broker; None starts an embedded one.
    :param client: ``name=value`` each, properties for clients of a running broker; ``${NAME}`` in a value is
        an environment variable.
    :raises BrokerError: if the broker does not answer, refuses the client, or does not start.
    :raises ChangefeedError: if a property is invalid, or cannot be set by users.
    :raises JavaError: if no Java is found for an embedded broker.
    """
    if bootstrap is not None:
        from ticdc_producer.config.kafka_properties import parse_kafka_properties
        from ticdc_producer.targets.kafka.topics import Topics

        running = Broker(bootstrap, embedded=False, client=parse_kafka_properties(client))
        Topics(running.cluster).existing()
        yield running
        return
    from ticdc_producer.kafka.embedded import EmbeddedKafka

    with EmbeddedKafka() as kafka:
        yield Broker(kafka.bootstrap, embedded=True)
