"""The cost of ``diff``, ``record`` and ``transcode``: CPU time, divided by that of decoding the messages.

The history is that of sysbench. ``diff`` compares it in two protocols, in folders, and decodes both.
``record`` and ``transcode`` read a topic of an embedded broker in the first protocol; ``transcode`` writes
another topic in the second one. The topic is consumed and decoded before and after each, in one process, and
their CPU time is divided by the mean of both: the speed of a machine changes within minutes. The peak of
memory is that of all steps.

    python -m benchmarks.history_diff --transactions 5000 --json
    python -m benchmarks.history_diff --recordings --transactions 36000
"""

# ruff: noqa: E402 - Arrow is imported after its allocator was chosen
from __future__ import annotations

import argparse
import json
import os
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from ticdc_producer.installation import allocate_by_jemalloc

allocate_by_jemalloc()  # as the commands do

from ticdc_producer import record, transcode
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.rows.origin import golden_folder, messages_of_topics
from ticdc_producer.runs.diff import diff
from ticdc_producer.runs.run import run
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics

PAIRS = (
    ("open-protocol", "open-protocol"),
    ("canal-json", "canal-json"),
    ("open-protocol", "canal-json"),
    ("debezium", "simple"),
    ("avro", "maxwell"),
)
OPTIONS = {"avro": "&enable-tidb-extension=true"}
WANTED = 2.0
WANTED_OF_RECORDINGS = {"record": 1.5, "transcode": 2.5}
RECORDED = (("open-protocol", "simple"), ("canal-json&enable-tidb-extension=true", "open-protocol"))
ROWS_PER_TRANSACTION = 4  # changes of a transaction of sysbench: two updates, a delete, an insert


def written(folder: Path, protocol: str, partitions: int, transactions: int) -> Path:
    """Write the messages of sysbench, and return their folder."""
    uri = f"kafka:///t?protocol={protocol}&partition-num={partitions}{OPTIONS.get(protocol, '')}"
    overrides = [f"steps[1].generate.transactions={transactions}"]
    path = folder / f"{protocol.partition('&')[0]}-{partitions}"
    if not path.exists():
        run("sysbench", overrides=overrides, sink_uri=uri, out=path, messages_only=True)
    return path


def decode(*folders: Path) -> None:
    for folder in folders:
        deque(golden_folder(folder).events.batches(), 0)


def compare(*folders: Path) -> None:
    if not diff(*folders, engine="local").equal:
        raise AssertionError("the histories differ")


def cpu_of(step: Callable[[], object]) -> float:
    start = process_time()
    step()
    return round(process_time() - start, 3)


def measured_recording(
    brokers: str, protocols: tuple[str, str], transactions: int, rounds: int
) -> dict[str, Any]:
    """Measure recording and transcoding a topic, each between two measurements of decoding it."""
    source, target = protocols
    topic = source.partition("&")[0]
    uri = f"kafka://{brokers}/{topic}?protocol={source}&partition-num=3"
    overrides = [f"steps[1].generate.transactions={transactions}"]
    run("sysbench", overrides=overrides, sink_uri=uri, verify_output=False)
    decode = partial(decode_topic, uri)
    cpu: dict[str, list[float]] = {"decode": [cpu_of(decode)], "record": [], "transcode": []}
    for number in range(rounds):
        into = f"kafka://{brokers}/{topic}-{number}?protocol={target}&partition-num=4"
        with TemporaryDirectory() as folder:
            steps: dict[str, Callable[[], object]] = {
                "record": partial(record, sink_uri=uri, out=Path(folder) / "recording"),
                "transcode": partial(
                    transcode, sink_uri=uri, to_sink_uri=into, verify_output=False, engine="local"
                ),
            }
            for name, step in steps.items():
                cpu[name].append(cpu_of(step))
                cpu["decode"].append(cpu_of(decode))
    bases = [(before + after) / 2 for before, after in pairwise(cpu["decode"])]
    return {
        "events": transactions * ROWS_PER_TRANSACTION,
        "cpu_seconds": cpu,
        "ratios": {
            name: [round(own / base, 2) for own, base in zip(cpu[name], bases[index::2], strict=True)]
            for index, name in enumerate(WANTED_OF_RECORDINGS)
        },
        "peak_memory_mb": getrusage(RUSAGE_SELF).ru_maxrss >> 10,
    }


def decode_topic(uri: str) -> None:
    changefeed = changefeed_of(uri, None)
    brokers = brokers_of(changefeed)
    ranges = whole_topics(brokers, [changefeed.sink_uri.topic])
    deque(messages_of_topics(changefeed, brokers, ranges).events.batches(), 0)


def measured(folder: Path, protocols: tuple[str, str], transactions: int, rounds: int) -> dict[str, Any]:
    """Measure decoding and comparison in alternation, after one warm-up of each."""
    first, second = (
        written(folder, protocol, partitions, transactions)
        for protocol, partitions in zip(protocols, (3, 4), strict=True)
    )
    cpu: dict[str, list[float]] = {"decode": [], "diff": []}
    for number in range(rounds + 1):
        used = {
            "decode": cpu_of(lambda: decode(first, second)),
            "diff": cpu_of(lambda: compare(first, second)),
        }
        if number:
            for name, seconds in used.items():
                cpu[name].append(seconds)
    ratio = median(cpu["diff"]) / median(cpu["decode"])
    return {"events": transactions * ROWS_PER_TRANSACTION, "cpu_seconds": cpu, "ratio": round(ratio, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--transactions", type=int, default=5000, help="transactions of sysbench, four changes each"
    )
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each")
    parser.add_argument("--recordings", action="store_true", help="record and transcode, not diff")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.recordings:
        with EmbeddedKafka() as kafka:
            of_pairs = {
                " | ".join(pair): measured_recording(
                    str(kafka.bootstrap), pair, arguments.transactions, arguments.rounds
                )
                for pair in RECORDED
            }
        print(json.dumps({"wanted": WANTED_OF_RECORDINGS, "pairs": of_pairs}, indent=2))
        return
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
