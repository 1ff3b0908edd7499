"""The cost of the comparison of messages in ``verify --scenario``.

A topic is written with another build time than the expected messages have, as that of a real TiCDC. It is
verified with and without the comparison of the messages, in alternation; without it the decoded events alone
are compared. The result is the ratio of the CPU times (user and system) of all processes but the broker.

    python -m benchmarks.message_comparison --protocols canal-json debezium --json
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import fields
from statistics import median
from typing import Any

from benchmarks.cpu_time import cpu_seconds
from ticdc_producer.engine.dataset import Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.oracle.scenario import oracle_of_scenario
from ticdc_producer.protocols.wire_digests import WireDigests
from ticdc_producer.runs.run import run
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.runs.targets.run_topics import topic_messages
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.simulate.job import Digests, Job
from ticdc_producer.simulate.prepare import prepare

PROTOCOLS = ("open-protocol", "canal-json", "debezium", "simple", "simple&encoding-format=avro")
"""A protocol may have further options."""
ROWS_PER_TRANSACTION = 4  # changes of a transaction of sysbench: two updates, a delete, an insert
WALL_CLOCK = "clock.build-time=2020-01-01T00:00:00Z"
WANTED = 1.15


class EventsAlone(Job):
    """A job whose messages are not compared."""

    def wire_digests(self, _digests: Digests) -> WireDigests | None:
        return None


def events_alone(job: Job) -> Job:
    return EventsAlone(**{field.name: getattr(job, field.name) for field in fields(job)})


def cpu_of_verification(engine: Engine, job: Job, broker: int) -> float:
    """Verify the topic of a job, and return the CPU time.

    :param broker: process id of the broker.
    """
    before, changefeed = cpu_seconds(without=broker), job.changefeed
    topics = job.stream.topic_partitions.topics
    messages = topic_messages(engine, brokers_of(changefeed), whole_topics(brokers_of(changefeed), topics))
    with oracle_of_scenario(job, engine) as oracle:
        verdict = verify_messages(engine, changefeed, messages, oracle, topics=topics).verdict
    if not verdict.ok:
        raise AssertionError(verdict)
    return cpu_seconds(without=broker) - before


def measured(protocol: str, transactions: int, rounds: int, broker: EmbeddedKafka) -> dict[str, Any]:
    """Measure verification with and without the comparison in alternation, after one warm-up of each."""
    options = f"protocol={protocol}&enable-tidb-extension=true&partition-num=4"
    topic = protocol.partition("=")[2] or protocol
    uri = f"kafka://{broker.bootstrap}/{topic}?{options}"
    overrides = [f"steps[1].generate.transactions={transactions}"]
    run("sysbench", overrides=[*overrides, WALL_CLOCK], sink_uri=uri, messages_only=True)
    job = prepare("sysbench", overrides=overrides, sink_uri=uri)
    jobs = {"messages": job, "events": events_alone(job)}
    cpu: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(rounds + 1):
        for name, of in jobs.items():
            used = cpu_of_verification(LocalEngine(), of, broker.pid)
            if number:
                cpu[name].append(round(used, 2))
    ratio = median(cpu["messages"]) / median(cpu["events"])
    return {"events": transactions * ROWS_PER_TRANSACTION, "cpu_seconds": cpu, "ratio": round(ratio, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--transactions", type=int, default=37_500, help="transactions of sysbench, four changes each"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--protocols", nargs="+", default=PROTOCOLS)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    report: dict[str, Any] = {"wanted": WANTED, "load": os.getloadavg()[0], "protocols": {}}
    with EmbeddedKafka() as broker:
        for protocol in arguments.protocols:
            report["protocols"][protocol] = measured(
                protocol, arguments.transactions, arguments.rounds, broker
            )
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    for protocol, figures in report["protocols"].items():
        print(f"{protocol:<14} {figures['events']:,} events, ratio {figures['ratio']:.2f} (wanted {WANTED})")


if __name__ == "__main__":
    main()
