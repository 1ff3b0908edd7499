"""A large dump into a folder: writes a file like mysqldump's, runs it with Spark, and prints time and memory.

The file is always the same for a size: two tables of 95 % and 5 % of the bytes, and one of three rows, in
INSERTs of about 1 MB each. The peaks are those of the resident memory of each process, which Linux counts.
A run whose messages do not have one event per row of the file is an error.

    python benchmarks/large_dump.py --mib 256 1024
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

_HEAD = """\
-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
"""
_FOOT = """\
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;
-- Dump completed
"""
_TABLE = """\
DROP TABLE IF EXISTS `{name}`;
CREATE TABLE `{name}` (
  `id` bigint NOT NULL,
  `customer` int unsigned NOT NULL,
  `amount` decimal(12,2) NOT NULL,
  `ordered_at` datetime(3) DEFAULT NULL,
  `state` enum('new','paid','sent') NOT NULL,
  `address` varchar(120) DEFAULT NULL,
  `remarks` text,
  PRIMARY KEY (`id`),
  KEY `by_customer` (`customer`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
LOCK TABLES `{name}` WRITE;
/*!40000 ALTER TABLE `{name}` DISABLE KEYS */;
"""
_END = """\
/*!40000 ALTER TABLE `{name}` ENABLE KEYS */;
UNLOCK TABLES;
"""
_INSERT_BYTES = 1_000_000
_SHARES = {"orders": 0.95, "returns": 0.05, "shops": 0.0}


def dump(size: int) -> Iterator[str]:
    """The parts of the file, which have together about ``size`` bytes."""
    yield _HEAD
    for name, share in _SHARES.items():
        yield _TABLE.format(name=name)
        yield from _inserts(name, int(size * share))
        yield _END.format(name=name)
    yield _FOOT


def _inserts(name: str, size: int) -> Iterator[str]:
    key, written = 0, 0
    while written < max(size, 1):
        rows, length = [], 0
        while length < min(_INSERT_BYTES, max(size - written, 300)):
            key += 1
            rows.append(_row(key))
            length += len(rows[-1]) + 1
        yield f"INSERT INTO `{name}` VALUES {','.join(rows)};\n"
        written += length


def _row(key: int) -> str:
    """A row of some 200 bytes."""
    number = key * 7_919 % 1_000_003
    ordered_at = (
        "NULL" if key % 50 == 0 else f"'2024-{key % 12 + 1:02d}-{key % 28 + 1:02d} 10:{key % 60:02d}:07.123'"
    )
    remarks = "it\\'s urgent;\\n" * (number % 5) + f"batch {number:x}, Größe {key % 40}"
    state = ("new", "paid", "sent")[key % 3]
    address = f"{number} Long Street, floor {key % 30}, 0{number % 9_000 + 1_000} Springfield"
    return f"({key},{number},{number / 100:.2f},{ordered_at},'{state}','{address}','{remarks}')"


def measure(mib: int, folder: Path) -> dict[str, Any]:
    """Run a dump into a folder."""
    file, out = folder / "dump.sql", folder / "out"
    rows = 0
    with file.open("w", encoding="utf-8") as written:
        for part in dump(mib << 20):
            written.write(part)
            rows += part.startswith("INSERT") and part.count("),(") + 1
    command = [
        sys.executable,
        "-m",
        "ticdc_producer",
        "run",
        str(file),
        "--only",
        "messages",
        "--out",
        str(out),
    ]
    start, load = time.perf_counter(), os.getloadavg()[0]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peaks, cpu = _watched(process)
        assert process.stdout is not None
        report = process.stdout.read()
    seconds = time.perf_counter() - start
    events = re.search(r"^row +[\d,]+ +([\d,]+)", report, re.MULTILINE)
    if process.returncode or events is None or int(events[1].replace(",", "")) != rows:
        raise SystemExit(f"exit code {process.returncode}, {rows:,} rows in the dump, but:\n{report}")
    return {
        "dump_mib": round(file.stat().st_size / 2**20),
        "rows": rows,
        "seconds": round(seconds, 1),
        "cpu_seconds": {kind: round(spent, 1) for kind, spent in cpu.items()},
        "us_cpu_per_row": round(sum(cpu.values()) / rows * 1e6, 1),
        "peak_mib": peaks,
        "output_mib": sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) >> 20,
        "load_before": round(load, 1),
        "report": report.strip().splitlines(),
    }


def _watched(process: subprocess.Popen[str]) -> tuple[dict[str, int], dict[str, float]]:
    """The largest resident memory and the CPU time of the driver, its JVM, and its Python workers.

    :return: MiB, of a single worker; and seconds, of all workers together.
    """
    peaks: dict[str, int] = defaultdict(int)
    cpu: dict[tuple[str, int], float] = {}
    while process.poll() is None:
        with suppress(psutil.Error):
            driver = psutil.Process(process.pid)
            for member in [driver, *driver.children(recursive=True)]:
                with suppress(psutil.Error, OSError):
                    java = member.name().startswith("java")
                    kind = "driver" if member.pid == driver.pid else "jvm" if java else "worker"
                    peaks[kind] = max(peaks[kind], _peak(member.pid))
                    cpu[kind, member.pid] = sum(member.cpu_times()[:2])
        time.sleep(0.5)
    seconds: dict[str, float] = defaultdict(float)
    for (kind, _), spent in cpu.items():
        seconds[kind] += spent
    return dict(peaks), dict(seconds)


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    peaks = (int(line.split()[1]) >> 10 for line in status.splitlines() if line.startswith("VmHWM"))
    return next(peaks, 0)  # a process that has ended has none


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mib", type=int, nargs="+", default=[1024], help="size of the dump")
    options = parser.parse_args()
    for mib in options.mib:
        with tempfile.TemporaryDirectory(dir=os.environ.get("SPARK_LOCAL_DIRS")) as folder:
            print(json.dumps(measure(mib, Path(folder)), indent=2), flush=True)


if __name__ == "__main__":
    main()
