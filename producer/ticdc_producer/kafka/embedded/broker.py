"""A real Apache Kafka in KRaft mode with one node, which runs during a ``with`` block."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from confluent_kafka.admin import AdminClient

from ticdc_producer.errors import BrokerError
from ticdc_producer.java import find_java
from ticdc_producer.kafka.embedded.class_archive import ClassArchive, class_archive
from ticdc_producer.kafka.embedded.jars import jars
from ticdc_producer.kafka.embedded.process import (
    end,
    format_storage,
    free_ports,
    launch,
    request_coordinator,
    wait_until_ready,
)
from ticdc_producer.kafka.embedded.settings import HOST, JVM_OPTIONS, RESERVED, BrokerFolder, Listener

START_SECONDS = 60.0
PORT_ATTEMPTS = 5
_STARTING_SECONDS = 2.0
PORT_TAKEN = "Address already in use"


class EmbeddedKafka:
    """An embedded broker on free ports of this machine.

    Without ``keep`` all processes of the broker end with this process, however it ends, and a temporary
    data folder is removed. The broker runs in a session of its own, so Ctrl-C at the terminal reaches only
    this process, which then stops the broker.

    :param data_dir: folder for topics, settings and log. It is not removed; a broker that is started in it
        again has the same topics. Default: a temporary folder.
    :param keep: let the broker run on after the ``with`` block and after this process; ``kill PID`` with
        :attr:`pid` ends it and removes a temporary data folder.
    :param heap: the broker's maximum heap in the JVM's notation.
    :param properties: broker properties that are added to ours or replace them.
    :param listeners: name → security protocol of additional listeners, such as ``{"SAFE": "SASL_SSL"}``;
        their other settings belong into ``properties``.
    :param port: port of :attr:`bootstrap`; default: a free one at each start.
    :param addresses: ``HOST:PORT`` each, by which clients of other machines or containers reach the broker.
        It listens on these ports of all addresses, without encryption and without passwords.
    :raises BrokerError: if one of ``properties`` is set by this class itself.
    """

    def __init__(
        self,
        *,
        data_dir: Path | None = None,
        keep: bool = False,
        heap: str = "512m",
        properties: Mapping[str, str] | None = None,
        listeners: Mapping[str, str] | None = None,
        port: int | None = None,
        addresses: Sequence[str] = (),
    ) -> None:
        self._data_dir = data_dir
        self._keep = keep
        self._heap = heap
        self._properties = dict(properties or {})
        self._listeners = dict(listeners or {})
        self._port = port
        self._outside = [
            Listener(f"OUTSIDE{number}", "PLAINTEXT", int(address.rpartition(":")[2]), address)
            for number, address in enumerate(addresses)
        ]
        self._addresses: dict[str, str] = {}
        if reserved := sorted(RESERVED.intersection(self._properties)):
            raise BrokerError(f"the embedded broker sets {', '.join(reserved)} itself")
        self._owner = 0
        self._folder: BrokerFolder | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._bootstrap = ""
        self._admin: AdminClient | None = None

    @property
    def bootstrap(self) -> str:
        """``host:port`` for clients.

        :raises BrokerError: if the broker does not run.
        """
        if not self._bootstrap:
            raise BrokerError("the embedded broker is not started")
        return self._bootstrap

    def address(self, listener: str) -> str:
        """Return ``host:port`` of one of the additional listeners.

        :raises BrokerError: if the broker does not run, or has no such listener.
        """
        if listener not in self._addresses:
            raise BrokerError(f"the embedded broker has no listener {listener}")
        return self._addresses[listener]

    @property
    def pid(self) -> int:
        """The id of the process to ``kill`` in order to end the broker.

        :raises BrokerError: if the broker does not run.
        """
        if not self._process:
            raise BrokerError("the embedded broker is not started")
        return self._process.pid

    def __enter__(self) -> EmbeddedKafka:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._keep:
            self.stop()

    def start(self) -> None:
        """Start the broker and return when it accepts requests.

        :raises JavaError: if no Java is found.
        :raises BrokerError: if its jars cannot be downloaded, or it is not ready within 60 s; the error
            contains the end of its log.
        """
        if self._process:
            raise BrokerError("the embedded broker is started already", address=self.bootstrap)
        java, class_path = find_java(), os.pathsep.join(map(str, jars()))
        command = [str(java.java), "-cp", class_path, *JVM_OPTIONS]
        self._owner = os.getpid()
        atexit.register(self.stop)
        try:
            self._folder = BrokerFolder.make(self._data_dir)
            self._start(self._folder, command, class_archive("kafka", java.home, class_path))
        except BaseException:
            self.stop()
            raise
        if self._keep:
            atexit.unregister(self.stop)

    def stop(self) -> None:
        """End the broker, also with ``keep``, and remove its folder if that is temporary.

        Safe to call at any time and more than once.
        """
        if self._owner != os.getpid():
            return  # never started, or started by the process that forked this one
        atexit.unregister(self.stop)
        process, self._process, self._bootstrap = self._process, None, ""
        self._admin = None
        self._addresses = {}
        if process:
            end(process)
        folder, self._folder = self._folder, None
        if folder:
            folder.remove_if_temporary()

    def kill(self) -> None:
        """End the processes of the broker at once, if it has any; ``stop`` has to follow."""
        process = self._process
        if process:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def log_tail(self, lines: int = 30) -> str:
        """Return the last lines of the broker's log; empty if it does not run."""
        return self._folder.log_tail(lines) if self._folder else ""

    def _start(self, folder: BrokerFolder, java: Sequence[str], classes: ClassArchive) -> None:
        deadline = time.monotonic() + START_SECONDS
        written = classes if classes.is_due() else None
        options = _archive_options(classes, written)
        for _ in range(PORT_ATTEMPTS):
            port, controller_port, *others = free_ports(2 + len(self._listeners))
            port = self._port or port
            listeners = [
                Listener(*named, other) for named, other in zip(self._listeners.items(), others, strict=True)
            ]
            folder.write_settings(port, controller_port, self._properties, [*listeners, *self._outside])
            cluster = folder.cluster_id() or format_storage(folder, java, self._properties)
            command = [*java, *options, f"-Xmx{self._heap}", "kafka.Kafka"]
            self._process = launch(folder, command, keep=self._keep, archive=written)
            address = f"{HOST}:{port}"
            if wait_until_ready(self._process, address, cluster, deadline):
                self._process.send_signal(signal.SIGUSR1)  # the supervisor may install the class archive
                self._bootstrap = address
                self._admin = request_coordinator(address)
                self._addresses = {listener.name: listener.address for listener in listeners}
                return
            # Another program may have taken a port between our check and the broker's start.
            if self._process.poll() is None or PORT_TAKEN not in folder.log_tail(500):
                break
            end(self._process)
        raise folder.failure(f"the embedded broker {_why_not_ready(self._process)}")


def _archive_options(classes: ClassArchive, written: ClassArchive | None) -> list[str]:
    if written is not None:
        return [written.write_option]
    return [classes.read_option] if classes.exists else []


def _why_not_ready(process: subprocess.Popen[bytes] | None) -> str:
    status = process.poll() if process else None
    if status is None:
        return f"is not ready after {START_SECONDS:.0f} s"
    return f"ended with status {status} while it started"


class StartingKafka:
    """An embedded broker that starts in a thread.

    :param keep: whether it outlives this process, unless it is stopped.
    :param addresses: as for :class:`EmbeddedKafka`.
    """

    def __init__(self, *, keep: bool = False, addresses: Sequence[str] = ()) -> None:
        self._kafka = EmbeddedKafka(keep=keep, addresses=addresses)
        self._error: BaseException | None = None
        # A program that ends does not wait for it: the broker ends with the program.
        self._thread = threading.Thread(target=self._start, name="Kafka start", daemon=True)
        self._thread.start()

    def _start(self) -> None:
        try:
            self._kafka.start()
        except BaseException as error:  # raised in the thread that waits
            self._error = error

    def running(self) -> EmbeddedKafka:
        """Yield the broker once it accepts requests.

        :raises ProducerError: if it does not start.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._kafka

    def stop(self) -> None:
        """End it. One that still starts after a moment is killed: it would finish its start first."""
        self._thread.join(_STARTING_SECONDS)
        if self._thread.is_alive():
            self._kafka.kill()
        self._kafka.stop()
        self._thread.join(_STARTING_SECONDS)
