"""Resuming a partition: its end offset, and the messages that it already has."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from hypothesis import given
from hypothesis import strategies as st
from tenacity import stop_after_attempt

from ticdc_producer.errors import DeliveryError, ForeignMessageError
from ticdc_producer.kafka.client_errors import until_answered
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.targets.kafka.resume import PartitionResume

_NEW = PartitionResume("localhost:9092", "orders", 0, start=0)


class _Reader:
    """Returns the given answers, one per request."""

    def __init__(self, *answers: int | BaseException) -> None:
        self._answers = iter(answers)

    def get_watermark_offsets(self, *_: Any, **__: Any) -> tuple[int, int]:
        answer = next(self._answers)
        if isinstance(answer, BaseException):
            raise answer
        return 0, answer

    def list_topics(self, _topic: str, **_: Any) -> None: ...

    def close(self) -> None: ...


def _set_answers(monkeypatch: pytest.MonkeyPatch, *answers: int | BaseException) -> None:
    monkeypatch.setattr(PartitionResume, "_reader", lambda _self: _Reader(*answers))


def _refusal(code: int) -> KafkaException:
    return KafkaException(KafkaError(code))


def test_a_request_is_repeated_until_a_leader_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    not_yet = _refusal(KafkaError.NOT_LEADER_FOR_PARTITION)
    _set_answers(monkeypatch, not_yet, _refusal(KafkaError.UNKNOWN_TOPIC_OR_PART), 3)
    _NEW.check_end(3)


def test_requests_end_after_the_last_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(until_answered, "stop", stop_after_attempt(2))
    _set_answers(monkeypatch, *[_refusal(KafkaError.LEADER_NOT_AVAILABLE)] * 2)
    with pytest.raises(DeliveryError) as error:
        _NEW.check_end(3)
    assert (error.value.topic, error.value.partition) == ("orders", 0)


def test_another_error_is_raised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_answers(monkeypatch, _refusal(KafkaError.TOPIC_AUTHORIZATION_FAILED), 3)
    with pytest.raises(DeliveryError):
        _NEW.check_end(3)


def test_more_messages_than_were_written_are_foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_answers(monkeypatch, 4)
    with pytest.raises(ForeignMessageError) as error:
        _NEW.check_end(3)
    assert error.value.offset == 3


@given(st.lists(st.integers(1, 4), max_size=5), st.data())
def test_existing_messages_are_skipped(sizes: list[int], data: st.DataObject) -> None:
    numbers = iter(range(100))
    batches = [from_messages([_message(next(numbers)) for _ in range(size)]) for size in sizes]
    existing = data.draw(st.integers(0, sum(sizes)))
    with pytest.MonkeyPatch.context() as patch:
        _set_answers(patch, existing)
        patch.setattr(PartitionResume, "_at", lambda _self, _reader, offset: _Delivered(offset))
        rest = [message for batch in _NEW.skip_existing(iter(batches)) for message in batch.messages()]
    assert rest == [_message(number) for number in range(existing, sum(sizes))]


def test_an_existing_message_must_be_the_one_that_the_run_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_answers(monkeypatch, 2)
    monkeypatch.setattr(PartitionResume, "_at", lambda _self, _reader, _offset: _Delivered(7))
    with pytest.raises(ForeignMessageError) as error:
        _NEW.skip_existing(iter([from_messages([_message(0), _message(1)])]))
    assert error.value.offset == 1


def test_more_messages_than_the_run_has_are_foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_answers(monkeypatch, 5)
    with pytest.raises(ForeignMessageError, match="more messages than the 2 that the run writes") as error:
        _NEW.skip_existing(iter([from_messages([_message(0)]), from_messages([_message(1)])]))
    assert error.value.offset == 2


def _message(number: int) -> Message:
    return Message(None, str(number).encode(), "row", commit_ts=1)


class _Delivered:
    """A message that was read at an offset."""

    def __init__(self, offset: int) -> None:
        self._value = str(offset).encode()

    def key(self) -> None: ...

    def value(self) -> bytes:
        return self._value

    def headers(self) -> None: ...
