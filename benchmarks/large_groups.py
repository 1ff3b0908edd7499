"""How much memory groups take that may not be cut: a row with many changes, a transaction with many rows.

Each shape runs as a DataFrame of changes in a process of its own: every change of another row in its own
transaction, all changes of one row, all rows in one transaction. All are encoded, and nothing is written.

    python -m benchmarks.large_groups 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from pyspark.sql import functions as sf

from benchmarks.scale import watched
from ticdc_producer import api
from ticdc_producer.spark.session import spark_session

SHAPES = ("spread", "one-row", "one-transaction")
_TABLE = "CREATE TABLE test.t (id BIGINT PRIMARY KEY, v VARCHAR(40));"
_URI = "kafka:///groups?protocol=open-protocol&partition-num=2"


def measured(shape: str, changes: int, work: Path) -> dict[str, Any]:
    """Run one shape in this process."""
    spark = spark_session(rows=changes)
    jvm = next(child.pid for child in psutil.Process().children() if child.name() == "java")
    number = sf.col("id")
    one_row, one_transaction = shape == "one-row", shape == "one-transaction"
    rows = spark.range(changes).select(
        sf.when(sf.lit(one_row) & (number > 0), "update").otherwise("insert").alias("op"),
        (sf.lit(0) if one_transaction else number).cast("int").alias("n"),
        (sf.lit(1) if one_row else number).cast("long").alias("id"),
        sf.concat(sf.lit("value "), number.cast("string")).alias("v"),
    )
    tables = api.tables(_TABLE)
    with watched(jvm, work) as peaks:
        start = time.perf_counter()
        log = api.changes(rows, tables["t"], op="op", order="n")
        report = api.run_changes(log, tables, sink_uri=_URI, dry_run=True)
        seconds = time.perf_counter() - start
    return {
        "shape": shape,
        "changes": changes,
        "events": sum(report.counts.events.values()),
        "seconds": round(seconds, 1),
        "driver_peak_mb": peaks.driver >> 20,
        "workers_peak_mb": peaks.workers >> 20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("changes", type=int, help="row changes of each shape")
    parser.add_argument("--shape", choices=SHAPES, help="only this one, in this process")
    options = parser.parse_args()
    if options.shape:
        with tempfile.TemporaryDirectory() as work:
            os.environ["SPARK_LOCAL_DIRS"] = work
            print(json.dumps(measured(options.shape, options.changes, Path(work))))
        return
    for shape in SHAPES:
        command = [sys.executable, "-m", "benchmarks.large_groups", str(options.changes), "--shape", shape]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
