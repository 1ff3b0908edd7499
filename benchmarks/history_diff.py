"""The cost of ``diff``: the CPU time of the comparison of two folders, divided by that of decoding both.

The folders have a history of sysbench in two protocols.

    python -m benchmarks.history_diff --transactions 5000 --json
"""

from __future__ import annotations

import argparse
import json
import os
from collections import deque
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from ticdc_producer.rows.origin import golden_folder
from ticdc_producer.runs.diff import diff
from ticdc_producer.runs.run import run

PAIRS = (
    ("open-protocol", "open-protocol"),
    ("canal-json", "canal-json"),
    ("open-protocol", "canal-json"),
    ("debezium", "simple"),
    ("avro", "maxwell"),
)
OPTIONS = {"avro": "&enable-tidb-extension=true"}
WANTED = 2.0
ROWS_PER_TRANSACTION = 4  # changes of a transaction of sysbench: two updates, a delete, an insert


def written(folder: Path, protocol: str, partitions: int, transactions: int) -> Path:
    """Write the messages of sysbench, and return their folder."""
    uri = f"kafka:///t?protocol={protocol}&partition-num={partitions}{OPTIONS.get(protocol, '')}"
    overrides = [f"steps[1].generate.transactions={transactions}"]
    path = folder / f"{protocol}-{partitions}"
    if not path.exists():
        run("sysbench", overrides=overrides, sink_uri=uri, out=path, messages_only=True)
    return path


def cpu_of_decoding(*folders: Path) -> float:
    start = process_time()
    for folder in folders:
        deque(golden_folder(folder).events.batches(), 0)
    return process_time() - start


def cpu_of_diff(*folders: Path) -> float:
    start = process_time()
    if not diff(*folders, engine="local").equal:
        raise AssertionError("the histories differ")
    return process_time() - start


def measured(folder: Path, protocols: tuple[str, str], transactions: int, rounds: int) -> dict[str, Any]:
    """Measure decoding and comparison in alternation, after one warm-up of each."""
    first, second = (
        written(folder, protocol, partitions, transactions)
        for protocol, partitions in zip(protocols, (3, 4), strict=True)
    )
    cpu: dict[str, list[float]] = {"decode": [], "diff": []}
    for number in range(rounds + 1):
        used = {"decode": cpu_of_decoding(first, second), "diff": cpu_of_diff(first, second)}
        if number:
            for name, seconds in used.items():
                cpu[name].append(round(seconds, 3))
    ratio = median(cpu["diff"]) / median(cpu["decode"])
    return {"events": transactions * ROWS_PER_TRANSACTION, "cpu_seconds": cpu, "ratio": round(ratio, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--transactions", type=int, default=5000, help="transactions of sysbench, four changes each"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    report: dict[str, Any] = {"wanted": WANTED, "load": os.getloadavg()[0], "pairs": {}}
    with TemporaryDirectory() as folder:
        for pair in PAIRS:
            of_pair = measured(Path(folder), pair, arguments.transactions, arguments.rounds)
            report["pairs"][" | ".join(pair)] = of_pair
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    for name, figures in report["pairs"].items():
        print(f"{name:<30} {figures['events']:,} events, ratio {figures['ratio']:.2f} (wanted {WANTED})")


if __name__ == "__main__":
    main()
