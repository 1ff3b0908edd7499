"""Writes a large topic with every legal fault and thirty illegal ones to Kafka and verifies it.

All thirty must be found, and no other errors. The verification is compared with reading and decoding the same
topic into nothing, in the same session.

    python -m benchmarks.faulty_topic 1000000
    python -m benchmarks.faulty_topic 20000000 --work /mnt/large
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.scale import overrides, watched
from ticdc_producer import api
from ticdc_producer.engine.spark import on_spark
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.run_report import reporting_invariants
from ticdc_producer.runs.verification import VerifiedStream
from ticdc_producer.spark.session import spark_session
from ticdc_producer.verifier.verdict import Verdict

LEGAL = (
    "duplicate-message", "duplicate-event", "duplicate-ddl", "batch-boundaries", "regrouped-batches",
    "replay-suffix", "replay-partial", "replay-one-table", "resolved-fallback", "resolved-lag",
    "ddl-at-resolved-ts",
)  # fmt: skip
ILLEGAL = {
    "lost-row": 5, "wrong-partition": 4, "early-resolved": 2, "missing-resolved": 3, "missing-ddl": 1,
    "changed-duplicate": 2, "stale-before-image": 2, "schema-drift": 2,
    "lost-message": 3, "corrupt-bytes": 2, "truncated": 2, "poison": 2,
}  # fmt: skip
"""Fault → number of occurrences, thirty in all. Faults that reorder, unsplit or uncollapse events are left
out: sysbench has too many rows for one of them to change twice in a short segment, no unique key besides the
clustered one, and inserts only rows that it deletes in the same transaction."""


def inject(rate: float) -> list[str]:
    """The ``--inject`` settings of all faults."""
    return [
        *(f"{name}:rate={rate}" for name in LEGAL),
        *(f"{name}:times={times}" for name, times in ILLEGAL.items()),
    ]


def measured(changes: int, rate: float, work: Path) -> dict[str, Any]:
    """Write and verify the topic; return times and findings."""
    spark_session(rows=changes)
    jvm = next(child.pid for child in psutil.Process().children() if child.name() == "java")
    settings, traps = overrides(changes), inject(rate)
    decoding: list[float] = []

    def decode_into_nothing(verified: VerifiedStream) -> None:
        start = time.perf_counter()
        on_spark(verified.events).frame.write.format("noop").mode("overwrite").save()
        decoding.append(time.perf_counter() - start)

    with EmbeddedKafka() as broker, watched(jvm, work) as peaks:
        uri = f"kafka://{broker.bootstrap}/faulty?protocol=open-protocol&partition-num=4"
        start = time.perf_counter()
        report = api.run("sysbench", sink_uri=uri, overrides=settings, inject=traps, messages_only=True)
        written = time.perf_counter()
        verdict = api.verify(
            sink_uri=uri,
            scenario="sysbench",
            overrides=settings,
            inject=traps,
            from_beginning=True,
            examples=100,
            on_verdict=decode_into_nothing,
        )
        verified = time.perf_counter()
    seconds_to_verify = verified - written - decoding[0]
    return {
        "changes": changes,
        "messages": report.counts.total,
        "seconds_to_write": round(written - start, 1),
        "seconds_to_verify": round(seconds_to_verify, 1),
        "seconds_to_decode": round(decoding[0], 1),
        "ratio": round(seconds_to_verify / decoding[0], 2),
        "driver_peak_mb": peaks.driver >> 20,
        "workers_peak_mb": peaks.workers >> 20,
        **_violations(verdict),
    }


def _violations(verdict: Verdict) -> dict[str, Any]:
    allowed = {invariant for name in ILLEGAL for invariant in (*trap(name).violates, *trap(name).may_report)}
    errors = {finding.id: finding.count for finding in verdict.of_severity("error")}
    return {
        "illegal": {name: [times, *reporting_invariants(name, verdict)] for name, times in ILLEGAL.items()},
        "errors": errors,
        "errors_without_fault": sorted(set(errors) - allowed),
        "missing_events": verdict.comparison.missing if verdict.comparison else None,
        "unexpected_events": verdict.comparison.unexpected if verdict.comparison else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("changes", type=int, help="row changes of the topic")
    parser.add_argument("--rate", type=float, default=0.001, help="rate of each legal fault")
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir()), help="folder with enough free disk space"
    )
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="faulty-", dir=options.work))
    os.environ["SPARK_LOCAL_DIRS"] = str(work)
    json.dump(measured(options.changes, options.rate, work), sys.stdout, indent=2)


if __name__ == "__main__":
    main()
