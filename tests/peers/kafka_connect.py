"""Kafka Connect in its standalone form, with Debezium's JDBC sink: a process that other people run."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from confluent_kafka import Consumer, TopicPartition

from tests.peers.software import java, maven

PROJECT = Path(__file__).parent / "jdbc_sink"
CLASS_PATH = PROJECT / "target" / "classpath"
_OPTIONS = [f"-Dmdep.outputFile={CLASS_PATH}", "-Dmdep.includeScope=runtime"]
_JAVA = [
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Duser.timezone=UTC",
    "-Duser.language=en",
]
_PATIENCE_SECONDS, _PAUSE_SECONDS = 120, 0.2
_JSON = "org.apache.kafka.connect.json.JsonConverter"


def fetch() -> None:
    """Have Maven find the jars.

    :raises NotRun: Maven or the network is missing.
    """
    CLASS_PATH.parent.mkdir(exist_ok=True)
    maven(PROJECT, "dependency:build-classpath", *_OPTIONS)


def jdbc_sink(topic: str, url: str, user: str, password: str) -> dict[str, str]:
    """The properties of a sink, as its documentation has them for a topic of Debezium's.

    :param url: of JDBC.
    """
    return {
        "name": topic,
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "topics": topic,
        "connection.url": url,
        "connection.username": user,
        "connection.password": password,
        "insert.mode": "upsert",
        "delete.enabled": "true",
        "primary.key.mode": "record_key",
        "schema.evolution": "basic",
        "collection.name.format": "${source.db}_${source.table}",
    }


@dataclass(frozen=True)
class Connect:
    """A running worker of Kafka Connect."""

    process: subprocess.Popen[bytes]
    bootstrap: str
    rest: str
    log: Path

    def done(self, topic: str) -> str:
        """Wait until a sink has applied its topic, or has failed.

        :return: the causes of the failure, one per line; empty if it did not fail.
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if trace := self._failure(topic):
                return trace
            if self._applied(topic):
                return ""
            time.sleep(_PAUSE_SECONDS)
        raise AssertionError(f"Kafka Connect is not done with {topic}: {self.log.read_text('utf-8')[-3000:]}")

    def _failure(self, topic: str) -> str:
        try:
            with urlopen(f"{self.rest}/connectors/{topic}/status", timeout=_PATIENCE_SECONDS) as answer:
                status = json.load(answer)
        except (
            URLError,
            ConnectionError,
        ):  # not listening yet, or unknown sink
            return ""
        failed = [part for part in (status["connector"], *status["tasks"]) if part["state"] == "FAILED"]
        lines = "".join(part["trace"] for part in failed).splitlines()
        return "\n".join(line for line in lines if not line.startswith("\t"))

    def _applied(self, topic: str) -> bool:
        """Whether the offsets that the sink has committed are the ends of the partitions."""
        consumer = Consumer(
            {"bootstrap.servers": self.bootstrap, "group.id": f"connect-{topic}", "log_level": 0}
        )
        try:
            numbers = consumer.list_topics(topic, timeout=_PATIENCE_SECONDS).topics[topic].partitions
            partitions = [TopicPartition(topic, number) for number in numbers]
            ends = [
                consumer.get_watermark_offsets(partition, timeout=_PATIENCE_SECONDS)[1]
                for partition in partitions
            ]
            committed = consumer.committed(partitions, timeout=_PATIENCE_SECONDS)
            return all(
                partition.offset >= end or not end for partition, end in zip(committed, ends, strict=True)
            )
        finally:
            consumer.close()


@contextmanager
def kafka_connect(folder: Path, bootstrap: str, sinks: list[Mapping[str, str]]) -> Iterator[Connect]:
    """A worker with some sinks, for the duration of the block.

    :param folder: for its files and its log.
    """
    rest = f"http://127.0.0.1:{_free_port()}"
    worker = {
        "bootstrap.servers": bootstrap,
        "key.converter": _JSON,
        "value.converter": _JSON,
        "offset.storage.file.filename": str(folder / "offsets"),
        "offset.flush.interval.ms": "500",
        "listeners": rest,
        "plugin.discovery": "service_load",
        "consumer.auto.offset.reset": "earliest",
    }
    files = [_written(folder / "worker.properties", worker)]
    files += [_written(folder / f"{sink['name']}.properties", sink) for sink in sinks]
    main = ["-cp", CLASS_PATH.read_text("utf-8"), "org.apache.kafka.connect.cli.ConnectStandalone"]
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [java(), *_JAVA, *main, *files], stdout=out, stderr=out, env=_environment()
        )
    try:
        yield Connect(process, bootstrap, rest, log)
    finally:
        process.kill()  # with a failed sink it ends slowly by itself
        process.wait(_PATIENCE_SECONDS)


def _environment() -> dict[str, str]:
    """The environment without JAVA_TOOL_OPTIONS, which changes the JVM and its log."""
    return {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}


def _written(path: Path, properties: Mapping[str, str]) -> str:
    path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()), "utf-8")
    return str(path)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
