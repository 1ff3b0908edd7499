"""What a Kafka client reports, as an error that says what to do."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

from ticdc_producer.errors import (
    AuthenticationError,
    AuthorizationError,
    BrokerError,
    ChangefeedError,
    TLSError,
)
from ticdc_producer.kafka.client import Brokers

_UNREACHABLE = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT)
_PASSING = (
    *_UNREACHABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NETWORK_EXCEPTION,
)
_FORBIDDEN = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "Describe, Read and Write on the topic",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "Read on the groups whose names begin with ticdc-producer",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "Create on the cluster, or on the topic",
}


class Refusals:
    """What brokers refuse while a client connects; its ``seen`` is the client's ``error_cb``.

    The client itself goes on trying until time is up, since it cannot know whether that is for good.
    """

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._refusal: BrokerError | None = None

    def seen(self, error: KafkaError) -> None:
        """Take note of an error."""
        if self._refusal is None:
            self._refusal = _refusal(error, str(self._brokers))

    def check(self) -> None:
        """Raise what was noted.

        :raises AuthenticationError: if the credentials are wrong.
        :raises TLSError: if no secure connection comes about.
        """
        if self._refusal is not None:
            raise self._refusal


def failure(brokers: Brokers, error: KafkaException) -> BrokerError:
    """What a failed request says to the user."""
    cause: KafkaError = error.args[0]
    address = str(brokers)
    if cause.code() in _UNREACHABLE:
        hint = "is Kafka running there, does the address reach it, and does it want TLS or SASL?"
        return BrokerError("no Kafka broker answers", address=address, hint=hint)
    if cause.code() in _FORBIDDEN:
        return AuthorizationError(str(cause.str()), address=address, hint=advice(cause))
    return _refusal(cause, address) or BrokerError(str(cause.str()), address=address)


def may_pass(error: KafkaException) -> bool:
    """Whether it may be another answer in a moment: a broker is restarted, a topic was just created."""
    cause: KafkaError = error.args[0]
    return cause.code() in _PASSING


def advice(error: KafkaError) -> str:
    """What to do about a missing permission or a message that is too large; empty for other errors."""
    if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
        return "raise max.message.bytes of the topic, or lower max-message-bytes, as TiCDC would by itself"
    wanted = _FORBIDDEN.get(error.code())
    return f"the user needs the ACL {wanted}" if wanted else ""


def unusable(error: KafkaException) -> ChangefeedError:
    """A client that cannot be made: its properties are wrong."""
    cause: KafkaError = error.args[0]
    what = str(cause.str()).removeprefix("Failed to create producer: ")
    hint = "names and values are those of librdkafka's CONFIGURATION.md; ca, cert and key are PEM files"
    return ChangefeedError(what, parameter="-X", where="Kafka client", hint=hint)


def _refusal(error: KafkaError, address: str) -> BrokerError | None:
    said = _without_place(str(error.str()))
    if error.code() in (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED):
        hint = "check sasl-mechanism, sasl-user and sasl-password; in a URI they are percent-encoded"
        return AuthenticationError(said, address=address, hint=hint)
    if error.code() == KafkaError._SSL or "SSL handshake failed" in said or "SSL routines" in said:
        hint = "check ca, cert and key, and that the port is one for TLS"
        return TLSError(said, address=address, hint=hint)
    return None


def _without_place(text: str) -> str:
    """Without the connection in front and the state behind, which say nothing to users."""
    return text.partition("/bootstrap: ")[2].rpartition(" (after ")[0] or text
