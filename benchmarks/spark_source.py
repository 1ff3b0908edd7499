"""``spark.read.format("ticdc")`` with ``rows=changes``, compared with a loop that consumes and decodes.

``run --only messages`` fills a topic of the embedded broker with changes of one table in Canal-JSON. The loop
consumes all messages with one consumer, and decodes each as ``bench decode`` does; it makes no rows. The
reader of the data source reads the typed changes in this process, batch by batch. The query reads them in
Spark, and Spark's sink ``noop`` drops them. The three take turns. The CPU time of the query is that of all
processes but the broker. The session runs already.

With ``--jars`` a fourth way reads the same columns of new rows with Spark's Kafka source and ``from_json``,
as one writes it by hand: no old rows, no checks. The jars are those of ``spark-sql-kafka-0-10`` and its
dependencies, which ``mvn dependency:copy-dependencies`` puts into a folder.

    python -m benchmarks.spark_source --transactions 1000000
    python -m benchmarks.spark_source --transactions 1000000 --jars FOLDER
"""

from __future__ import annotations

import argparse
import gc
import json
import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession

from benchmarks.cpu_time import cpu_seconds
from pyspark_ticdc.reader import TicdcReader, schema
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.protocols import registry
from ticdc_producer.runs.run import run
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.kafka.topics import Topics

BOUND = 1.4
PROTOCOL, TOPIC, TABLE, PARTITIONS = "canal-json", "source", "test.sbtest1", 4
_PARAMETERS = f"protocol={PROTOCOL}&enable-tidb-extension=true&partition-num={PARTITIONS}"
_ROW = "array<struct<id: string, k: string, c: string, pad: string>>"
_MESSAGE = f"type string, isDdl boolean, data {_ROW}, _tidb struct<commitTs: bigint>"
_SCENARIO = """
version: 1
name: source
clock: {{every: 1ms}}
resolved: {{every: 1s}}
changefeed: {{sink: {{dispatchers: [{{matcher: ['*.*'], partition: index-value}}]}}}}
steps:
  - sql: >
      CREATE TABLE test.sbtest1 (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL,
      pad CHAR(60) NOT NULL)
  - generate:
      table: test.sbtest1
      rows: 10000
      transactions: {transactions}
      mix: {{insert: 25, update: 50, delete: 25}}
"""


def _consumed(bootstrap: str) -> Iterator[Any]:
    """Yield all messages of the topic."""
    ends = Topics(bootstrap).ends({TOPIC: PARTITIONS})
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "loop", "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
    remaining = sum(ends.values())
    while remaining:
        messages = consumer.consume(500, timeout=10)
        remaining -= len(messages)
        yield from messages
    consumer.close()


def _loop(bootstrap: str) -> int:
    decoder = registry.decoder(PROTOCOL, {"enable_tidb_extension": True})
    number = 0
    for message in _consumed(bootstrap):
        deque(decoder.events(message.key(), message.value()), 0)
        number += 1
    return number


def _options(bootstrap: str) -> dict[str, str]:
    return {"rows": "changes", "table": TABLE, "sink-uri": f"kafka://{bootstrap}/{TOPIC}?{_PARAMETERS}"}


def _reader(bootstrap: str) -> None:
    options = _options(bootstrap)
    reader = TicdcReader(options, schema(options))
    for partition in reader.partitions():
        deque(reader.read(partition), 0)


def _query(spark: SparkSession, bootstrap: str) -> None:
    frame = spark.read.format("ticdc").options(**_options(bootstrap)).load()
    frame.write.format("noop").mode("overwrite").save()


def _from_json(spark: SparkSession, bootstrap: str) -> None:
    from pyspark.sql.functions import col, from_json

    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": TOPIC, "startingOffsets": "earliest"}
    messages = spark.read.format("kafka").options(**options).load()
    rows = messages.select(from_json(col("value").cast("string"), _MESSAGE).alias("m")).where("not m.isDdl")
    changes = rows.selectExpr(
        "cast(m.data[0].id as int) id", "cast(m.data[0].k as int) k", "m.data[0].c", "m.data[0].pad",
        "lower(m.type) _change_type", "m._tidb.commitTs _commit_version",
        "timestamp_millis(m._tidb.commitTs >> 18) _commit_timestamp",
    )  # fmt: skip
    changes.write.format("noop").mode("overwrite").save()


def measure(transactions: int, rounds: int, jars: Path | None = None) -> dict[str, object]:
    """Measure the ways in turns, and return medians of the CPU time.

    :param jars: folder with the jars of Spark's Kafka source; None: it is not measured.
    """
    if jars is not None:
        files = ",".join(str(jar) for jar in sorted(jars.glob("*.jar")))
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {files} pyspark-shell"
    spark = spark_session("local[2]")
    gc.set_threshold(100_000)  # as in the workers of this session
    with TemporaryDirectory() as work, EmbeddedKafka() as broker:
        file = Path(work, "source.yaml")
        file.write_text(_SCENARIO.format(transactions=transactions))
        run(file, sink_uri=f"kafka://{broker.bootstrap}/{TOPIC}?{_PARAMETERS}", messages_only=True)
        spark.read.format("ticdc").option("scenario", "seed_t1").load().count()
        queries = {"query": _query} if jars is None else {"query": _query, "from_json": _from_json}
        results: dict[str, list[float]] = {"loop": [], "reader": [], **{name: [] for name in queries}}
        messages = 0
        for _ in range(rounds):
            before = process_time()
            messages = _loop(broker.bootstrap)
            results["loop"].append(process_time() - before)
            before = process_time()
            _reader(broker.bootstrap)
            results["reader"].append(process_time() - before)
            for name, query in queries.items():
                before = cpu_seconds(without=broker.pid)
                query(spark, broker.bootstrap)
                results[name].append(cpu_seconds(without=broker.pid) - before)
    middle = {name: median(seconds) for name, seconds in results.items()}
    return {
        "messages": messages,
        "us_per_message": {name: round(seconds / messages * 1e6, 2) for name, seconds in middle.items()},
        "ratios": {name: round(middle[name] / middle["loop"], 2) for name in middle if name != "loop"},
        "bound": BOUND,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transactions", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jars", type=Path, help="folder with the jars of Spark's Kafka source")
    options = parser.parse_args()
    print(json.dumps(measure(options.transactions, options.rounds, options.jars), indent=2))
