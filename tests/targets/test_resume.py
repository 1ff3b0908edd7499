"""Resuming a partition: its end offset, and the messages that it already has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import DeliveryError, ForeignMessageError
from ticdc_producer.kafka.client_errors import until_answered
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages
from ticdc_producer.targets.kafka.resume import PartitionResume

END = 20
"""The number of messages in the topic. The value of each is its offset."""
SECONDS = 60


@pytest.fixture(scope="module")
def orders(kafka: EmbeddedKafka) -> str:
    """A topic of one partition."""
    _create(kafka, "resumed-orders")
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for number in range(END):
        producer.produce("resumed-orders", str(number).encode())
    assert producer.flush(SECONDS) == 0
    return "resumed-orders"


def _create(kafka: EmbeddedKafka, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(SECONDS)


def _run(*sizes: int, first: int) -> Iterator[MessageBatch]:
    """The batches of a run whose first message belongs at an offset."""
    numbers = iter(range(first, first + sum(sizes)))
    return iter([from_messages([_message(next(numbers)) for _ in range(size)]) for size in sizes])


def _message(number: int) -> Message:
    return Message(None, str(number).encode(), "row", commit_ts=1)


def _rest(resume: PartitionResume, batches: Iterator[MessageBatch]) -> Sequence[Message]:
    return [message for batch in resume.skip_existing(batches) for message in batch.messages()]


def test_a_partition_that_does_not_exist_yet_is_waited_for(kafka: EmbeddedKafka) -> None:
    resume = PartitionResume(kafka.bootstrap, "resumed-later", 0, start=0)
    with ThreadPoolExecutor(1) as threads:
        checked = threads.submit(resume.check_end, 0)
        with pytest.raises(TimeoutError):
            checked.result(0.5)
        _create(kafka, "resumed-later")
        assert checked.result(SECONDS) is None


@pytest.mark.slow
def test_it_is_not_waited_for_without_end(kafka: EmbeddedKafka) -> None:
    with pytest.raises(DeliveryError) as error:
        PartitionResume(kafka.bootstrap, "resumed-never", 0, start=0).check_end(3)
    assert (error.value.topic, error.value.partition) == ("resumed-never", 0)


def _request(*refusals: int) -> int:
    """Return 3 after the refusals of a broker."""
    answers = iter(refusals)

    def request() -> int:
        if (code := next(answers, None)) is not None:
            raise KafkaException(KafkaError(code))
        return 3

    return until_answered(request)


def test_a_request_is_repeated_until_a_leader_exists() -> None:
    assert _request(KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART) == 3


def test_another_error_is_raised_at_once() -> None:
    with pytest.raises(KafkaException):
        _request(KafkaError.TOPIC_AUTHORIZATION_FAILED)


def test_more_messages_than_were_written_are_foreign(kafka: EmbeddedKafka, orders: str) -> None:
    resume = PartitionResume(kafka.bootstrap, orders, 0, start=10)
    resume.check_end(10)
    with pytest.raises(ForeignMessageError) as error:
        resume.check_end(9)
    assert error.value.offset == 19


@given(st.lists(st.integers(1, 4), max_size=5), st.data())
def test_existing_messages_are_skipped(
    kafka: EmbeddedKafka, orders: str, sizes: list[int], data: st.DataObject
) -> None:
    existing = data.draw(st.integers(0, sum(sizes)))
    first = END - existing
    rest = _rest(PartitionResume(kafka.bootstrap, orders, 0, start=first), _run(*sizes, first=first))
    assert rest == [_message(number) for number in range(END, first + sum(sizes))]


def test_an_existing_message_must_be_the_one_that_the_run_writes(kafka: EmbeddedKafka, orders: str) -> None:
    with pytest.raises(ForeignMessageError) as error:
        _rest(PartitionResume(kafka.bootstrap, orders, 0, start=18), _run(2, first=7))
    assert error.value.offset == 19


def test_more_messages_than_the_run_has_are_foreign(kafka: EmbeddedKafka, orders: str) -> None:
    resume = PartitionResume(kafka.bootstrap, orders, 0, start=15)
    with pytest.raises(ForeignMessageError, match="more messages than the 2 that the run writes") as error:
        _rest(resume, _run(1, 1, first=15))
    assert error.value.offset == 17
