"""The embedded broker's processes: formatting its storage, starting, waiting until ready, ending."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from ticdc_producer.kafka.embedded import supervisor
from ticdc_producer.kafka.embedded.class_archive import ClassArchive
from ticdc_producer.kafka.embedded.settings import HOST, TOPICS, BrokerFolder
from ticdc_producer.resources import cache_folder

FORMAT_SECONDS = 60.0
_SNAPSHOT = "bootstrap.checkpoint"
STOP_SECONDS = supervisor.GRACE_SECONDS + supervisor.WRITE_SECONDS + 5


def free_ports(count: int) -> list[int]:
    """Return distinct ports on which no process listens now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind((HOST, 0))
        return [listener.getsockname()[1] for listener in sockets]


def is_free(port: int) -> bool:
    """Return whether no process listens on a port now."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            return False
    return True


def format_storage(folder: BrokerFolder, java: Sequence[str], properties: Mapping[str, str]) -> str:
    """Format the storage of a new Kafka cluster and return the cluster's id.

    Kafka's tool writes two files: the ids of cluster and folder, and a snapshot of the versions of all
    features. The snapshot depends on Kafka and its properties only, so that of the first storage is copied
    into later ones: the tool takes half as much CPU as the start of a broker.

    :param java: the Java program, its class path and options.
    :param properties: broker properties other than ours.
    :raises BrokerError: if Kafka's storage tool fails.
    """
    cluster = random_cluster_id()
    snapshot = _snapshot(java, properties)
    if snapshot.is_file():
        ids = {"version": "1", "node.id": "1", "cluster.id": cluster, "directory.id": random_cluster_id()}
        topics = folder.path / TOPICS
        topics.mkdir(exist_ok=True)
        shutil.copyfile(snapshot, topics / snapshot.name)
        (topics / "meta.properties").write_text(
            "".join(f"{key}={value}\n" for key, value in ids.items()), "ascii"
        )
        return cluster
    _format(folder, java, cluster)
    with contextlib.suppress(OSError):  # without a cache each start formats again
        snapshot.parent.mkdir(parents=True, exist_ok=True)
        copy = snapshot.with_suffix(f".{os.getpid()}")
        shutil.copyfile(folder.path / TOPICS / snapshot.name, copy)
        copy.replace(snapshot)
    return cluster


def random_cluster_id() -> str:
    """Return a random UUID as Kafka spells it: without a hyphen at its beginning, as that of an option."""
    while (identity := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return identity


def _snapshot(java: Sequence[str], properties: Mapping[str, str]) -> Path:
    """Return the path of the cached snapshot for these properties and the version in the class path."""
    identity = "\0".join([*java, *(f"{name}={value}" for name, value in sorted(properties.items()))])
    return cache_folder() / "kafka" / hashlib.sha256(identity.encode()).hexdigest()[:16] / _SNAPSHOT


def _format(folder: BrokerFolder, java: Sequence[str], cluster: str) -> None:
    tool = ["kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "--config", "server.properties"]
    with folder.new_log() as log:
        try:
            subprocess.run(
                [*java, *tool],
                cwd=folder.path,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=FORMAT_SECONDS,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise folder.failure(
                f"cannot format the embedded broker's storage, status {error.returncode}"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise folder.failure(
                f"the embedded broker's storage is not formatted after {error.timeout:.0f} s"
            ) from error


def launch(
    folder: BrokerFolder, broker: Sequence[str], *, keep: bool, archive: ClassArchive | None = None
) -> subprocess.Popen[bytes]:
    """Start a broker under a supervisor, in a session of its own.

    :param broker: the command without the properties file, which is appended.
    :param keep: whether the broker outlives this process.
    :param archive: the class archive that the broker writes when it ends; None: it writes none.
    """
    parent = 0 if keep else os.getpid()
    remove = str(folder.path) if folder.temporary else ""
    written = ["", ""] if archive is None else [str(archive.temporary_file), str(archive.path)]
    watch = [sys.executable, "-I", "-S", supervisor.__file__, str(parent), remove, *written]
    with folder.new_log() as log:
        return subprocess.Popen(
            [*watch, *broker, "server.properties"],
            cwd=folder.path,
            stdin=subprocess.DEVNULL if keep else subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


_QUIET = {"log_level": 0, "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100}


def wait_until_ready(process: subprocess.Popen[bytes], address: str, cluster: str, deadline: float) -> bool:
    """Send requests until the broker answers with id ``cluster``; False if it ended or at the deadline.

    :param deadline: on the clock of ``time.monotonic``, in seconds.
    """
    admin = AdminClient({"bootstrap.servers": address, **_QUIET})
    while process.poll() is None and time.monotonic() < deadline:
        # The call waits for a connection, so this loop does not spin.
        with contextlib.suppress(KafkaException):
            metadata = admin.list_topics(timeout=0.5)
            # Another program's broker may have taken the port.
            if metadata.brokers and metadata.cluster_id == cluster:
                return True
    return False


def request_coordinator(address: str) -> AdminClient:
    """Make a new broker create its topic of committed offsets now, in the background.

    The broker creates it at the first request for the coordinator of a group, and answers that
    there is none yet. librdkafka asks again after a second, and the first run would wait for it.

    :return: the client that sends the request; it must live until the request is sent.
    """
    admin = AdminClient({"bootstrap.servers": address, **_QUIET})
    admin.describe_consumer_groups(["ticdc-producer"])
    return admin


def end(process: subprocess.Popen[bytes], seconds: float = STOP_SECONDS) -> None:
    """End a broker and its supervisor, first by request and then by SIGKILL.

    :param seconds: time after the request.
    """
    if process.stdin:
        process.stdin.close()
    else:
        process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    if process.returncode is None or process.returncode < 0:
        # The supervisor hangs or was killed itself; the broker is in its process group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
