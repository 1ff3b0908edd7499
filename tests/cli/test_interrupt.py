"""Ctrl-C ends a command as such, whatever breaks while it is being handled."""

from __future__ import annotations

import io
import signal
import subprocess
import sys

import pytest

from ticdc_producer.cli import app
from ticdc_producer.errors import BrokerError


class _Output(io.StringIO):
    """Standard output at whose first line Ctrl-C is pressed, or something breaks.

    :param interrupted: whether Ctrl-C is pressed.
    :param error: what breaks, while the interrupt is being handled or by itself.
    """

    def __init__(self, *, interrupted: bool, error: Exception | None = None) -> None:
        super().__init__()
        self._interrupted, self._error = interrupted, error

    def write(self, _text: str) -> int:
        try:
            if self._interrupted:
                signal.raise_signal(signal.SIGINT)
        finally:
            if self._error is not None:
                raise self._error
        return 0


PRINTS = ["scenario", "list"]


@pytest.mark.parametrize("error", [RuntimeError("the JVM is gone"), BrokerError("gone", address="")])
def test_what_breaks_because_of_an_interrupt_is_an_interrupt(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", _Output(interrupted=True, error=error))
    assert app.main(PRINTS) == app.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_an_interrupted_command_prints_that(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", _Output(interrupted=True))
    assert app.main(PRINTS) == app.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_calls_that_were_cut_off_are_not_logged() -> None:
    """By a process of its own, since pytest has taken care of this one's log."""
    program = """
from ticdc_producer.cli.app import log_to_stderr
log_to_stderr()
import logging
logging.getLogger("some.package").warning("look at this")
from py4j.java_gateway import GatewayClient
class Cut(GatewayClient):
    def _get_connection(self):
        class Connection:
            socket = None
            def send_command(self, command): raise KeyboardInterrupt
            def close(self, reset=False): pass
        return Connection()
try:
    Cut().send_command("c")
except KeyboardInterrupt:
    pass
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "look at this\n"


def test_what_breaks_by_itself_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", _Output(interrupted=False, error=RuntimeError("a fault of ours")))
    with pytest.raises(RuntimeError, match="a fault of ours"):
        app.main(PRINTS)
