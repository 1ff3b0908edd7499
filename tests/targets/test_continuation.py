"""Where a partition ends, asked of a broker that has just made it."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import DeliveryError, ForeignMessageError
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import of_messages
from ticdc_producer.targets.kafka.resume import Continuation

_NEW = Continuation("localhost:9092", "orders", 0, start=0)


class _Reader:
    """Answers as it was told, one request after the other."""

    def __init__(self, *answers: int | BaseException) -> None:
        self._answers = iter(answers)

    def get_watermark_offsets(self, *_: Any, **__: Any) -> tuple[int, int]:
        answer = next(self._answers)
        if isinstance(answer, BaseException):
            raise answer
        return 0, answer

    def poll(self, _seconds: float) -> None: ...

    def close(self) -> None: ...


def _asked(monkeypatch: pytest.MonkeyPatch, *answers: int | BaseException) -> None:
    monkeypatch.setattr(Continuation, "_reader", lambda _self: _Reader(*answers))


def _refusal(code: int) -> KafkaException:
    return KafkaException(KafkaError(code))


def test_a_leader_that_does_not_know_yet_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    not_yet = _refusal(KafkaError.NOT_LEADER_FOR_PARTITION)
    _asked(monkeypatch, not_yet, _refusal(KafkaError.UNKNOWN_TOPIC_OR_PART), 3)
    _NEW.check_end(3)


def test_and_is_not_asked_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    _asked(monkeypatch, *[_refusal(KafkaError.LEADER_NOT_AVAILABLE)] * 100)
    with pytest.raises(DeliveryError) as error:
        _NEW.check_end(3)
    assert (error.value.topic, error.value.partition) == ("orders", 0)


def test_another_refusal_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _asked(monkeypatch, _refusal(KafkaError.TOPIC_AUTHORIZATION_FAILED), 3)
    with pytest.raises(DeliveryError):
        _NEW.check_end(3)


def test_more_messages_than_were_written_are_somebody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    _asked(monkeypatch, 4)
    with pytest.raises(ForeignMessageError) as error:
        _NEW.check_end(3)
    assert error.value.offset == 3


@given(st.lists(st.integers(1, 4), max_size=5), st.data())
def test_what_stands_there_is_passed_over(sizes: list[int], data: st.DataObject) -> None:
    numbers = iter(range(100))
    batches = [of_messages([_message(next(numbers)) for _ in range(size)]) for size in sizes]
    there = data.draw(st.integers(0, sum(sizes)))
    with pytest.MonkeyPatch.context() as patch:
        _asked(patch, there)
        patch.setattr(Continuation, "_at", lambda _self, _reader, offset: _Delivered(offset))
        rest = [message for batch in _NEW.pass_over(iter(batches)) for message in batch.messages()]
    assert rest == [_message(number) for number in range(there, sum(sizes))]


def test_what_stands_there_must_be_what_the_run_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    _asked(monkeypatch, 2)
    monkeypatch.setattr(Continuation, "_at", lambda _self, _reader, _offset: _Delivered(7))
    with pytest.raises(ForeignMessageError) as error:
        _NEW.pass_over(iter([of_messages([_message(0), _message(1)])]))
    assert error.value.offset == 1


def test_more_than_the_run_has_is_somebody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    _asked(monkeypatch, 5)
    with pytest.raises(ForeignMessageError, match="more messages than the 2 that the run writes") as error:
        _NEW.pass_over(iter([of_messages([_message(0)]), of_messages([_message(1)])]))
    assert error.value.offset == 2


def _message(number: int) -> Message:
    return Message(None, str(number).encode(), "row", commit_ts=1)


class _Delivered:
    """A message that stands at an offset."""

    def __init__(self, offset: int) -> None:
        self._value = str(offset).encode()

    def key(self) -> None: ...

    def value(self) -> bytes:
        return self._value

    def headers(self) -> None: ...
