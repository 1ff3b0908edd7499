"""The broker of a pytest run: one of our own, or one that runs already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Broker:
    """A Kafka broker that serves.

    :param bootstrap: ``host:port[,host:port]`` for clients.
    :param embedded: whether it is gone with all its topics when the run ends.
    """

    bootstrap: str
    embedded: bool


@contextmanager
def broker(bootstrap: str | None) -> Iterator[Broker]:
    """A broker for as long as the block lasts.

    :param bootstrap: of one that runs; None starts an embedded one.
    :raises BrokerError: if it does not answer, or does not start.
    :raises JavaError: if there is no Java to run it on.
    """
    if bootstrap is not None:
        from producer.sink.topics import Topics

        Topics(bootstrap).existing()
        yield Broker(bootstrap, embedded=False)
        return
    from producer.broker import EmbeddedKafka

    with EmbeddedKafka() as kafka:
        yield Broker(kafka.bootstrap, embedded=True)
