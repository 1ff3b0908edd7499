"""The embedded broker's processes: formatting its storage, starting, waiting until ready, ending."""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from ticdc_producer.kafka.embedded import supervisor
from ticdc_producer.kafka.embedded.settings import HOST, BrokerFolder

FORMAT_SECONDS = 60.0
STOP_SECONDS = supervisor.GRACE_SECONDS + 5


def free_ports(count: int) -> list[int]:
    """Distinct ports on which no process listens now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]


def is_free(port: int) -> bool:
    """Whether no process listens on a port now."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((HOST, port))
        except OSError:
            return False
    return True


def format_storage(folder: BrokerFolder, java: Sequence[str]) -> str:
    """Format the storage of a new Kafka cluster and return the cluster's id.

    :param java: the Java program, its class path and options.
    :raises BrokerError: if Kafka's storage tool fails.
    """
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    # One argument: every 64th id begins with "-", which the tool would parse as an option.
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
    return cluster


def launch(folder: BrokerFolder, broker: Sequence[str], *, keep: bool) -> subprocess.Popen[bytes]:
    """Start a broker under a supervisor, in a session of its own.

    :param broker: the command without the properties file, which is appended.
    :param keep: whether the broker outlives this process.
    """
    parent = 0 if keep else os.getpid()
    remove = str(folder.path) if folder.temporary else ""
    watch = [sys.executable, "-I", "-S", supervisor.__file__, str(parent), remove]
    with folder.new_log() as log:
        return subprocess.Popen(
            [*watch, *broker, "server.properties"],
            cwd=folder.path,
            stdin=subprocess.DEVNULL if keep else subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def wait_until_ready(process: subprocess.Popen[bytes], address: str, cluster: str, deadline: float) -> bool:
    """Send requests until the broker answers with id ``cluster``; False if it ended or at the deadline.

    :param deadline: on the clock of ``time.monotonic``, in seconds.
    """
    quiet = {"log_level": 0, "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100}
    admin = AdminClient({"bootstrap.servers": address, **quiet})
    while process.poll() is None and time.monotonic() < deadline:
        # The call waits for a connection, so this loop does not spin.
        with contextlib.suppress(KafkaException):
            metadata = admin.list_topics(timeout=0.5)
            # Another program's broker may have taken the port.
            if metadata.brokers and metadata.cluster_id == cluster:
                return True
    return False


def end(process: subprocess.Popen[bytes]) -> None:
    """End a broker and its supervisor, first by request and then by SIGKILL."""
    if process.stdin:
        process.stdin.close()
    else:
        process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    if process.returncode is None or process.returncode < 0:
        # The supervisor hangs or was killed itself; the broker is in its process group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
