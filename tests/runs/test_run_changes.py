"""From a user's own DataFrame to a verified folder, through the public API."""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import SparkSession

import ticdc_producer

CREATE = "CREATE TABLE shop.items (id BIGINT PRIMARY KEY, price DECIMAL(8,2))"


def test_a_typed_dataframe_becomes_a_verified_folder(spark: SparkSession, tmp_path: Path) -> None:
    tables = ticdc_producer.tables(
        "CREATE DATABASE shop; CREATE TABLE shop.items (id BIGINT PRIMARY KEY, price DECIMAL(8,2));"
    )
    rows = [
        (0, "insert", 1, "1.50"),
        (0, "insert", 2, "2.00"),
        (1, "update", 1, "3.25"),
        (2, "delete", 2, None),
    ]
    frame = spark.createDataFrame(rows, "n int, op string, id long, price string")
    typed = frame.withColumn("price", frame.price.cast("decimal(8,2)"))
    log = ticdc_producer.changes(typed, tables["items"], op="op", order="n")
    assert log.schema.simpleString() == ticdc_producer.CHANGE_LOG.simpleString()
    report = ticdc_producer.run_changes(log, tables, out=tmp_path / "items")
    assert report.ok
    lines = [json.loads(line) for line in (tmp_path / "items" / "events.jsonl").read_text().splitlines()]
    rows = sorted((line for line in lines if line["kind"] == "row"), key=lambda line: line["commit_ts"])
    events = [
        (row["op"], (row["before"] or {}).get("price"), (row["after"] or {}).get("price")) for row in rows
    ]
    # Both inserts are of one transaction and may stand in different partitions.
    assert [*sorted(events[:2]), *events[2:]] == [
        ("insert", None, "1.50"),
        ("insert", None, "2.00"),
        ("update", "1.50", "3.25"),
        ("delete", "2.00", None),
    ]
    ddls = [(line["partition"], line["query"]) for line in lines if line["kind"] == "ddl"]
    assert ddls == [(n, query) for n in range(3) for query in ("CREATE DATABASE shop", CREATE)]
