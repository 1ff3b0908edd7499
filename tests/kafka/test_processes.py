"""The supervisor and the ending of processes, with cheap stand-ins for the broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ticdc_producer.kafka.embedded import process, supervisor
from ticdc_producer.kafka.embedded.class_archive import ClassArchive
from ticdc_producer.kafka.embedded.settings import BrokerFolder, server_properties

GONE_SECONDS = 20
WAITS = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
IGNORES_SIGTERM = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True:
    signal.pause()
"""
WRITES_AT_ITS_END = """
import signal, sys
from pathlib import Path
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print("up", flush=True)
signal.sigwait({signal.SIGTERM})
Path(sys.argv[1]).write_text("classes")
sys.exit(int(sys.argv[2]))
"""
"""A handler would be lost if the signal came just before ``pause``."""
PARENT = """
import signal, sys
from pathlib import Path
from ticdc_producer.kafka.embedded import process
from ticdc_producer.kafka.embedded.settings import BrokerFolder
running = process.launch(BrokerFolder(Path(sys.argv[1]), True), sys.argv[2:], keep=False)
print(running.pid, flush=True)
signal.pause()
"""


def folder(path: Path, *, temporary: bool = True) -> BrokerFolder:
    path.mkdir()
    return BrokerFolder(path, temporary)


def broker_below(supervising: subprocess.Popen[bytes] | psutil.Process) -> psutil.Process:
    """The one child of the supervisor, as soon as it exists."""
    while not (children := psutil.Process(supervising.pid).children()):
        os.sched_yield()
    return children[0]


def gone(*processes: psutil.Process) -> bool:
    return not psutil.wait_procs(processes, timeout=GONE_SECONDS)[1]


def test_closing_the_pipe_ends_the_broker_and_its_temporary_folder(tmp_path: Path) -> None:
    working_dir = folder(tmp_path / "data")
    running = process.launch(working_dir, WAITS, keep=False)
    broker = broker_below(running)
    process.end(running)
    assert not broker.is_running()
    assert running.returncode == 128 + signal.SIGTERM
    assert not working_dir.path.exists()


def test_a_folder_that_the_user_chose_stays(tmp_path: Path) -> None:
    working_dir = folder(tmp_path / "data", temporary=False)
    running = process.launch(working_dir, WAITS, keep=False)
    broker_below(running)
    process.end(running)
    assert working_dir.path.exists()


def test_a_broker_that_ends_by_itself_leaves_its_log(tmp_path: Path) -> None:
    working_dir = folder(tmp_path / "data")
    running = process.launch(working_dir, ["/bin/sh", "-c", "echo out of luck; exit 7"], keep=False)
    assert running.wait(GONE_SECONDS) == 7
    process.end(running)
    assert "out of luck" in str(working_dir.failure("it ended"))
    working_dir.remove_if_temporary()
    assert not working_dir.path.exists()


@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL])
def test_killing_the_supervisor_ends_the_broker(tmp_path: Path, number: int) -> None:
    running = process.launch(folder(tmp_path / "data"), WAITS, keep=False)
    broker = broker_below(running)
    running.send_signal(number)
    process.end(running)
    assert gone(broker)


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, *(pytest.param(n, marks=pytest.mark.slow) for n in (signal.SIGTERM, signal.SIGHUP))],
)
def test_killing_the_parent_ends_supervisor_and_broker(tmp_path: Path, number: int) -> None:
    working_dir = folder(tmp_path / "data")
    command = [sys.executable, "-c", PARENT, str(working_dir.path), *WAITS]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        supervising = psutil.Process(int(parent.stdout.readline()))
        broker = broker_below(supervising)
        parent.send_signal(number)
    assert gone(supervising, broker)
    assert not working_dir.path.exists()


def test_a_broker_with_keep_ends_by_sigterm_to_its_pid(tmp_path: Path) -> None:
    working_dir = folder(tmp_path / "data")
    running = process.launch(
        working_dir, ["/bin/sh", "-c", "echo up; exec cat /dev/zero >/dev/null"], keep=True
    )
    broker = broker_below(running)
    assert running.stdin is None, "the parent has no pipe whose closing ends the broker"
    os.kill(running.pid, signal.SIGTERM)
    running.wait(GONE_SECONDS)
    process.end(running)
    assert gone(broker)


def test_a_broker_that_does_not_end_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", IGNORES_SIGTERM], stdout=subprocess.PIPE) as broker:
        assert broker.stdout
        assert broker.stdout.readline() == b"up\n"
        supervisor.end(broker, 0.2)
        assert broker.wait(GONE_SECONDS) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("status", "was_ready", "complete"), [(143, True, True), (143, False, False), (1, True, False)]
)
def test_the_class_archive_of_a_broker_that_was_ready_and_ends_by_request_is_installed(
    tmp_path: Path, status: int, was_ready: bool, complete: bool
) -> None:
    archive = ClassArchive(tmp_path / "kafka-0.jsa")
    writes = [sys.executable, "-c", WRITES_AT_ITS_END, str(archive.temporary_file), str(status)]
    working_dir = folder(tmp_path / "data", temporary=False)
    running = process.launch(working_dir, writes, keep=False, archive=archive)
    while "up" not in working_dir.log_tail(1):
        os.sched_yield()
    if was_ready:
        running.send_signal(signal.SIGUSR1)
    process.end(running)
    assert running.returncode == status
    assert archive.exists == complete
    assert not archive.temporary_file.exists()


def test_a_supervisor_that_hangs_is_killed_with_its_broker(tmp_path: Path) -> None:
    running = process.launch(folder(tmp_path / "data"), WAITS, keep=False)
    broker = broker_below(running)
    running.send_signal(signal.SIGSTOP)
    process.end(running, 0.2)
    assert running.returncode == -signal.SIGKILL
    assert gone(broker)


def test_ports_are_free_and_differ() -> None:
    first, second = process.free_ports(2)
    assert first != second
    assert min(first, second) >= 1024


def test_properties_are_escaped_added_and_replaced() -> None:
    text = server_properties(1234, 5678, {"message.max.bytes": "1", "odd": "a\\b\nc=\u00e9"})
    lines = text.splitlines()
    assert r"odd=a\\b\nc=\u00e9" in lines
    assert [line for line in lines if line.startswith("message.max")] == ["message.max.bytes=1"]
    assert "advertised.listeners=PLAINTEXT://127.0.0.1:1234" in lines
    assert "controller.quorum.voters=1@127.0.0.1:5678" in lines
