"""Connection properties of all Kafka clients of this package: producer, consumer and admin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Properties: TypeAlias = dict[str, str | int | float | bool]
"""Client properties as librdkafka spells them."""

CONNECT_SECONDS = 10
"""After this long without an answer a broker counts as unreachable."""

OUTAGE_TIMEOUT_S = 60
"""The longest outage of a broker, such as a restart, after a connection was made."""

# librdkafka waits half of this before it connects to a broker that it learnt of, for each client: with its
# default, 100 ms, a client that is used once spends most of its time waiting. The wait doubles while a broker
# is away.
_RECONNECT_MS = 20
# A new topic has its leader some milliseconds after its creation; until then the broker rejects messages. The
# wait doubles with each retry, up to a second.
_RETRY_MS = 20

# librdkafka's own log lines would appear between the lines of a report; errors arrive through callbacks.
_QUIET = 0


@dataclass(frozen=True)
class Cluster:
    """Brokers and the properties that clients need to connect to them.

    :param bootstrap: ``host:port[,host:port]``; also the name of the cluster in messages.
    :param client: properties of every client, as librdkafka spells them. They may hold secrets and never
        appear in messages.
    """

    bootstrap: str
    client: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return self.bootstrap


Brokers: TypeAlias = str | Cluster
"""A Kafka cluster; an address suffices if clients need neither TLS nor credentials."""


def connection(brokers: Brokers) -> Properties:
    """Return the properties that any client needs to reach the brokers."""
    own = brokers.client if isinstance(brokers, Cluster) else {}
    common: Properties = {
        "bootstrap.servers": str(brokers),
        "log_level": _QUIET,
        "broker.address.family": "v4",
        "reconnect.backoff.ms": _RECONNECT_MS,
    }
    return {**common, **own}


def producer_properties(brokers: Brokers, *, compression: str, max_message_bytes: int) -> Properties:
    """Return the properties of a task's producer: all replicas, no duplicates by retry, bounded memory.

    :param compression: the changefeed's ``compression``: a codec of Kafka's producer, or ``none``.
    :param max_message_bytes: the changefeed's ``max-message-bytes``.
    """
    return {
        "linger.ms": 20,
        "queue.buffering.max.kbytes": 64 << 10,
        "queue.buffering.max.messages": 100_000,
        "message.timeout.ms": OUTAGE_TIMEOUT_S * 1000,
        "retry.backoff.ms": _RETRY_MS,
        **connection(brokers),
        "acks": "all",
        "enable.idempotence": True,
        "compression.type": compression,
        "message.max.bytes": max(1_000_000, max_message_bytes + 1024),
        "delivery.report.only.error": True,
    }
