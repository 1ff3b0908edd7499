"""The cost of ``diff``: the CPU time of the comparison of two streams, divided by that of decoding both.

The streams are a history of sysbench in two protocols, in memory.

    python -m benchmarks.history_diff --transactions 5000 --json
"""

from __future__ import annotations

import argparse
import json
import os
from collections import deque
from statistics import median
from time import process_time
from typing import Any

from tests.verifier.history.sides import ENGINE, job_of, side_of
from ticdc_producer.verifier.history.history_diff import diff_histories
from ticdc_producer.verifier.history.history_side import HistorySide

PAIRS = (
    ("open-protocol", "open-protocol"),
    ("canal-json", "canal-json"),
    ("open-protocol", "canal-json"),
    ("debezium", "simple"),
    ("avro", "maxwell"),
)
WANTED = 2.0
ROWS_PER_TRANSACTION = 4


def cpu_of_decoding(sides: tuple[HistorySide, HistorySide]) -> float:
    start = process_time()
    for side in sides:
        deque(side.events.batches(), 0)
    return process_time() - start


def cpu_of_diff(sides: tuple[HistorySide, HistorySide]) -> float:
    start = process_time()
    if not diff_histories(ENGINE, sides).equal:
        raise AssertionError("the histories differ")
    return process_time() - start


def measured(protocols: tuple[str, str], transactions: int, rounds: int) -> dict[str, Any]:
    """Measure decoding and comparison in alternation, after one warm-up of each."""
    overrides = [f"steps[1].generate.transactions={transactions}"]
    first, second = (
        side_of(job_of("sysbench", name, partitions=partitions, overrides=overrides))
        for name, partitions in zip(protocols, (3, 4), strict=True)
    )
    cpu: dict[str, list[float]] = {"decode": [], "diff": []}
    for number in range(rounds + 1):
        used = {"decode": cpu_of_decoding((first, second)), "diff": cpu_of_diff((first, second))}
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
    for pair in PAIRS:
        report["pairs"][" | ".join(pair)] = measured(pair, arguments.transactions, arguments.rounds)
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    for name, one in report["pairs"].items():
        print(f"{name:<30} {one['events']:,} events, ratio {one['ratio']:.2f} (wanted {WANTED})")


if __name__ == "__main__":
    main()
