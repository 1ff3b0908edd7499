"""The cost of ``verify --follow``: CPU time of ``verify`` of the same topic, divided by that of following it.

The topic has a history of sysbench, and both ways read it from the embedded broker on the same engine. They
alternate, and the ratio is that of the medians; the CPU time is that of all processes but the broker.

    python -m benchmarks.following --transactions 10000
    python -m benchmarks.following --engine spark --transactions 250000
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.cpu_time import cpu_seconds
from ticdc_producer import follow, run, verify
from ticdc_producer.engine.dataset import EngineName
from ticdc_producer.kafka.embedded import EmbeddedKafka

WANTED = 0.7
TRANSACTIONS = 10_000
_ROUNDS = 3
_IDLE_SECONDS = 2
_ROWS_PER_TRANSACTION = 4  # changes of a transaction of sysbench: two updates, a delete, an insert


def measured(engine: EngineName, transactions: int, protocol: str = "open-protocol") -> dict[str, Any]:
    """Measure both ways in alternation, after one warm-up of each."""
    cpu: dict[str, list[float]] = {"verify": [], "follow": []}
    with EmbeddedKafka() as broker:
        uri = f"kafka://{broker.bootstrap}/topic?protocol={protocol}&partition-num=4"
        overrides = [f"steps[1].generate.transactions={transactions}"]
        run("sysbench", overrides=overrides, sink_uri=uri, messages_only=True, engine=engine)
        ways: dict[str, Callable[[], object]] = {
            "verify": lambda: verify(sink_uri=uri, engine=engine),
            "follow": lambda: follow(sink_uri=uri, engine=engine, idle=_IDLE_SECONDS),
        }
        for number in range(_ROUNDS + 1):
            for name, way in ways.items():
                before = cpu_seconds(without=broker.pid)
                way()
                if number:
                    cpu[name].append(round(cpu_seconds(without=broker.pid) - before, 2))
    ratio = median(cpu["verify"]) / median(cpu["follow"])
    return {"changes": transactions * _ROWS_PER_TRANSACTION, "cpu_seconds": cpu, "ratio": round(ratio, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--transactions", type=int, default=TRANSACTIONS, help="four changes each")
    parser.add_argument("--engine", choices=["local", "spark"], default="local")
    arguments = parser.parse_args()
    report = measured(arguments.engine, arguments.transactions)
    print(json.dumps({"wanted": WANTED, "load": os.getloadavg()[0], **report}, indent=2))


if __name__ == "__main__":
    main()
