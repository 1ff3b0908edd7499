"""The parts of ``python -m benchmarks``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks import encoders, end_to_end, following, latency, scale, service_start
from benchmarks.figures import Figure
from ticdc_producer.bench.speed import measure_decoders
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.spark.session import spark_session

_STARTS = 3


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of the measurements.

    :param transactions: transactions of sysbench, end to end; four changes each.
    :param changes: row changes of the runs whose cost per change is compared; the first run is the base.
    :param work: a folder with enough free disk space.
    """

    transactions: int
    changes: tuple[int, ...]
    work: Path


def encoder_figures(_sizes: Sizes) -> Iterator[Figure]:
    """Time of our encoders relative to TiCDC's, or to ``json.dumps``."""
    for rows in sorted({name for name, _ in encoders.TICDC}):
        for name, speed in encoders.ratios(rows).items():
            part, ratio = ("encoder", "ratio") if "ratio" in speed else ("encoder-beside-json", "beside_json")
            detail = f"{speed['us_per_row']:.2f} µs a row"
            yield Figure(f"{part}/{rows}/{name}", speed[ratio], detail=detail)


def decoder_figures(_sizes: Sizes) -> Iterator[Figure]:
    """Time of our decoders relative to a minimal consumer with ``json.loads``.

    A message of Maxwell is a third of one of Canal-JSON, and its decoder makes the same columns, so its time
    is compared with that decoder.
    """
    for rows in sorted({name for name, _ in encoders.TICDC}):
        decoders = measure_decoders(encoders.ROWS / f"{rows}.events.jsonl").decoders
        for name, speed in decoders.items():
            part, other = "decoder", speed.plain
            if name == "maxwell":
                part, other = "decoder-beside-canal-json", decoders["canal-json"].us_per_row
            if other is not None:
                detail = f"{speed.us_per_row:.1f} µs a row next to {other:.1f}"
                yield Figure(f"{part}/{rows}/{name}", speed.us_per_row / other, detail=detail)


def start_up_figures(sizes: Sizes) -> Iterator[Figure]:
    """Time of a small scenario, from the shell command to its verified folder, with warm caches."""
    command = [sys.executable, "-m", "ticdc_producer", "run", "seed_t1", "--out"]
    times = []
    for _ in range(_STARTS):
        with tempfile.TemporaryDirectory(dir=sizes.work) as work:
            start = perf_counter()
            subprocess.run([*command, str(Path(work) / "out")], check=True, capture_output=True)
            times.append(perf_counter() - start)
    yield Figure("start-up/seed_t1", min(times), "s", f"best of {_STARTS}")


def service_start_figures(_sizes: Sizes) -> Iterator[Figure]:
    """Time of the service from the shell until it is ready, with filled caches."""
    yield from service_start.figures()


def latency_figures(sizes: Sizes) -> Iterator[Figure]:
    """Time of small scenarios relative to the smallest Spark job."""
    yield from latency.measured(sizes.work)


def following_figures(_sizes: Sizes) -> Iterator[Figure]:
    """CPU time of ``verify`` relative to that of ``verify --follow`` of the same topic, in one process."""
    report = following.measured("local", following.TRANSACTIONS)
    yield Figure("following/local", report["ratio"], detail=f"{report['changes']:,} changes")


def end_to_end_figures(sizes: Sizes) -> Iterator[Figure]:
    """Rows per second of runs into Kafka, relative to a loop of ``produce()`` with the same messages."""
    spark = spark_session(rows=sizes.transactions * end_to_end.ROWS_PER_TRANSACTION)
    with EmbeddedKafka() as broker, tempfile.TemporaryDirectory(dir=sizes.work) as work:
        for protocol in end_to_end.PROTOCOLS:
            run = end_to_end.measured(protocol, sizes.transactions, broker, Path(work))
            speed = run["rows_per_second"]
            detail = f"{speed['run']:,} of {speed['loop']:,} rows a second, {run['rows']:,} rows"
            yield Figure(f"end-to-end/{protocol}", run["ratio"], detail=detail)
    spark.stop()


def scale_figures(sizes: Sizes) -> Iterator[Figure]:
    """Time per change and memory of large runs, relative to the smallest run."""
    for target in scale.TARGETS:
        base: dict[str, float] = {}
        for changes in sizes.changes:
            run = scale.in_process(target, changes, sizes.work)
            name = f"{target}/{changes}"
            memory = run["driver_peak_mb"] + run["workers_peak_mb"]
            detail = f"{run['us_per_change']:.1f} µs a change, {memory:,} MB, disk {run['disk_peak_mb']:,} MB"
            if base:
                yield Figure(f"scale/cost/{name}", run["us_per_change"] / base["cost"], detail=detail)
                yield Figure(f"scale/memory/{name}", memory / base["memory"], detail=detail)
            else:
                base = {"cost": run["us_per_change"], "memory": memory}
                yield Figure(f"scale/base/{name}", run["us_per_change"], "µs a change", detail)


PARTS = {
    "encoders": encoder_figures,
    "decoders": decoder_figures,
    "start-up": start_up_figures,
    "service-start": service_start_figures,
    "latency": latency_figures,
    "following": following_figures,
    "end-to-end": end_to_end_figures,
    "scale": scale_figures,
}
