"""A whole run into Kafka compared with a loop of ``produce()``, on the same cores and the same broker.

``run sysbench --only messages`` draws, orders, encodes and sends the changes. The loop sends exactly the
messages of that run, read from Parquet, with the same settings. Both write to the embedded broker: four
partitions, dispatched by ``index-value``, acks=all, idempotent. They alternate, and the result is the ratio
of the medians. The CPU time per change is that of all processes but the broker; the report has that of the
encoder, as ``bench encode`` measures it in this process on rows of such a table. ``--first`` compares the
first run of a process with the loop instead, with the loop's first run and with the median of three.

    python -m benchmarks.end_to_end --transactions 1000000 --json
    python -m benchmarks.end_to_end --protocols craft simple debezium
    python -m benchmarks.end_to_end --transactions 250000 --first
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pyarrow.parquet as pq
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from benchmarks.cpu_time import cpu_seconds
from benchmarks.encoders import ROWS
from ticdc_producer.bench.speed import measure_encoders
from ticdc_producer.config import Changefeed
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.run import run
from ticdc_producer.simulate.prepare import prepare
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
        self._bootstrap = bootstrap
        self.rows = transactions * ROWS_PER_TRANSACTION
        self._work = work / protocol

    def write_messages(self) -> None:
        """Write the messages that the loop sends to Parquet."""
        uri = self._uri.format("x")
        run("sysbench", out=self._work, overrides=self._overrides, sink_uri=uri, messages_only=True)

    def by_run(self, topic: str) -> None:
        run("sysbench", overrides=self._overrides, sink_uri=self._uri.format(topic), messages_only=True)

    def by_loop(self, topic: str) -> None:
        changefeed = self._changefeed(topic)
        Topics(self._bootstrap).prepare(changefeed, [topic], append=False)
        producer = Producer(changefeed.producer_properties(self._bootstrap))
        for batch in (
            pq.ParquetDataset(self._work / "messages.parquet")
            .read(["partition", "key", "value"])
            .to_batches()
        ):
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
        admin = AdminClient(
            {"bootstrap.servers": self._bootstrap}
        )  # a client that is collected cancels its calls
        admin.delete_topics([topic])[topic].result()

    def _changefeed(self, topic: str) -> Changefeed:
        return prepare("sysbench", overrides=self._overrides, sink_uri=self._uri.format(topic)).changefeed


def seconds(work: Callable[[str], None], topic: str, broker: int) -> tuple[float, float]:
    """Time from the call to the last acknowledgement, and CPU time; the session has been started before.

    :param broker: process id of the broker.
    """
    start, before = perf_counter(), cpu_seconds(without=broker)
    work(topic)
    return perf_counter() - start, cpu_seconds(without=broker) - before


def measured(protocol: str, transactions: int, broker: EmbeddedKafka, work: Path) -> dict[str, Any]:
    """Measure run and loop in alternation, after one warm-up of each."""
    sent = Sent(protocol, transactions, broker.bootstrap, work)
    sent.write_messages()
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
        "encoder_cpu_us_per_row": round(_encoder(protocol), 2),
    }


def _encoder(protocol: str) -> float:
    return measure_encoders(ROWS / "sysbench.events.jsonl").encoders[protocol].us_per_row


def first(protocol: str, transactions: int, broker: EmbeddedKafka, work: Path) -> dict[str, Any]:
    """Measure the first run of this process, whose session has been started, and then the loop."""
    sent = Sent(protocol, transactions, broker.bootstrap, work)
    spent, _ = seconds(sent.by_run, f"{protocol}-first", broker.pid)
    sent.write_messages()
    loops = [seconds(sent.by_loop, f"{protocol}-loop-{number}", broker.pid)[0] for number in range(_ROUNDS)]
    times = {"run": round(spent, 2), "loop": [round(loop, 2) for loop in loops]}
    ratios = {"ratio": median(loops) / spent, "ratio_to_first_loop": loops[0] / spent}
    return {"rows": sent.rows, "seconds": times, **{name: round(ratio, 3) for name, ratio in ratios.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--transactions", type=int, default=1_000_000, help="transactions of sysbench, four changes each"
    )
    parser.add_argument("--protocols", nargs="+", default=PROTOCOLS)
    parser.add_argument("--first", action="store_true", help="the first run of this process, one protocol")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    spark_session(rows=arguments.transactions * ROWS_PER_TRANSACTION)
    report: dict[str, Any] = {"wanted": WANTED, "load": os.getloadavg()[0], "protocols": {}}
    with EmbeddedKafka() as broker, tempfile.TemporaryDirectory() as work:
        if arguments.first:
            protocol = arguments.protocols[0]
            print(json.dumps({protocol: first(protocol, arguments.transactions, broker, Path(work))}))
            return
        for protocol in arguments.protocols:
            report["protocols"][protocol] = measured(protocol, arguments.transactions, broker, Path(work))
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    for protocol, figures in report["protocols"].items():
        speed = figures["rows_per_second"]
        used = figures["cpu_us_per_row"]
        rates = f"run {speed['run']:,} rows/s, produce() {speed['loop']:,} rows/s"
        encoder = figures["encoder_cpu_us_per_row"]
        cpu = f"{used['run']} and {used['loop']} µs of CPU a row, the encoder {encoder}"
        print(f"{protocol:<14} {rates}, ratio {figures['ratio']:.2f} (wanted {WANTED}), {cpu}")


if __name__ == "__main__":
    main()
