"""``broker start|stop|status``: a Kafka that outlives its command, and is found again."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ticdc_producer.cli import main
from ticdc_producer.kafka.embedded import background
from ticdc_producer.resources import cache_folder
from ticdc_producer.targets.kafka.topics import Topics


@pytest.fixture(autouse=True)
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that names the broker, in a cache folder that has the jars of the user's."""
    for part in ("jars", "kafka", "classes"):
        (tmp_path / part).symlink_to(cache_folder() / part, target_is_directory=True)
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path))
    yield tmp_path / "broker.json"
    background.stop()


@pytest.fixture
def port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def test_a_broker_is_started_found_and_ended(capsys: pytest.CaptureFixture[str], port: int) -> None:
    assert main(["broker", "start", "--port", str(port)]) == 0
    address = f"127.0.0.1:{port}"
    assert f"the broker runs at {address}" in capsys.readouterr().out
    # A consumer of an ended broker may try its port again, and then finds this one.
    assert {*Topics(address).existing()} <= {"__consumer_offsets"}
    assert main(["broker", "start", "--port", str(port)]) == 0
    capsys.readouterr()
    assert main(["broker", "status", "--json"]) == 0
    pid = json.loads(capsys.readouterr().out)["pid"]
    assert main(["broker", "start", "--port", "1"]) == 3
    assert "a broker runs already (end it with `ticdc-producer broker stop`)" in capsys.readouterr().err
    assert main(["broker", "stop"]) == 0
    assert capsys.readouterr().out == f"the broker at {address} has ended\n"
    assert not psutil.pid_exists(pid)
    assert main(["broker", "status"]) == 1


def test_no_broker(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker", "status"]) == 1
    assert main(["broker", "stop"]) == 0
    assert capsys.readouterr().out == "no broker runs\nno broker runs\n"


def test_a_process_with_the_same_id_is_not_the_broker(record: Path) -> None:
    record.write_text(json.dumps({"pid": os.getpid(), "created": 1.0, "bootstrap": "127.0.0.1:1"}))
    assert background.running() is None
    assert background.stop() is None
    assert not record.exists()


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"pid": 1}', '{"pid": "x", "created": 1, "bootstrap": 2}']
)
def test_a_damaged_record_is_no_broker(record: Path, content: str) -> None:
    record.write_text(content)
    assert background.running() is None


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["broker", "start", "--port", str(port)]) == 3
    assert f"127.0.0.1:{port}: the port is taken by another program" in capsys.readouterr().err
