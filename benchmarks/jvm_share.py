"""CPU time of Spark's JVM per row change before encoding, with row images and without.

The stream of ``sysbench`` is drawn, ordered and passed to workers that discard it. Without images no cell is
drawn, so that only the cost of counting, ordering and passing events remains.

    python -m benchmarks.jvm_share --transactions 400000
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import psutil
import pyarrow as pa

from benchmarks.end_to_end import ROWS_PER_TRANSACTION
from ticdc_producer.runs.change_log import change_log
from ticdc_producer.runs.prepare import prepare
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.encoding.arrow_batches import row_limited_batches
from ticdc_producer.targets.encoding.row_batches import NEEDED

IMAGES = ("before", "after")
_ROUNDS = 7


def measured(transactions: int) -> dict[str, float]:
    """Microseconds of CPU per change, the minimum of several rounds: the JVM compiles in the first."""
    changes = transactions * ROWS_PER_TRANSACTION
    spark = spark_session(rows=changes)
    jvm = next(child for child in psutil.Process().children() if child.name() == "java")
    job = prepare(
        "sysbench",
        overrides=[f"steps[1].generate.transactions={transactions}"],
        sink_uri="kafka://127.0.0.1:9092/t?protocol=canal-json&partition-num=4",
    )
    events = change_log(spark, job.history).events(job.stream)
    ways = {"images": NEEDED, "no images": [name for name in NEEDED if name not in IMAGES]}
    least = dict.fromkeys(ways, float("inf"))
    with row_limited_batches(spark, job.catalog):
        for _ in range(_ROUNDS):
            for way, columns in ways.items():
                before = _cpu_seconds(jvm)
                events.select(*columns).mapInArrow(_nothing, "nothing int").count()
                least[way] = min(least[way], (_cpu_seconds(jvm) - before) / changes * 1e6)
    return least


def _nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        pass
    yield from ()


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--transactions", type=int, default=400_000, help="transactions of sysbench, four changes each"
    )
    for way, spent in measured(parser.parse_args().transactions).items():
        print(f"{way:<10} {spent:.1f} µs of the JVM per change")


if __name__ == "__main__":
    main()
