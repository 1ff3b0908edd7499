"""``ticdc-producer serve`` as a process: it becomes ready, serves, ends, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka.admin import AdminClient

from tests.conftest import EXHAUSTIVE
from tests.kafka_topic import number_of_messages
from tests.serve.works import ENDLESS_RUN
from ticdc_producer.cli import main

SECONDS = 90
END_SECONDS = 10
"""From SIGTERM to the end of the service, whatever runs."""
RUNS = 1000 if EXHAUSTIVE else 300


@contextmanager
def served(temporary: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service, and its URL.

    :param temporary: the folder for its temporary files.
    """
    with _started(temporary, "ticdc_producer", "serve", "--port", "0", *options) as (process, line):
        yield process, line.removeprefix("listening on ").strip()


@contextmanager
def _started(temporary: Path, module: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A program, and the first line that it prints."""
    command = [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline()
        finally:
            process.kill()


def _request(url: str, content: object = None) -> Any:
    body = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return json.load(answer)


def _lines(url: str, content: object) -> list[str]:
    request = urllib.request.Request(url, json.dumps(content).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return [*map(bytes.decode, answer)]


def _run(url: str) -> Any:
    return _request(f"{url}/v1/runs?wait={SECONDS}", {"scenario": "seed_t1", "verify": False})


def _wait_until_it_runs(url: str, run: str) -> None:
    while (status := _request(f"{url}/v1/runs/{run}")["status"]) != "running":
        assert status == "queued"


def _children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def _folders(temporary: Path) -> list[Path]:
    """The folders of services and brokers."""
    return [*temporary.glob("ticdc-producer-serve-*"), *temporary.glob("ticdc-producer-kafka-*")]


@pytest.mark.slow  # fast: test_starting.py
def test_nothing_is_left_of_a_service_that_ends_while_it_loads(tmp_path: Path) -> None:
    with _started(tmp_path, "tests.serve.endless_loading") as (process, line):
        assert line == "made\n"
        assert len(_folders(tmp_path)) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
    assert _folders(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_the_service_ends(end: signal.Signals, tmp_path: Path) -> None:
    with served(tmp_path) as (process, url):
        assert _run(url)["ok"] is True  # waits until the service is ready
        assert _request(f"{url}/ready")["ready"] is True
        endless = _request(f"{url}/v1/runs", ENDLESS_RUN)
        _wait_until_it_runs(url, endless["id"])
        children = _children(process)
        assert len(children) >= 4
        process.send_signal(end)
        assert process.wait(END_SECONDS) == (-end if end == signal.SIGKILL else 0)
        _, alive = psutil.wait_procs(children, timeout=SECONDS)
        assert alive == []
    if end != signal.SIGKILL:
        assert _folders(tmp_path) == []
    with served(tmp_path) as (process, url):  # it removes the folder of a service that was killed
        assert _request(f"{url}/health")["status"] == "ok"
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
    assert _folders(tmp_path) == []


@pytest.mark.slow
def test_many_runs_leave_memory_and_files_flat(tmp_path: Path) -> None:
    with served(tmp_path, "--max-runs", "10") as (process, url):

        def state() -> tuple[int, int]:
            parent = psutil.Process(process.pid)
            family = [parent, *parent.children(recursive=True)]
            return sum(member.memory_info().rss for member in family), parent.num_fds()

        for _ in range(RUNS // 5):
            assert _run(url)["ok"] is True
        memory, files = state()
        for _ in range(RUNS * 4 // 5):
            assert _run(url)["ok"] is True
        assert state()[0] < memory * 1.25
        assert state()[1] <= files + 10
        assert len(_request(f"{url}/v1/runs")) <= 11


def test_a_service_that_is_busy_ends_in_time(tmp_path: Path) -> None:
    """A run that does not end, a client that waits for it, and a client that sends slowly."""
    with served(tmp_path, "--kafka", "127.0.0.1:1") as (process, url):
        endless = _request(f"{url}/v1/runs", ENDLESS_RUN)
        _wait_until_it_runs(url, endless["id"])
        host, port = url.removeprefix("http://").split(":")
        with (
            socket.create_connection((host, int(port))) as waits,
            socket.create_connection((host, int(port))) as slow,
        ):
            waits.sendall(f"GET /v1/runs/{endless['id']}?wait=600 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            slow.sendall(b"GET /health HTTP/1.1\r\nHo")
            process.send_signal(signal.SIGTERM)
            assert process.wait(END_SECONDS) == 0
    assert _folders(tmp_path) == []


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 3
    error = capsys.readouterr().err
    assert "cannot listen on 127.0.0.1" in error
    assert "(choose another --port)" in error


def test_another_address_requires_a_token(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TICDC_PRODUCER_TOKEN", raising=False)
    assert main(["serve", "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "--host 0.0.0.0 can be reached from other machines and requires a token" in capsys.readouterr().err


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("", 0))
        return int(listener.getsockname()[1])


@pytest.mark.slow
def test_clients_of_other_machines_reach_kafka_by_the_address_of_their_network(tmp_path: Path) -> None:
    """127.0.0.2 and the host's name stand for the networks of a container."""
    inside, host = f"127.0.0.2:{_free_port()}", f"localhost:{_free_port()}"
    options = ("--kafka-address", inside, "--kafka-address", host, "--host-name", "127.0.0.2")
    with served(tmp_path, *options) as (process, url):
        port = url.rpartition(":")[2]
        run = _run(f"http://localhost:{port}")
        assert (run["ok"], run["bootstrap"]) == (True, host)
        other = urllib.request.Request(f"{url}/v1/runs/{run['id']}", headers={"Host": f"127.0.0.2:{port}"})
        with urllib.request.urlopen(other, timeout=SECONDS) as answer:
            assert json.load(answer)["bootstrap"] == inside
        topic = run["topics"][0]
        for address in (inside, host):
            brokers = AdminClient({"bootstrap.servers": address}).list_topics(timeout=SECONDS).brokers
            assert [f"{broker.host}:{broker.port}" for broker in brokers.values()] == [address]
            assert number_of_messages(address, topic) == 15
        uri = f"kafka://{inside}/{topic}?protocol=open-protocol"
        assert len(_lines(f"{url}/v1/decoded", {"sink_uri": uri})) == 15
        process.send_signal(signal.SIGTERM)
        assert process.wait(END_SECONDS) == 0


@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        (["--kafka-address", "ticdc"], 2, "--kafka-address 'ticdc' is not HOST:PORT"),
        (["--kafka-address", "a:0"], 2, "--kafka-address 'a:0' is not HOST:PORT"),
        (
            ["--kafka-address", "a:9", "--kafka-address", "b:9"],
            2,
            "of --kafka-address have port 9",
        ),
        (
            ["--kafka-address", "a:9", "--kafka", "k:9"],
            2,
            "is of the embedded Kafka, and --kafka names",
        ),
    ],
)
def test_addresses_that_kafka_cannot_have_are_refused(
    options: list[str], status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *options]) == status
    assert text in capsys.readouterr().err


def test_a_taken_port_of_kafka_is_refused_before_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("", 0))
        other.listen()
        address = f"localhost:{other.getsockname()[1]}"
        assert main(["serve", "--kafka-address", address]) == 3
    error = capsys.readouterr().err
    assert f"{address}: Address already in use (choose another --kafka-address)" in error
