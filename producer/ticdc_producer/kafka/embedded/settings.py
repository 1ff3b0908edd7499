"""Settings of the embedded broker, and its working folder: properties, topics, log, the JVM's options."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ticdc_producer.errors import BrokerError

HOST = "127.0.0.1"
TOPICS = "topics"  # relative to the broker's folder, where it also runs

# Options for the fastest start; the broker copies bytes and gains little from the C2 compiler.
JVM_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
    "-Dlog4j2.configurationFile=log4j2.properties",
    "-Dlog4j2.disable.jmx=true",
)

LOG4J = """\
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %m (%c{1})%n
# At INFO it prints every setting of every component: hundreds of lines before the first event.
logger.settings.name = org.apache.kafka.common.config
logger.settings.level = WARN
"""

# Addresses and folders are set at each start.
RESERVED = frozenset(
    {
        "advertised.listeners",
        "controller.listener.names",
        "controller.quorum.voters",
        "listener.security.protocol.map",
        "listeners",
        "log.dirs",
        "node.id",
        "process.roles",
    }
)

DEFAULTS: Mapping[str, str] = {
    "auto.create.topics.enable": "false",
    # A single node cannot replicate.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Kafka's default of 50 partitions per topic is slow to create and to load.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    # Messages are retained until the folder is removed.
    "log.retention.ms": "-1",
    "log.retention.bytes": "-1",
    # TiCDC's default limit is 10 MiB; with Kafka's 1 MiB TiCDC would lower it. A request
    # (socket.request.max.bytes, 100 MiB) has to hold the message.
    "message.max.bytes": str(64 << 20),
    # Kafka reserves 128 MiB of the heap for compacted topics, which we do not have.
    "log.cleaner.dedupe.buffer.size": str(4 << 20),
}


@dataclass(frozen=True, slots=True)
class Listener:
    """An additional listener of the broker.

    :param protocol: security protocol in Kafka's notation: ``SSL``, ``SASL_SSL``…
    :param advertised: ``HOST:PORT`` by which clients of other machines reach it, which it then listens for on
        all addresses of this one; empty: it is for this machine.
    """

    name: str
    protocol: str
    port: int
    advertised: str = ""

    @property
    def address(self) -> str:
        """``HOST:PORT`` for its clients."""
        return self.advertised or f"{HOST}:{self.port}"

    @property
    def bound(self) -> str:
        """The address that it listens on; without a host all addresses."""
        return f":{self.port}" if self.advertised else self.address


def server_properties(
    port: int, controller_port: int, extra: Mapping[str, str], listeners: Sequence[Listener] = ()
) -> str:
    """Return the text of the broker's ``server.properties``.

    :param extra: properties that are added to ours or replace them.
    :param listeners: listeners in addition to the plaintext one, which always exists.
    """
    every = [Listener("PLAINTEXT", "PLAINTEXT", port), *listeners]
    bound = [f"{listener.name}://{listener.bound}" for listener in every]
    advertised = [f"{listener.name}://{listener.address}" for listener in every]
    protocols = {listener.name: listener.protocol for listener in every} | {"CONTROLLER": "PLAINTEXT"}
    addresses = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": ",".join([*bound, f"CONTROLLER://{HOST}:{controller_port}"]),
        "advertised.listeners": ",".join(advertised),
        "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in protocols.items()),
        "controller.listener.names": "CONTROLLER",
        # Static voters: unlike dynamic ones they are not stored, which is needed because ports change.
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
        "log.dirs": TOPICS,
    }
    # The escapes of a JSON string are valid in a properties file.
    settings = {**DEFAULTS, **extra, **addresses}
    return "".join(f"{key}={json.dumps(value)[1:-1]}\n" for key, value in settings.items())


TAIL_BYTES = 64 << 10


@dataclass(frozen=True)
class BrokerFolder:
    """A folder with ``server.properties``, ``log4j2.properties``, ``broker.log`` and ``topics/``.

    :param temporary: whether the folder is removed with the broker.
    """

    path: Path
    temporary: bool

    @classmethod
    def make(cls, folder: Path | None) -> BrokerFolder:
        """Create the folder if it is missing; without a folder, create a new temporary one.

        :raises BrokerError: if the folder cannot be created.
        """
        try:
            if folder is None:
                return cls(Path(tempfile.mkdtemp(prefix="ticdc-producer-kafka-")), temporary=True)
            path = folder.expanduser().absolute()
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BrokerError(f"cannot create a folder for the embedded broker: {error}") from error
        return cls(path, temporary=False)

    def write_settings(
        self, port: int, controller_port: int, extra: Mapping[str, str], listeners: Sequence[Listener] = ()
    ) -> None:
        """Write the broker's configuration files; parameters as in :func:`server_properties`."""
        text = server_properties(port, controller_port, extra, listeners)
        (self.path / "server.properties").write_text(text, encoding="ascii")
        (self.path / "log4j2.properties").write_text(LOG4J, encoding="ascii")

    def cluster_id(self) -> str | None:
        """Return the id of the Kafka cluster whose storage is here; None if the storage is not formatted."""
        stored = self.path / TOPICS / "meta.properties"
        if not stored.is_file():
            return None
        settings = dict(line.split("=", 1) for line in stored.read_text().splitlines() if "=" in line)
        return settings.get("cluster.id")

    def new_log(self) -> BinaryIO:
        """Return an empty log to write to."""
        return (self.path / "broker.log").open("wb")

    def log_tail(self, lines: int) -> str:
        """Return the log's last lines; empty if no log exists."""
        try:
            with (self.path / "broker.log").open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL_BYTES))
                text = log.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def failure(self, what: str) -> BrokerError:
        """Return a ``BrokerError`` with the end of the broker's log."""
        return BrokerError(f"{what}; the end of its log:\n{self.log_tail(30)}")

    def remove_if_temporary(self) -> None:
        """Remove the folder and its content, unless the user chose it."""
        if self.temporary:
            shutil.rmtree(self.path, ignore_errors=True)
