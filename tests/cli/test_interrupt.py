"""Ctrl-C ends a command as such, whatever breaks while it is being handled."""

from __future__ import annotations

import pytest

from producer.cli import app
from producer.errors import BrokerError


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


def test_what_breaks_by_itself_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(**_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(app, "app", breaks)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        app.main(["run", "seed_t1"])
