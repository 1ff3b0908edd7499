"""The cost of ``verify state``: CPU time, divided by that of reading the same table and hashing its columns.

A folder has generated rows of five columns, and the consumer's table the same rows as Parquet. The table is
compared as files, which Arrow reads in this process, and as a DataFrame of Spark. Each is divided by a full
read of its own kind: Arrow with CRC-32 of all buffers, and Spark with ``sum(xxhash64(*))``. Both sessions
are warm. With ``--work`` a later measurement finds the folder and the table.

    python -m benchmarks.consumer_state --rows 1000000
    python -m benchmarks.consumer_state --rows 10000000 --work /mnt/large --json
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.json as arrow_json
import pyarrow.parquet as pq
from pyspark.sql import functions as sf

from benchmarks.cpu_time import cpu_seconds
from ticdc_producer import verify_state
from ticdc_producer.runs.run import run
from ticdc_producer.spark.session import spark_session

WANTED = 2.0
TABLE = "bank.ledger"
SCENARIO = """
version: 1
name: ledger
seed: 7
clock: {{every: 10ms}}
steps:
  - sql: |
      CREATE DATABASE bank;
      CREATE TABLE bank.ledger (
        id BIGINT PRIMARY KEY, owner VARCHAR(64) NOT NULL, balance DECIMAL(12,2) NOT NULL,
        seen DATETIME NOT NULL, visits INT NOT NULL);
  - generate:
      table: bank.ledger
      rows: {rows}
      transactions: 1
      mix: {{insert: 100}}
      columns:
        owner: {{length: [5, 30]}}
"""
COLUMNS = pa.schema([
    ("id", pa.int64()), ("owner", pa.string()), ("balance", pa.decimal128(12, 2)),
    ("seen", pa.timestamp("us")), ("visits", pa.int32()),
])  # fmt: skip
_BLOCK_BYTES = 64 << 20


def golden_folder(work: Path, rows: int) -> Path:
    """The folder of a run with one table."""
    folder, scenario = work / f"golden-{rows}", work / f"ledger-{rows}.yaml"
    if not folder.exists():
        scenario.write_text(SCENARIO.format(rows=rows), "utf-8")
        run(scenario, sink_uri="kafka:///t?protocol=open-protocol", out=folder, verify_output=False)
    return folder


def lake_folder(work: Path, rows: int, golden: Path) -> Path:
    """A folder with the expected rows as the consumer's Parquet."""
    folder = work / f"lake-{rows}"
    table = folder / TABLE
    if table.exists():
        return folder
    table.mkdir(parents=True)
    texts = pa.schema([(name, pa.string()) for name in COLUMNS.names])
    options = arrow_json.ReadOptions(block_size=_BLOCK_BYTES), arrow_json.ParseOptions(explicit_schema=texts)
    lines = arrow_json.open_json(golden / "state" / f"{TABLE}.jsonl", *options)
    with pq.ParquetWriter(table / "part-0.parquet", COLUMNS) as writer:
        for batch in lines:
            writer.write_batch(
                pa.record_batch(
                    [array.cast(kind) for array, kind in zip(batch.columns, COLUMNS.types, strict=True)],
                    schema=COLUMNS,
                )
            )
    return folder


def read_by_arrow(table: Path) -> int:
    """Read all values, and hash them."""
    digest = 0
    for batch in ds.dataset(table).to_batches():
        for column in batch.columns:
            for buffer in filter(None, column.buffers()):
                digest = crc32(buffer, digest)
    return digest


def cpu_of(step: Callable[[], object]) -> float:
    start = cpu_seconds()
    step()
    return round(cpu_seconds() - start, 2)


def measured(golden: Path, lake: Path, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Measure both reads and both comparisons in alternation, after one warm-up of each."""
    spark, table = spark_session(), lake / TABLE

    def check(actual: Any) -> None:
        status: list[str] = []
        if not verify_state(golden, actual, on_status=status.append).ok or "comparing rows" in status:
            raise AssertionError("the sums of the rows differ")

    def frame() -> Any:
        return spark.read.parquet(str(table))

    digest = sf.sum(sf.xxhash64("*").cast("decimal(20,0)"))
    steps: dict[str, dict[str, Callable[[], object]]] = {
        "files": {"read": lambda: read_by_arrow(table), "verify": lambda: check(lake)},
        "DataFrame": {
            "read": lambda: frame().select(digest).collect(),
            "verify": lambda: check({TABLE: frame()}),
        },
    }
    cpu: dict[str, dict[str, list[float]]] = {kind: {"read": [], "verify": []} for kind in steps}
    for number in range(rounds + 1):
        for kind, of_kind in steps.items():
            for name, step in of_kind.items():
                used = cpu_of(step)
                if number:
                    cpu[kind][name].append(used)
    return cpu


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, help="folder that has or gets the folder and the table")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        work = arguments.work or Path(stack.enter_context(TemporaryDirectory()))
        golden = golden_folder(work, arguments.rows)
        load = os.getloadavg()[0]
        cpu = measured(golden, lake_folder(work, arguments.rows, golden), arguments.rounds)
    ratios = {kind: round(median(of["verify"]) / median(of["read"]), 2) for kind, of in cpu.items()}
    if arguments.json:
        report = {
            "wanted": WANTED,
            "rows": arguments.rows,
            "load": load,
            "ratios": ratios,
            "cpu_seconds": cpu,
        }
        print(json.dumps(report, indent=2))
        return
    for kind, ratio in ratios.items():
        print(f"{kind:<10} {arguments.rows:,} rows, ratio {ratio:.2f} (wanted {WANTED})")


if __name__ == "__main__":
    main()
