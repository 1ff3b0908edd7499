"""The broker of a pytest run: one of our own, or one that runs already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ticdc_producer.kafka.client import Cluster


@dataclass(frozen=True, slots=True)
class Broker:
    """A Kafka broker that serves.

    :param bootstrap: ``host:port[,host:port]`` for clients.
    :param embedded: whether it is gone with all its topics when the run ends.
    :param client: what clients need beside the address, such as TLS and credentials, as librdkafka spells
        it: ``Consumer({"bootstrap.servers": broker.bootstrap, **broker.client, …})``.
    """

    bootstrap: str
    embedded: bool
    client: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def cluster(self) -> Cluster:
        """Address and properties in one."""
        return Cluster(self.bootstrap, self.client)


@contextmanager
def broker(bootstrap: str | None, client: Iterable[str] = ()) -> Iterator[Broker]:
    """A broker for as long as the block lasts.

    :param bootstrap: of one that runs; None starts an embedded one.
    :param client: ``name=value`` each, properties for clients of the one that runs; ``${NAME}`` in a value is
        an environment variable.
    :raises BrokerError: if it does not answer, refuses the client, or does not start.
    :raises ChangefeedError: if a property is wrong, or not for users to set.
    :raises JavaError: if there is no Java to run it on.
    """
    if bootstrap is not None:
        from ticdc_producer.config.kafka_properties import passed_properties
        from ticdc_producer.targets.kafka.topics import Topics

        running = Broker(bootstrap, embedded=False, client=passed_properties(client))
        Topics(running.cluster).existing()
        yield running
        return
    from ticdc_producer.kafka.embedded import EmbeddedKafka

    with EmbeddedKafka() as kafka:
        yield Broker(kafka.bootstrap, embedded=True)
