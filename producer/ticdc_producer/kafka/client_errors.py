"""Translates errors of Kafka clients into exceptions of this package, with hints."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

from ticdc_producer.errors import (
    AuthenticationError,
    AuthorizationError,
    BrokerError,
    ChangefeedError,
    TLSError,
)
from ticdc_producer.kafka.client import OUTAGE_TIMEOUT_S, Brokers

_UNREACHABLE = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT)
_RETRIABLE = (
    *_UNREACHABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError._WAIT_COORD,
    # librdkafka's own errors for a topic or a leader that its brokers do not know yet.
    KafkaError._NOENT,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
)
_FORBIDDEN = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "Describe, Read and Write on the topic",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "Read on the groups whose names begin with ticdc-producer",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "Create on the cluster, or on the topic",
}


class ConnectionErrors:
    """The authentication and TLS errors of a client; ``on_error`` is the client's ``error_cb``.

    The client itself retries until its timeout, because it cannot tell whether such an error is permanent.
    """

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._error: BrokerError | None = None

    def on_error(self, error: KafkaError) -> None:
        """Record an error of the client; only the first permanent one is used."""
        if self._error is None:
            self._error = _permanent_error(error, str(self._brokers))

    def check(self) -> None:
        """Raise the recorded error, if there is one.

        :raises AuthenticationError: if the credentials are wrong.
        :raises TLSError: if TLS failed: untrusted CA, hostname mismatch, or a plaintext port.
        """
        if self._error is not None:
            raise self._error


def broker_error(brokers: Brokers, error: KafkaException) -> BrokerError:
    """Return the exception for a failed request."""
    cause: KafkaError = error.args[0]
    address = str(brokers)
    if cause.code() in _UNREACHABLE:
        hint = "is Kafka running there, is the address reachable, and does it require TLS or SASL?"
        if address.startswith(("localhost:", "127.0.0.1:")):
            hint += " `ticdc-producer broker start` starts one on this machine"
        return BrokerError("no Kafka broker answers", address=address, hint=hint)
    if cause.code() in _FORBIDDEN:
        return AuthorizationError(str(cause.str()), address=address, hint=hint_for(cause))
    return _permanent_error(cause, address) or BrokerError(str(cause.str()), address=address)


def is_retriable(error: BaseException) -> bool:
    """Return whether a retry can succeed, for example because a broker restarts or a topic is new."""
    return isinstance(error, KafkaException) and error.args[0].code() in _RETRIABLE


def hint_for(error: KafkaError) -> str:
    """Return a hint for a missing permission or a message that is too large; empty for other errors."""
    if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
        return "raise max.message.bytes of the topic, or lower max-message-bytes, as TiCDC would by itself"
    permission = _FORBIDDEN.get(error.code())
    return f"the user needs the ACL {permission}" if permission else ""


def invalid_properties(error: KafkaException) -> ChangefeedError:
    """Return the exception for a client that cannot be created because its properties are invalid."""
    cause: KafkaError = error.args[0]
    what = str(cause.str()).removeprefix("Failed to create producer: ")
    hint = "names and values are those of librdkafka's CONFIGURATION.md; ca, cert and key are PEM files"
    return ChangefeedError(what, parameter="-X", where="Kafka client", hint=hint)


def _permanent_error(error: KafkaError, address: str) -> BrokerError | None:
    message = _strip_connection_details(str(error.str()))
    if error.code() in (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED):
        hint = "check sasl-mechanism, sasl-user and sasl-password; in a URI they are percent-encoded"
        return AuthenticationError(message, address=address, hint=hint)
    if error.code() == KafkaError._SSL or "SSL handshake failed" in message or "SSL routines" in message:
        hint = "check ca, cert and key, and that the port is one for TLS"
        return TLSError(message, address=address, hint=hint)
    return None


def _strip_connection_details(text: str) -> str:
    """Return the message without librdkafka's prefix (the connection) and suffix (time and state)."""
    return text.partition("/bootstrap: ")[2].rpartition(" (after ")[0] or text


_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.01, 0.5
"""A new topic has its leaders after some milliseconds. The pause doubles with each further attempt."""

until_answered = Retrying(
    retry=retry_if_exception(is_retriable),
    wait=wait_exponential(_FIRST_PAUSE_S, _LONGEST_PAUSE_S),
    stop=stop_after_delay(OUTAGE_TIMEOUT_S),
    reraise=True,
)
"""Calls a function again while it raises a ``KafkaException`` that a retry can resolve.

After ``OUTAGE_TIMEOUT_S`` it raises the last exception. Other exceptions are raised at once.
"""
