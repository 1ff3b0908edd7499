"""A request that a broker cannot answer yet is repeated; one that it rejects is not."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from ticdc_producer.kafka.client_errors import until_answered


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
