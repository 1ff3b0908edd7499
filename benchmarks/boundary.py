"""The cost of ``array<binary>`` images at the JVM–Python boundary, compared with typed columns.

Rows of sysbench's ``sbtest`` (id int, k int, c char(120), pad char(60)) are cached in the JVM in both forms.
Each form is read through ``mapInArrow`` by a function that accesses the columns like a worker and discards
the result; once without and once with the Open Protocol encoder. The forms alternate as A B B A, so that a
drift of the machine's speed affects both. The result is the median of the ratios of the rounds, each of which
measures both forms twice.

    python benchmarks/boundary.py --rows 1000000 --rounds 7 --json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeAlias

import pyarrow as pa
import pyspark
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import lengths
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
from ticdc_producer.scenario.dataframe import tables
from ticdc_producer.spark.session import spark_session

Columns: TypeAlias = list[pa.Array]
Reader: TypeAlias = Callable[[pa.RecordBatch], Columns]
Worker: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_SBTEST = """
CREATE TABLE sbtest (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL)
"""
_WIDTH = 4
_COMMIT_TS = 429_918_007_904_436_226
_RULE = 1.5
"""The design keeps array<binary> if it costs at most this many times the typed columns."""


@dataclass(frozen=True, slots=True)
class Form:
    """One representation of rows: a cached input, and a function that reads its batches."""

    input: DataFrame
    reader: Reader


def typed_rows(spark: SparkSession, rows: int) -> DataFrame:
    """Rows as sysbench makes them: groups of 11 digits with ``-`` between."""

    def digits(groups: int, salt: int) -> Column:
        words = [
            F.lpad(F.pmod(F.xxhash64(F.col("id"), F.lit(salt + g)), F.lit(10**11)).cast("string"), 11, "0")
            for g in range(groups)
        ]
        return F.concat_ws("-", *words)

    return spark.range(rows).select(
        F.col("id").cast("int").alias("id"),
        F.pmod(F.xxhash64("id"), F.lit(rows)).cast("int").alias("k"),
        digits(10, 0).alias("c"),
        digits(5, 100).alias("pad"),
    )


def as_image(typed: DataFrame) -> DataFrame:
    """The same rows as row images of the change log."""
    return typed.select(
        F.array(*(F.col(name).cast("string").cast("binary") for name in typed.columns)).alias("after")
    )


def image_columns(batch: pa.RecordBatch) -> Columns:
    """The columns of row images, read as in ``targets.row_batches``."""
    images = batch.column("after")
    first = images.offsets.to_numpy()[: len(images)]
    return [images.values.take(pa.array(first + index)) for index in range(_WIDTH)]


def typed_columns(batch: pa.RecordBatch) -> Columns:
    """The typed columns, with their values converted to the bytes of an image."""
    return [column.cast(pa.string()).cast(pa.binary()) for column in batch.columns]


def reading(reader: Reader) -> Worker:
    """Reads the columns and returns their size, so that no work can be optimised away."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _counted(sum(len(column) for column in reader(batch)))

    return work


def encoding(reader: Reader, table: TableInfo) -> Worker:
    """Reads the columns and encodes the rows as inserts."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        encoder = OpenEncoder()
        for batch in batches:
            count = batch.num_rows
            rows = RowBatch(
                op=Op.INSERT,
                commit_ts=pa.repeat(_COMMIT_TS, count),
                table_id=pa.repeat(table.table_id, count),
                row_id=pa.repeat(0, count),
                after=reader(batch),
            )
            yield _counted(int(lengths(encoder.rows(table, rows).column("value")).sum()))

    return work


def _counted(number: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"n": pa.array([number], pa.int64())})


def seconds(form: Form, worker: Worker) -> float:
    """The time of one run."""
    start = time.perf_counter()
    form.input.mapInArrow(worker, "n bigint").write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def same_work(image: Form, typed: Form, task: Callable[[Reader], Worker]) -> None:
    """Check that both forms have the same total; otherwise their times are not comparable."""
    totals = [
        form.input.mapInArrow(task(form.reader), "n bigint").agg(F.sum("n")).collect()
        for form in (image, typed)
    ]
    if totals[0] != totals[1]:
        raise SystemExit(f"the forms differ: {totals}")


def measured(image: Form, typed: Form, task: Callable[[Reader], Worker], rounds: int) -> dict[str, Any]:
    """Rounds of A B B A, where A is the image in even rounds."""
    same_work(image, typed, task)  # also warms both up
    times: dict[str, list[float]] = {"image": [], "typed": []}
    ratios = []
    forms = {"image": (image, task(image.reader)), "typed": (typed, task(typed.reader))}
    for number in range(rounds):
        a, b = ("image", "typed") if number % 2 == 0 else ("typed", "image")
        spent = {"image": 0.0, "typed": 0.0}
        for name in (a, b, b, a):
            once = seconds(*forms[name])
            times[name].append(round(once, 3))
            spent[name] += once
        ratios.append(spent["image"] / spent["typed"])
    return {
        "ratio": round(median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
        "median_seconds": {name: round(median(values), 3) for name, values in times.items()},
        "seconds": times,
    }


def machine(spark: SparkSession) -> dict[str, Any]:
    """The machine and the versions on which the numbers are measured."""
    java = spark.sql("SELECT java_method('java.lang.System', 'getProperty', 'java.version')").first()
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "spark": pyspark.__version__,
        "java": java[0] if java else "",
        "pyarrow": pa.__version__,
    }


def measure(rows: int, rounds: int) -> dict[str, Any]:
    """Both comparisons."""
    spark = spark_session("local[2]")
    table = tables(_SBTEST)["sbtest"]
    columns = typed_rows(spark, rows).repartition(4).persist()
    images = as_image(columns).persist()
    columns.count(), images.count()
    image, typed = Form(images, image_columns), Form(columns, typed_columns)
    results = {
        "read": measured(image, typed, reading, rounds),
        "read and encode": measured(image, typed, lambda reader: encoding(reader, table), rounds),
    }
    return {"rows": rows, "rounds": rounds, "rule": _RULE, "machine": machine(spark), "results": results}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print everything, as JSON")
    options = parser.parse_args()
    report = measure(options.rows, options.rounds)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name, result in report["results"].items():
        times = result["median_seconds"]
        print(f"{name}: image {times['image']} s, typed {times['typed']} s, ratio {result['ratio']}")


if __name__ == "__main__":
    main()
