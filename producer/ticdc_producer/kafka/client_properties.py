"""The properties that librdkafka knows, and a check of one of them without a client and without a network."""

from __future__ import annotations

import re

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
NAMES = frozenset(_SETTABLE.split())
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

    :raises UnknownProperty: if librdkafka does not know the name, or has it for its own use.
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
