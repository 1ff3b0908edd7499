"""Properties of Kafka clients: those of all clients of this package, and a check of those that users set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Properties: TypeAlias = dict[str, str | int | float | bool]
"""Client properties as librdkafka spells them."""

CONNECT_SECONDS = 10
"""After this long without an answer a broker counts as unreachable."""
_CONNECT_PROPERTY = "socket.connection.setup.timeout.ms"

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


def connect_seconds(brokers: Brokers) -> float:
    """Return the time after which brokers without an answer count as unreachable.

    It is the client's ``socket.connection.setup.timeout.ms``, or ``CONNECT_SECONDS``.
    """
    own = brokers.client if isinstance(brokers, Cluster) else {}
    try:
        return int(own[_CONNECT_PROPERTY], 0) / 1000  # the client reads it as C does
    except (KeyError, ValueError):
        return CONNECT_SECONDS


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


_SETTABLE = """
allow.auto.create.topics api.version.fallback.ms api.version.request api.version.request.timeout.ms
batch.num.messages batch.size broker.address.family broker.address.ttl broker.version.fallback check.crcs
client.dns.lookup client.id client.rack compression.level connections.max.idle.ms debug
delivery.timeout.ms enable.metrics.push enable.random.seed enable.sasl.oauthbearer.unsecure.jwt
enable.sparse.connections enable.ssl.certificate.verification fetch.error.backoff.ms fetch.max.bytes
fetch.message.max.bytes fetch.min.bytes fetch.queue.backoff.ms fetch.wait.max.ms heartbeat.interval.ms
https.ca.location https.ca.pem linger.ms log.connection.close log.thread.name log_level
max.partition.fetch.bytes max.poll.interval.ms message.copy.max.bytes message.timeout.ms
metadata.max.age.ms metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy
partition.assignment.strategy plugin.library.paths queue.buffering.backpressure.threshold
queue.buffering.max.kbytes queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes
queued.min.messages receive.message.max.bytes reconnect.backoff.max.ms reconnect.backoff.ms
request.timeout.ms retry.backoff.max.ms retry.backoff.ms sasl.kerberos.keytab sasl.kerberos.kinit.cmd
sasl.kerberos.min.time.before.relogin sasl.kerberos.principal sasl.kerberos.service.name sasl.mechanism
sasl.mechanisms sasl.oauthbearer.client.id sasl.oauthbearer.client.secret sasl.oauthbearer.config
sasl.oauthbearer.extensions sasl.oauthbearer.method sasl.oauthbearer.scope
sasl.oauthbearer.token.endpoint.url sasl.password sasl.username security.protocol session.timeout.ms
socket.connection.setup.timeout.ms socket.keepalive.enable socket.max.fails socket.nagle.disable
socket.receive.buffer.bytes socket.send.buffer.bytes socket.timeout.ms ssl.ca.certificate.stores
ssl.ca.location ssl.ca.pem ssl.certificate.location ssl.certificate.pem ssl.cipher.suites
ssl.crl.location ssl.curves.list ssl.endpoint.identification.algorithm ssl.engine.id ssl.engine.location
ssl.key.location ssl.key.password ssl.key.pem ssl.keystore.location ssl.keystore.password ssl.providers
ssl.sigalgs.list statistics.interval.ms topic.metadata.propagation.max.ms
topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.interval.ms topic.metadata.refresh.sparse
"""
SETTABLE = frozenset(_SETTABLE.split())
"""The names that hints propose: those of librdkafka that users may set. The client itself knows more."""

_LAST = ""
"""A name that librdkafka never knows: the constructor sets the properties before it, and then fails."""
_RANGE = re.compile(r"allowed range (-?\d+)\.\.(-?\d+)")


class UnknownProperty(Exception):
    """A name that librdkafka does not know."""


class InvalidValue(Exception):
    """A value that librdkafka rejects; the text is what it allows, if it says that."""


def check_property(name: str, value: str) -> None:
    """Check name and value of a property as librdkafka does. No client is created.

    :raises UnknownProperty: if librdkafka does not know the name, or reserves it.
    :raises InvalidValue: if it rejects the value.
    """
    if name == "plugin.library.paths":  # would load the libraries
        return
    from confluent_kafka import (  # here, because a run without properties needs neither
        KafkaException,
        Producer,
    )

    try:
        Producer({name: value, _LAST: ""})
    except KafkaException as error:
        reason = str(error.args[0].str())
        if f'property: "{_LAST}"' in reason:
            return
        if "No such" in reason or "not settable" in reason or "must be set" in reason or "callable" in reason:
            raise UnknownProperty from None
        allowed = _RANGE.search(reason)
        raise InvalidValue(f"allowed: {allowed[1]} to {allowed[2]}" if allowed else "") from None
    except (AttributeError, TypeError, ValueError):  # callbacks and loggers of Python programs
        raise UnknownProperty from None
