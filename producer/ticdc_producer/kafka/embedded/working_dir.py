"""The embedded broker's working folder: settings, topics and log."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.embedded.settings import LOG4J, TOPICS, Listener, server_properties

TAIL_BYTES = 64 << 10


@dataclass(frozen=True)
class BrokerFolder:
    """A folder with ``server.properties``, ``log4j2.properties``, ``broker.log`` and ``topics/``.

    :param temporary: whether the folder is removed with the broker.
    """

    path: Path
    temporary: bool

    @classmethod
    def make(cls, chosen: Path | None) -> BrokerFolder:
        """``chosen``, created if missing, or a new temporary folder.

        :raises BrokerError: if the folder cannot be created.
        """
        try:
            if chosen is None:
                return cls(Path(tempfile.mkdtemp(prefix="ticdc-producer-kafka-")), temporary=True)
            path = chosen.expanduser().absolute()
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
        """The id of the Kafka cluster whose storage is here; None if the storage is not formatted."""
        stored = self.path / TOPICS / "meta.properties"
        if not stored.is_file():
            return None
        settings = dict(line.split("=", 1) for line in stored.read_text().splitlines() if "=" in line)
        return settings.get("cluster.id")

    def new_log(self) -> BinaryIO:
        """An empty log to write to."""
        return (self.path / "broker.log").open("wb")

    def log_tail(self, lines: int) -> str:
        """The log's last lines; empty if no log exists."""
        try:
            with (self.path / "broker.log").open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL_BYTES))
                text = log.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def failure(self, what: str) -> BrokerError:
        """A ``BrokerError`` with the end of the broker's log."""
        return BrokerError(f"{what}; the end of its log:\n{self.log_tail(30)}")

    def remove_if_temporary(self) -> None:
        """Remove the folder and its content, unless the user chose it."""
        if self.temporary:
            shutil.rmtree(self.path, ignore_errors=True)
