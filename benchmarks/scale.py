"""The cost of large runs by size: generated volume written to a folder and to Kafka.

Each measurement is a process of its own that starts a Spark session and then measures ``run --only
messages``; a thread samples the memory of the driver's JVM and of the Python workers, and the disk space of
spills, topics and files. All files are in one folder, which is removed. ``--rows`` fixes the rows of a table,
so that only the number of changes grows; ``--one-table`` has one table in one partition, as TiCDC's default
dispatch rule sends it; ``--scenario wide`` has one table of 301 columns.

    python -m benchmarks.scale 1000000 10000000 100000000 --targets folder --work /mnt/large
    python -m benchmarks.scale 1000000 20000000 --targets kafka
    PYTHONPATH=OTHER_CHECKOUT/producer python -m benchmarks.scale 10000000 --targets folder
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.cpu_time import cpu_seconds
from ticdc_producer.runs.run import run
from ticdc_producer.spark.session import spark_session

TARGETS = ("folder", "kafka")
_SAMPLE_SECONDS = 0.5
_SHAPES = {"sysbench": (4, 4), "wide": (1, 1)}  # scenario → tables, changes of a transaction


def overrides(
    changes: int, rows: int | None = None, *, scenario: str = "sysbench", one_table: bool = False
) -> list[str]:
    """Settings of the scenario.

    :param rows: rows that are inserted first, per table; None: together a tenth of the changes.
    :param one_table: one table of sysbench in one partition, instead of four tables in four.
    """
    tables, changes_per_transaction = _SHAPES[scenario]
    tables = 1 if one_table else tables
    rows = changes // 10 // tables if rows is None else rows
    transactions = (changes - rows * tables) // changes_per_transaction
    settings = [f"steps[1].generate.rows={rows}", f"steps[1].generate.transactions={transactions}"]
    if one_table:
        only = "[{table: sbtest.sbtest1}]"
        settings += [f"steps[1].generate.tables={only}", "changefeed.sink.dispatchers=[]"]
    return settings


@dataclass
class Peaks:
    """Maximum of the samples, in bytes."""

    driver: int = 0
    workers: int = 0
    disk: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def watch(self, jvm: int, folder: Path) -> None:
        """Sample until ``ended`` is set."""
        while not self.ended.wait(_SAMPLE_SECONDS):
            self.driver = max(self.driver, _memory(jvm))
            below = _children(jvm)
            self.workers = max(self.workers, sum(_memory(pid) for pid in below))
            self.disk = max(self.disk, _disk(folder))


def _memory(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


def _disk(folder: Path) -> int:
    total = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # Spark deletes spill files meanwhile
                total += (Path(above) / name).stat().st_blocks * 512
    return total


@contextmanager
def watched(jvm: int, folder: Path) -> Iterator[Peaks]:
    """Sample memory and disk space during the block."""
    peaks = Peaks()
    thread = threading.Thread(target=peaks.watch, args=(jvm, folder), daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        peaks.ended.set()
        thread.join()


def measure(scenario: str, target: str, changes: int, work: Path, settings: list[str]) -> dict[str, Any]:
    """Measure one run in this process."""
    spark_session(rows=changes)
    out = work / "out" if target == "folder" else None
    with watched(_jvm(), work) as peaks:
        start, before = time.perf_counter(), cpu_seconds()
        report = run(scenario, out=out, overrides=settings, messages_only=True)
        seconds = time.perf_counter() - start
        used = cpu_seconds() - before
    kinds = report.counts.by_kind().values()
    messages, size = (sum(kind[name] for kind in kinds) for name in ("messages", "bytes"))
    return {
        "scenario": scenario,
        "target": target,
        "changes": changes,
        "messages": messages,
        "message_bytes": size,
        "seconds": round(seconds, 2),
        "us_per_change": round(seconds / changes * 1e6, 3),
        "cpu_us_per_change": round(used / changes * 1e6, 3),
        "us_per_message": round(seconds / messages * 1e6, 3),
        "driver_peak_mb": peaks.driver >> 20,
        "workers_peak_mb": peaks.workers >> 20,
        "disk_peak_mb": peaks.disk >> 20,
    }


def _jvm() -> int:
    """Process id of the driver's JVM: the child of this process that Spark started."""
    return next(child.pid for child in psutil.Process().children() if child.name() == "java")


def in_process(target: str, changes: int, parent: Path, options: Sequence[str] = ()) -> dict[str, Any]:
    """Measure one run in a process of its own, whose files are removed.

    :param options: further options of this program.
    """
    work = Path(tempfile.mkdtemp(prefix="scale-", dir=parent))
    (work / "tmp").mkdir()
    directories = {"SPARK_LOCAL_DIRS": str(work / "spill"), "TMPDIR": str(work / "tmp")}
    command = [
        sys.executable,
        "-m",
        "benchmarks.scale",
        str(changes),
        "--target",
        target,
        "--work",
        str(work),
        *options,
    ]
    try:
        done = subprocess.run(
            command, env={**os.environ, **directories}, stdout=subprocess.PIPE, text=True, check=True
        )
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return figures
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("changes", nargs="+", type=int, help="row changes of each run")
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=["folder", "kafka"])
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir()), help="folder with enough free disk space"
    )
    parser.add_argument("--scenario", choices=_SHAPES, default="sysbench")
    parser.add_argument("--rows", type=int, help="rows per table that are inserted first")
    parser.add_argument("--one-table", action="store_true")
    parser.add_argument("--target", choices=TARGETS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.target:
        (changes,) = options.changes
        settings = overrides(changes, options.rows, scenario=options.scenario, one_table=options.one_table)
        print(json.dumps(measure(options.scenario, options.target, changes, options.work, settings)))
        return
    further = ["--scenario", options.scenario]
    if options.rows is not None:
        further += ["--rows", str(options.rows)]
    if options.one_table:
        further.append("--one-table")
    report = [
        in_process(target, changes, options.work, further)
        for target in options.targets
        for changes in options.changes
    ]
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
