"""A user's own changes at volume: a ``data`` step into a folder, and DataFrames that are only encoded.

Each row is inserted, updated and deleted, four changes in a transaction. A session runs a small input of the
same shape first, so that the JVM has compiled what it runs. The seconds of CPU are those of all processes and
depend little on what else the machine does. Two versions of the package can be compared:

    python -m benchmarks.dataframes 10000000
    PYTHONPATH=OTHER_CHECKOUT/producer python -m benchmarks.dataframes 10000000
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from benchmarks.cpu_time import cpu_seconds
from ticdc_producer import api
from ticdc_producer.spark.session import spark_session

KEYS = {
    "plain": "id BIGINT PRIMARY KEY, code VARCHAR(20) NOT NULL",
    "hidden": "id BIGINT, code VARCHAR(20) NOT NULL UNIQUE",
    "unique": "id BIGINT PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE",
}
"""The keys of a table: the ways ``hidden`` (no clustered key, so TiDB has hidden row ids) and ``unique`` (one
more unique key) are compared with ``plain``."""
WAYS = ("data", "frame", "scenario", *KEYS)
_SMALL = 100_000
_KINDS = 3  # changes of a row
_ROWS_PER_TRANSACTION = 4
_TABLE = "CREATE TABLE test.t (id BIGINT PRIMARY KEY, name VARCHAR(40), price DECIMAL(8,2), stock INT);"
_URI = "kafka:///data?protocol=open-protocol&partition-num=2"
_SCENARIO = """
version: 1
changefeed:
  sink-uri: {uri}
  sink:
    dispatchers:
      - {{matcher: ['*.*'], partition: index-value}}
steps:
  - sql: |
      {table}
  - data: {{table: test.t, format: parquet, path: {path}, order: n, transactions: {transactions}}}
"""


def own_changes(spark: SparkSession, changes: int, *, with_position: bool = False) -> DataFrame:
    """The changes: columns ``n`` (transaction), ``op``, and those of the table.

    :param changes: number of rows of the result; a multiple of three.
    :param with_position: whether there is a column ``position``, of a row in its transaction.
    """
    rows = changes // _KINDS
    number = sf.col("id")
    position = (number % _ROWS_PER_TRANSACTION).cast("int").alias("position")
    return spark.range(changes).select(
        *([position] if with_position else []),
        (number / _ROWS_PER_TRANSACTION).cast("int").alias("n"),
        sf.array(*map(sf.lit, ("insert", "update", "delete")))[(number / rows).cast("int")].alias("op"),
        (number % rows).alias("id"),
        sf.concat(sf.lit("name "), number.cast("string")).alias("name"),
        (number % 100_000 / 100).cast("decimal(8,2)").alias("price"),
        (number % 1000).cast("int").alias("stock"),
    )


def data_step(spark: SparkSession, changes: int, work: Path) -> Callable[[], object]:
    """The run of a scenario whose ``data`` step reads the changes from Parquet; writes the Parquet now."""
    path, scenario = work / f"{changes}.parquet", work / f"{changes}.yaml"
    own_changes(spark, changes).write.parquet(str(path))
    transactions = -(-changes // _ROWS_PER_TRANSACTION)
    scenario.write_text(_SCENARIO.format(uri=_URI, table=_TABLE, path=path, transactions=transactions))
    return lambda: api.run(str(scenario), out=work / f"out-{changes}", messages_only=True)


def data_frame(spark: SparkSession, changes: int, _: Path) -> Callable[[], object]:
    """The run of a DataFrame of the changes: all are encoded, and nothing is written."""
    tables = api.tables(_TABLE)
    log = api.changes(own_changes(spark, changes), tables["t"], op="op", order="n")
    return lambda: api.run_changes(log, tables, sink_uri=_URI, dry_run=True)


def scenario(spark: SparkSession, changes: int, _: Path) -> Callable[[], object]:
    """The run of a scenario with a DataFrame as a step: all are encoded, and nothing is written."""
    frame = own_changes(spark, changes)
    steps = api.Scenario("data").sql(_TABLE).changes(frame, table="test.t", order="n")
    return lambda: api.run(steps, sink_uri=_URI, dry_run=True)


def scenario_with_keys(keys: str) -> Callable[[SparkSession, int, Path], Callable[[], object]]:
    """The run of a scenario with a DataFrame that has a column ``code``, on a table with some keys."""
    table = f"CREATE TABLE test.t ({keys}, name VARCHAR(40), price DECIMAL(8,2), stock INT);"

    def prepare(spark: SparkSession, changes: int, _: Path) -> Callable[[], object]:
        code = sf.concat(sf.lit("c-"), sf.col("id").cast("string"))
        frame = own_changes(spark, changes, with_position=True).withColumn("code", code)
        steps = api.Scenario("data").sql(table).changes(frame, table="test.t", order=("n", "position"))
        return lambda: api.run(steps, sink_uri=_URI, dry_run=True)

    return prepare


def measured(way: str, changes: int, work: Path) -> dict[str, float | int | str]:
    """Measure one way in this process, after a small run of the same shape."""
    of_keys = {name: scenario_with_keys(keys) for name, keys in KEYS.items()}
    prepare = {"data": data_step, "frame": data_frame, "scenario": scenario, **of_keys}[way]
    spark = spark_session(rows=changes)
    prepare(spark, _SMALL - _SMALL % _KINDS, work)()
    large = prepare(spark, changes, work)
    start, before = time.perf_counter(), cpu_seconds()
    large()
    return {
        "way": way,
        "changes": changes,
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(cpu_seconds() - before, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("changes", type=int, help="row changes, a multiple of three")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir()), help="folder with enough free disk space"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dataframes-", dir=options.work) as work:
        os.environ.setdefault("SPARK_LOCAL_DIRS", work)
        for way in options.ways:
            print(
                json.dumps(measured(way, options.changes - options.changes % _KINDS, Path(work))), flush=True
            )


if __name__ == "__main__":
    main()
