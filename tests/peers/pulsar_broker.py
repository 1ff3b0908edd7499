"""A standalone broker of Apache Pulsar, and what the official consumer reads from it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

from tests.peers.software import NotRun, java, maven

if TYPE_CHECKING:
    import pulsar

PROJECT = Path(__file__).parent / "pulsar"
CLASS_PATH = PROJECT / "target" / "classpath"
_OPTIONS = [f"-Dmdep.outputFile={CLASS_PATH}", "-Dmdep.includeScope=runtime"]
# Netty, RocksDB and BookKeeper read fields of these packages (Pulsar's own ``bin/pulsar``).
_OPENED = [
    "java.base/java.nio", "java.base/jdk.internal.misc", "java.base/sun.net", "java.base/java.util.zip",
    "java.management/sun.management", "jdk.management/com.sun.management.internal",
]  # fmt: skip
_JAVA = [
    "-Xmx512m",
    "-XX:MaxDirectMemorySize=512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dio.netty.tryReflectionSetAccessible=true",
    *(word for opened in _OPENED for word in ("--add-opens", f"{opened}=ALL-UNNAMED")),
]
_MAIN = "org.apache.pulsar.PulsarStandaloneStarter"
# One bookie; no service but those of topics.
_SETTINGS = {
    "bindAddress": "127.0.0.1",
    "advertisedAddress": "127.0.0.1",
    "clusterName": "standalone",
    "loadBalancerEnabled": "false",
    "managedLedgerDefaultEnsembleSize": "1",
    "managedLedgerDefaultWriteQuorum": "1",
    "managedLedgerDefaultAckQuorum": "1",
    "systemTopicEnabled": "false",
    "topicLevelPoliciesEnabled": "false",
    "transactionCoordinatorEnabled": "false",
}
_PATIENCE_SECONDS, _PAUSE_SECONDS = 120, 0.2
_SILENCE_MS = 2_000
NAMESPACE = "persistent://public/default"


def fetch() -> None:
    """Have Maven find the jars.

    :raises NotRun: Maven, the network or the client is missing.
    """
    if find_spec("pulsar") is None:
        raise NotRun("pulsar-client is not installed")
    CLASS_PATH.parent.mkdir(exist_ok=True)
    maven(PROJECT, "dependency:build-classpath", *_OPTIONS)


@dataclass(frozen=True)
class Received:
    """A message as the consumer has it.

    :param published: when the producer sent it, in milliseconds.
    """

    partition: int
    key: str
    value: bytes
    published: int


@dataclass(frozen=True)
class PulsarBroker:
    """A running broker.

    :param service: ``HOST:PORT`` of its topics.
    :param web: ``HOST:PORT`` of its administration.
    """

    process: subprocess.Popen[bytes]
    service: str
    web: str
    log: Path

    @contextmanager
    def client(self) -> Iterator[pulsar.Client]:
        import pulsar

        quiet = pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull)
        client = pulsar.Client(f"pulsar://{self.service}", operation_timeout_seconds=5, logger=quiet)
        try:
            yield client
        finally:
            client.close()

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic of the default namespace with partitions."""
        self.administer("PUT", f"persistent/public/default/{topic}/partitions", partitions)

    def administer(self, method: str, path: str, content: object) -> None:
        """Send a request to the administration."""
        headers = {"Content-Type": "application/json"}
        url = f"http://{self.web}/admin/v2/{path}"
        request = Request(url, json.dumps(content).encode(), headers, method=method)
        urlopen(request, timeout=_PATIENCE_SECONDS).close()

    def send(self, topic: str, value: bytes) -> None:
        """Send a message to a topic of the default namespace, as another program."""
        with self.client() as client:
            client.create_producer(f"{NAMESPACE}/{topic}").send(value)

    def ends(self, topic: str) -> list[str]:
        """The last ids of the partitions of a topic of the default namespace that have messages."""
        import pulsar

        latest = pulsar.MessageId.latest
        with self.client() as client:
            partitions = client.get_topic_partitions(f"{NAMESPACE}/{topic}")
            readers = [
                client.create_reader(name, latest, start_message_id_inclusive=True) for name in partitions
            ]
            return [
                str(reader.read_next().message_id()) for reader in readers if reader.has_message_available()
            ]

    def partitions(self, topic: str) -> dict[int, list[tuple[str, bytes]]]:
        """Keys and values of each partition of a topic, in order."""
        partitions: dict[int, list[tuple[str, bytes]]] = {}
        for message in self.messages(topic):
            partitions.setdefault(message.partition, []).append((message.key, message.value))
        return partitions

    def messages(self, topic: str) -> list[Received]:
        """The messages of a topic; those of each partition in their order.

        :param topic: its full name, or its name in the default namespace.
        """
        import pulsar

        messages: list[Received] = []
        with self.client() as client:
            name, first = topic if "://" in topic else f"{NAMESPACE}/{topic}", pulsar.InitialPosition.Earliest
            consumer = client.subscribe(name, "test", initial_position=first)
            while True:
                try:
                    message = consumer.receive(_SILENCE_MS)
                except pulsar.Timeout:
                    return messages
                partition = max(message.message_id().partition(), 0)  # -1: a topic without partitions
                key, value = message.partition_key(), message.data()
                messages.append(Received(partition, key, value, message.publish_timestamp()))

    def wait(self) -> None:
        """Wait until the broker has its default namespace, the last thing that it makes."""
        import pulsar

        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with self.client() as client:
                    client.create_producer("non-persistent://public/default/ready").close()
            except pulsar.PulsarException:
                time.sleep(_PAUSE_SECONDS)
            else:
                return
        raise AssertionError(f"Pulsar does not answer: {self.log.read_text('utf-8')[-3000:]}")


@contextmanager
def pulsar_broker(folder: Path) -> Iterator[PulsarBroker]:
    """A broker for the duration of the block.

    :param folder: for its data, its settings and its log.
    """
    service, web = _free_ports(2)
    settings = {**_SETTINGS, "brokerServicePort": str(service), "webServicePort": str(web)}
    file = folder / "standalone.conf"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), "utf-8")
    main = ["-cp", CLASS_PATH.read_text("utf-8"), _MAIN, "--config", str(file)]
    main += ["--no-functions-worker", "--no-stream-storage"]
    main += ["--metadata-dir", str(folder / "metadata"), "--bookkeeper-dir", str(folder / "bookkeeper")]
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [java(), *_JAVA, *main], stdout=out, stderr=out, env=environment, cwd=folder
        )
    broker = PulsarBroker(process, f"127.0.0.1:{service}", f"127.0.0.1:{web}", log)
    try:
        broker.wait()
        yield broker
    finally:
        process.kill()
        process.wait(_PATIENCE_SECONDS)


def _free_ports(count: int) -> list[int]:
    listeners = [socket.socket() for _ in range(count)]
    try:
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()
