"""A Spark standalone master and its workers, as processes of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from ticdc_producer.java import spark_java_home
from ticdc_producer.kafka.embedded.process import free_ports

SPARK = Path(pyspark.__file__).parent
ROOT = Path(__file__).parents[2]
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Cluster:
    """:param url: ``spark://HOST:PORT``."""

    url: str
    workers: tuple[subprocess.Popen[str], ...]


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """A master and workers of one core and 1 GB each."""
    (port,) = free_ports(1)
    url = f"spark://{HOST}:{port}"
    with ExitStack() as running:
        master = ["master.Master", "--host", HOST, "--port", str(port), "--webui-port", "0"]
        running.enter_context(_process(master, "New state: ALIVE", folder))
        worker = ["worker.Worker", "--host", HOST, "--webui-port", "0", "--cores", "1", "--memory", "1g"]
        yield Cluster(
            url,
            tuple(
                running.enter_context(
                    _process([*worker, "-d", str(folder / f"worker{n}"), url], "registered with", folder)
                )
                for n in range(workers)
            ),
        )


def environment() -> dict[str, str]:
    """The environment of all processes: our Java, our Python, this copy of the package."""
    added = {
        "JAVA_HOME": str(spark_java_home()),
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": HOST,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
    }
    return {**os.environ, **added}


@contextmanager
def _process(command: list[str], ready: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    name, *options = command
    process = subprocess.Popen(
        [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options],
        env=environment(),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_for(process, ready)
        yield process
    finally:
        process.kill()
        process.wait(60)


def _wait_for(process: subprocess.Popen[str], ready: str) -> None:
    assert process.stderr is not None
    output = []
    for line in process.stderr:
        output.append(line)
        if ready in line:
            # Drain the pipe: a full one would block the process.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return
    raise AssertionError(f"{' '.join(process.args[1:2])} ended:\n{''.join(output[-5:])}")
