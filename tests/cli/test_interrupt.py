"""Ctrl-C ends a command as such, whatever breaks while it is being handled."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ticdc_producer.cli import app
from ticdc_producer.errors import BrokerError
from ticdc_producer.runs import run as run_module


def _breaks_down(error: Exception) -> None:
    try:
        raise KeyboardInterrupt
    finally:
        raise error


@pytest.mark.parametrize("error", [RuntimeError("the JVM is gone"), BrokerError("gone", address="")])
def test_what_breaks_because_of_an_interrupt_is_an_interrupt(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "app", lambda **_: _breaks_down(error))
    assert app.main(["run", "seed_t1"]) == app.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_an_interrupted_command_prints_that(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "execute", interrupted)
    assert app.main(["run", "seed_t1"]) == app.INTERRUPTED
    assert capsys.readouterr().err.endswith("\ninterrupted\n")


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
    def breaks(**_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(app, "app", breaks)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        app.main(["run", "seed_t1"])
