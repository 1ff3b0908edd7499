"""A whole run into Kafka compared with a loop of ``produce()``, on the same cores and the same broker.

``run sysbench --only messages`` draws, orders, encodes and sends the changes. The loop sends exactly the
messages of that run, read from Parquet, with the same settings. Both write to the embedded broker: four
partitions, dispatched by ``index-value``, acks=all, idempotent. They alternate, and the result is the ratio
of the medians. The CPU time per change is that of all processes but the broker.

    python benchmarks/end_to_end.py --transactions 1000000 --json
    python benchmarks/end_to_end.py --protocols craft simple debezium
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import psutil
import pyarrow.parquet as pq
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from ticdc_producer.config import Changefeed
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.prepare import prepare
from ticdc_producer.runs.run import run
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.kafka.topics import Topics

PROTOCOLS = ("open-protocol", "canal-json")
WANTED = 0.6
_ROUNDS = 3
ROWS_PER_TRANSACTION = 4  # changes of a transaction of sysbench: two updates, a delete, an insert


class Sent:
    """The messages of one protocol, sent by a run and by a loop."""

    def __init__(self, protocol: str, transactions: int, bootstrap: str, work: Path) -> None:
        self._overrides = [f"steps[1].generate.transactions={transactions}"]
        self._uri = f"kafka://{bootstrap}/{{}}?protocol={protocol}&partition-num=4"
        self._messages = work / protocol / "messages.parquet"
        self._bootstrap = bootstrap
        self.rows = transactions * ROWS_PER_TRANSACTION
        run(
            "sysbench",
            out=work / protocol,
            overrides=self._overrides,
            sink_uri=self._uri.format("x"),
            messages_only=True,
        )

    def by_run(self, topic: str) -> None:
        run("sysbench", overrides=self._overrides, sink_uri=self._uri.format(topic), messages_only=True)

    def by_loop(self, topic: str) -> None:
        changefeed = self._changefeed(topic)
        Topics(self._bootstrap).prepare(changefeed, [topic], append=False)
        producer = Producer(changefeed.producer_properties(self._bootstrap))
        for batch in pq.ParquetDataset(self._messages).read(["partition", "key", "value"]).to_batches():
            for partition, key, value in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                while True:
                    try:
                        producer.produce(topic, value, key, partition)
                        break
                    except BufferError:
                        producer.poll(1)
                producer.poll(0)
        producer.flush()

    def delete(self, topic: str) -> None:
        """Delete a topic that was measured: four million messages of Debezium are eight gigabytes."""
        AdminClient({"bootstrap.servers": self._bootstrap}).delete_topics([topic])[topic].result()

    def _changefeed(self, topic: str) -> Changefeed:
        return prepare("sysbench", overrides=self._overrides, sink_uri=self._uri.format(topic)).changefeed


def seconds(work: Callable[[str], None], topic: str, broker: int) -> tuple[float, float]:
    """Time from the call to the last acknowledgement, and CPU time; the session has been started before.

    :param broker: process id of the broker.
    """
    start, before = perf_counter(), _cpu_seconds(broker)
    work(topic)
    return perf_counter() - start, _cpu_seconds(broker) - before


def _cpu_seconds(broker: int) -> float:
    """CPU time of this process and those that it started, without the broker."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            if process.pid != broker:
                times = process.cpu_times()
                total += times.user + times.system
    return total


def measured(protocol: str, transactions: int, broker: EmbeddedKafka, work: Path) -> dict[str, Any]:
    """Measure run and loop in alternation, after one warm-up of each."""
    sent = Sent(protocol, transactions, broker.bootstrap, work)
    ways = {"run": sent.by_run, "loop": sent.by_loop}
    times: dict[str, list[float]] = {"run": [], "loop": []}
    cpu: dict[str, list[float]] = {"run": [], "loop": []}
    for number in range(_ROUNDS + 1):
        for name, way in ways.items():
            topic = f"{protocol}-{name}-{number}"
            spent, used = seconds(way, topic, broker.pid)
            sent.delete(topic)
            if number:
                times[name].append(round(spent, 2))
                cpu[name].append(used / sent.rows * 1e6)
    middle = {name: median(spent) for name, spent in times.items()}
    return {
        "rows": sent.rows,
        "seconds": times,
        "rows_per_second": {name: round(sent.rows / spent) for name, spent in middle.items()},
        "cpu_us_per_row": {name: round(median(used), 2) for name, used in cpu.items()},
        "ratio": round(middle["loop"] / middle["run"], 3),
        "cpu_ratio": round(median(cpu["loop"]) / median(cpu["run"]), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--transactions", type=int, default=1_000_000, help="transactions of sysbench, four changes each"
    )
    parser.add_argument("--protocols", nargs="+", default=PROTOCOLS)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    spark_session(rows=arguments.transactions * ROWS_PER_TRANSACTION)
    report: dict[str, Any] = {"wanted": WANTED, "load": os.getloadavg()[0], "protocols": {}}
    with EmbeddedKafka() as broker, tempfile.TemporaryDirectory() as work:
        for protocol in arguments.protocols:
            report["protocols"][protocol] = measured(protocol, arguments.transactions, broker, Path(work))
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    for protocol, one in report["protocols"].items():
        speed = one["rows_per_second"]
        used = one["cpu_us_per_row"]
        rates = f"run {speed['run']:,} rows/s, produce() {speed['loop']:,} rows/s"
        cpu = f"{used['run']} and {used['loop']} µs of CPU a row"
        print(f"{protocol:<14} {rates}, ratio {one['ratio']:.2f} (wanted {WANTED}), {cpu}")


if __name__ == "__main__":
    main()
