"""From a user's own DataFrames of Spark to verified folders, through the public API."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import ticdc_producer
from ticdc_producer import ProducerError, Scenario
from ticdc_producer.engine import SMALL_EVENTS, EngineOption
from ticdc_producer.errors import ScenarioError

CREATE = "CREATE TABLE `shop`.`items` (`id` BIGINT PRIMARY KEY,`price` DECIMAL(8,2))"
TABLE = "CREATE TABLE items (id BIGINT PRIMARY KEY, price DECIMAL(8,2))"
TYPES = "n int, op string, id long, price string"
START = 429918007904436226


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
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert (report.verdict.state.tables, report.verdict.state.rows) == (1, 1)
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
    assert ddls == [(n, query) for n in range(3) for query in ("CREATE DATABASE `shop`", CREATE)]


def test_a_small_dataframe_of_spark_is_one_job(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(0, "insert", 1, "1.50"), (1, "update", 1, "3.255")], TYPES)
    scenario = Scenario("s").sql(TABLE).changes(frame, table="items", order="n")
    spark.sparkContext.setJobGroup("small", "")
    try:
        report = ticdc_producer.run(scenario, out=tmp_path / "items", inject=["replay-suffix:times=1"])
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("small")
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert report.ok
    assert report.engine is not None
    assert report.engine.name == "local"
    assert len(jobs) <= 2
    rows = (tmp_path / "items" / "state" / "test.items.jsonl").read_text().splitlines()
    assert [json.loads(row) for row in rows] == [{"id": "1", "price": "3.26"}]


def test_several_tables_as_one_change_log(spark: SparkSession, tmp_path: Path) -> None:
    tables = ticdc_producer.tables(f"{TABLE}; CREATE TABLE u (id BIGINT PRIMARY KEY)")
    frame = spark.createDataFrame(
        [(0, "insert", 1), (1, "insert", 2), (2, "delete", 1)], "n int, op string, id long"
    )
    logs = [ticdc_producer.changes(frame, tables[name], op="op", order="n") for name in ("items", "u")]
    report = ticdc_producer.run_changes(logs[0].unionByName(logs[1]), tables, out=tmp_path / "few")
    assert report.ok
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert (report.verdict.state.tables, report.verdict.state.rows) == (2, 2)


BOTH: tuple[EngineOption, ...] = ("spark", "local")
HISTORY = [
    (0, 0, "insert", 1, "1.50", None), (0, 1, "insert", 2, "2.00", None),
    (0, 2, "update", 2, "2.10", (2, "2.00")),
    (1, 0, "update", 1, "3.25", (1, "1.50")), (1, 1, "update", 1, "3.25", (1, "3.25")),
    (2, 0, "delete", 2, "2.10", None), (2, 1, "insert", 2, "9.00", None), (2, 2, "insert", 3, "1.00", None),
    (3, 0, "insert", 4, "1.00", None), (3, 1, "delete", 4, "1.00", None),
]  # fmt: skip


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_old_rows_make_no_difference_if_no_key_changes(
    spark: SparkSession, tmp_path: Path, whole: bool
) -> None:
    """With old rows a shuffle brings the changes of a transaction together, without them those of a row.

    The fast tier has one of these on Spark, the other one both, and a log of the user's own query.
    """
    old = "struct<id:long,price:string>"
    rows = spark.createDataFrame(HISTORY, f"n int, m int, op string, id long, price string, old {old}")
    typed = rows.withColumn("price", rows.price.cast("decimal(8,2)")).withColumn(
        "old", rows.old.cast(old.replace("string", "decimal(8,2)"))
    )
    tables = ticdc_producer.tables(TABLE)
    order = ["n", "m"]
    previous = ticdc_producer.changes(typed.drop("old"), tables["items"], op="op", order=order)
    given = ticdc_producer.changes(typed, tables["items"], op="op", order=order, before="old")
    texts = set()
    runs: list[tuple[DataFrame, EngineOption]] = [(previous, "local"), (given, "spark")]
    if whole:
        logs = previous, given, previous.where("true")
        runs = [*product(logs, BOTH)]
    for number, (log, engine) in enumerate(runs):
        out = tmp_path / str(number)
        assert ticdc_producer.run_changes(log, tables, out=out, engine=engine).ok
        state = (out / "state" / "test.items.jsonl").read_bytes()
        texts.add((out / "events.jsonl").read_bytes() + state)
    assert len(texts) == 1


def test_a_wrong_value_of_a_task_is_an_error_with_all_its_fields(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(0, "insert", 1), (1, "insert", 1)], "n int, op string, id long")
    tables = ticdc_producer.tables(TABLE)
    log = ticdc_producer.changes(frame, tables["items"], op="op", order="n")
    with pytest.raises(ScenarioError, match=r"^insert of a row that exists, row '1' \(n 1\)$") as caught:
        ticdc_producer.run_changes(log, tables, out=tmp_path / "out", engine="spark")
    assert caught.value.value == "1"
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("library", ["spark", "arrow"])
def test_a_large_dataframe_runs_on_spark(library: str, spark: SparkSession, tmp_path: Path) -> None:
    remaining = SMALL_EVENTS // 2 + 1
    rows = spark.range(2 * remaining).selectExpr(
        "cast(id / 100 as int) n", f"if(id < {remaining}, 'insert', 'update') op", f"id % {remaining} id",
        "cast(id % 1000 as decimal(8,2)) price",
    )  # fmt: skip
    frame = rows if library == "spark" else rows.toArrow()
    scenario = Scenario("s", resolved={"every": "1h"}).sql(TABLE).changes(frame, table="items", order="n")
    report = ticdc_producer.run(scenario, out=tmp_path / "out", state_at=[START + (500 * 1000 << 18)])
    assert report.ok
    assert report.engine is not None
    assert (
        report.engine.reason
        == {
            "spark": "a large DataFrame of Spark or at a URI requires it",
            "arrow": "there may be more than 100,000 events",
        }[library]
    )
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert (report.verdict.state.tables, report.verdict.state.rows) == (1, remaining)
    written = scenario.write(tmp_path / "s.yaml")
    assert ticdc_producer.verify(folder=tmp_path / "out", scenario=written).ok


def test_a_uri_that_cannot_be_read_names_the_step(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    changes = f"{{path: '{(tmp_path / 'none.parquet').as_uri()}', table: items, order: n}}"
    path.write_text(f"version: 1\nsteps:\n- sql: {TABLE}\n- changes: {changes}\n")
    with pytest.raises(ProducerError, match=r"s.yaml:4: cannot read the rows of the step: .*none.parquet"):
        ticdc_producer.run(path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_large_dataframe_of_spark_needs_it(spark: SparkSession) -> None:
    frame = spark.range(SMALL_EVENTS + 1).selectExpr("id", "id n", "'insert' op")
    scenario = Scenario("s").sql(TABLE).changes(frame, table="items", order="n")
    with pytest.raises(ProducerError, match=r"a large DataFrame of Spark or at a URI requires Spark"):
        ticdc_producer.run(scenario, engine="local", dry_run=True)
