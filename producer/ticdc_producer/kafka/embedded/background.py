"""The embedded broker that runs without a run: it is started, found and ended by commands.

A file in the cache folder names its process, so that a later command finds it. There is one per cache folder.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec
import psutil

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.embedded.broker import EmbeddedKafka
from ticdc_producer.kafka.embedded.process import STOP_SECONDS, is_free
from ticdc_producer.kafka.embedded.settings import HOST
from ticdc_producer.resources import cache_folder

DEFAULT_PORT = 9092


@dataclass(frozen=True, kw_only=True)
class BackgroundBroker:
    """A broker that outlives the command that started it.

    :param pid: id of its supervisor.
    :param created: when that process began, in seconds since 1970; another process may get its id later.
    :param data_dir: folder of its topics; empty for a temporary one, which ends with the broker.
    """

    pid: int
    created: float
    bootstrap: str
    data_dir: str = ""

    @property
    def process(self) -> psutil.Process | None:
        """The process; None if it has ended."""
        try:
            process = psutil.Process(self.pid)
            ended = process.create_time() != self.created or process.status() == psutil.STATUS_ZOMBIE
        except psutil.Error:
            return None
        return None if ended else process


def running() -> BackgroundBroker | None:
    """Return the broker that runs; None if none does."""
    try:
        content = json.loads(_record().read_text("utf-8"))
        broker = msgspec.convert(content, BackgroundBroker)
    except (OSError, ValueError):  # a damaged file names no broker
        return None
    return broker if broker.process is not None else None


def start(port: int = DEFAULT_PORT, data_dir: Path | None = None) -> BackgroundBroker:
    """Start a broker, or return the one that runs.

    :param data_dir: folder for its topics; None: a temporary one.
    :raises BrokerError: if another one runs at another port, the port is taken, or the broker does not start.
    """
    address = f"{HOST}:{port}"
    broker = running()
    if broker is not None:
        if broker.bootstrap == address:
            return broker
        hint = "end it with `stop`"
        raise BrokerError("a broker runs already", address=broker.bootstrap, hint=hint).about("stop")
    if not is_free(port):
        raise BrokerError("the port is taken by another program", address=address, hint="choose another port")
    kafka = EmbeddedKafka(keep=True, port=port, data_dir=data_dir)
    kafka.start()
    started = BackgroundBroker(
        pid=kafka.pid,
        created=psutil.Process(kafka.pid).create_time(),
        bootstrap=kafka.bootstrap,
        data_dir="" if data_dir is None else str(data_dir.absolute()),
    )
    try:
        _write(started)
    except OSError as error:
        kafka.stop()
        raise BrokerError(f"cannot write {_record()}: {error.strerror}", address=address) from None
    return started


def stop() -> BackgroundBroker | None:
    """End the broker that runs, and return it; None if none does.

    :raises BrokerError: if it does not end.
    """
    broker = running()
    process = None if broker is None else broker.process
    if broker is not None and process is not None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except psutil.TimeoutExpired:
            hint = f"kill {broker.pid}"
            raise BrokerError("the broker does not end", address=broker.bootstrap, hint=hint) from None
    _record().unlink(missing_ok=True)
    return broker


def _record() -> Path:
    return cache_folder() / "broker.json"


def _write(broker: BackgroundBroker) -> None:
    record = _record()
    record.parent.mkdir(parents=True, exist_ok=True)
    partial = record.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(asdict(broker)), "utf-8")
    partial.replace(record)
