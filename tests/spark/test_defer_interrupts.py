"""Interrupts are delayed until the end of a block."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from ticdc_producer.spark.session import defer_interrupts


def _raise_interrupt(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.signal(number, _raise_interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _interrupt_block(number: int, then: Callable[[], None]) -> None:
    """Run a block that is interrupted and then calls ``then``."""
    with defer_interrupts():
        signal.raise_signal(number)
        then()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_delivered_after_the_block(number: int) -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt) as caught:
        _interrupt_block(number, then=lambda: done.append("all"))
    assert done == ["all"]
    assert caught.value.args == (number,)
    assert signal.getsignal(number) is _raise_interrupt


def test_a_second_interrupt_is_delivered_at_once() -> None:
    done: list[str] = []

    def again() -> None:
        signal.raise_signal(signal.SIGINT)
        done.append("all")

    with pytest.raises(KeyboardInterrupt):
        _interrupt_block(signal.SIGINT, then=again)
    assert done == []


def test_an_error_in_the_block_wins_over_an_interrupt() -> None:
    def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        _interrupt_block(signal.SIGINT, then=fail)


def test_a_handler_of_the_block_stays() -> None:
    def other(_number: int, _frame: FrameType | None) -> None: ...

    with defer_interrupts():
        signal.signal(signal.SIGINT, other)
    assert signal.getsignal(signal.SIGINT) is other


def test_other_threads_keep_their_handlers() -> None:
    def work() -> None:
        with defer_interrupts():
            done.append(signal.getsignal(signal.SIGINT) is _raise_interrupt)

    done: list[bool] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
