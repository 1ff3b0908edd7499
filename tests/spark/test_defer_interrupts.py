"""Interrupts wait for what must not be cut off."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from ticdc_producer.spark.defer_interrupts import later_interrupt


def _interrupted(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.signal(number, _interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _finished(number: int, then: Callable[[], None]) -> None:
    """A block that is interrupted, and what comes behind that in it."""
    with later_interrupt():
        signal.raise_signal(number)
        then()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_comes_behind_the_block(number: int) -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt) as told:
        _finished(number, then=lambda: done.append("all"))
    assert done == ["all"]
    assert told.value.args == (number,)
    assert signal.getsignal(number) is _interrupted


def test_a_second_one_comes_at_once() -> None:
    done: list[str] = []

    def again() -> None:
        signal.raise_signal(signal.SIGINT)
        done.append("all")

    with pytest.raises(KeyboardInterrupt):
        _finished(signal.SIGINT, then=again)
    assert done == []


def test_a_failure_in_the_block_is_told_before_an_interrupt() -> None:
    def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        _finished(signal.SIGINT, then=fail)


def test_a_handler_of_the_block_stays() -> None:
    def other(_number: int, _frame: FrameType | None) -> None: ...

    with later_interrupt():
        signal.signal(signal.SIGINT, other)
    assert signal.getsignal(signal.SIGINT) is other


def test_other_threads_do_as_without_it() -> None:
    def work() -> None:
        with later_interrupt():
            done.append(signal.getsignal(signal.SIGINT) is _interrupted)

    done: list[bool] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
