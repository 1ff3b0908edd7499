"""A request that a broker cannot answer yet is repeated; one that it rejects is not."""

from __future__ import annotations

from time import monotonic

import pytest
from confluent_kafka import KafkaError, KafkaException

from ticdc_producer.errors import TopicError
from ticdc_producer.kafka.client import CONNECT_SECONDS, OUTAGE_TIMEOUT_S, Cluster, connect_seconds
from ticdc_producer.kafka.client_errors import broker_error, until_answered
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.kafka.topics import Topics


class Broker:
    """Answers the second request; the first one has an error."""

    def __init__(self, code: int) -> None:
        self.requests, self._code = 0, code

    def request(self) -> str:
        self.requests += 1
        if self.requests == 1:
            raise KafkaException(KafkaError(self._code))
        return "answer"


@pytest.mark.parametrize(
    "code",
    [
        KafkaError._NOENT,  # list_offsets, while a new topic has no leader
        KafkaError._UNKNOWN_PARTITION,  # get_watermark_offsets, while a broker starts again
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,  # commit and committed
    ],
)
def test_the_request_is_repeated(code: int) -> None:
    assert until_answered(Broker(code).request) == "answer"


def test_a_rejection_is_raised_at_once() -> None:
    broker = Broker(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    with pytest.raises(KafkaException, match="TOPIC_AUTHORIZATION_FAILED"):
        until_answered(broker.request)
    assert broker.requests == 1


@pytest.mark.parametrize("name", ["a b", "é", "x" * 250])
def test_a_topic_name_that_the_broker_rejects_is_not_retried(kafka: EmbeddedKafka, name: str) -> None:
    began = monotonic()
    with pytest.raises(TopicError, match="Kafka rejects the name of the topic") as raised:
        Topics(kafka.bootstrap).ends({name: 1})
    assert monotonic() - began < OUTAGE_TIMEOUT_S / 2
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    ("address", "own"),
    [("localhost:9092", True), ("127.0.0.1:9092", True), ("kafka.test:9092", False)],
)
def test_only_on_this_machine_a_missing_broker_can_be_started(address: str, own: bool) -> None:
    error = broker_error(address, KafkaException(KafkaError(KafkaError._TRANSPORT)))
    assert str(error).startswith(f"{address}: no Kafka broker answers (is Kafka running there")
    assert ("`ticdc-producer broker start`" in error.hint) == own


@pytest.mark.parametrize(("given", "seconds"), [("1500", 1.5), ("0x400", 1.024), ("1000ms", CONNECT_SECONDS)])
def test_the_time_to_connect_is_read_as_the_client_reads_it(given: str, seconds: float) -> None:
    brokers = Cluster("127.0.0.1:1", {"socket.connection.setup.timeout.ms": given})
    assert connect_seconds(brokers) == seconds
