"""Where a partition ends, asked of a broker that has just made it."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from producer.errors import DeliveryError, ForeignMessageError
from producer.sink.continuation import Continuation

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
