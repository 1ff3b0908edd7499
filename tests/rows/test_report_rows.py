"""The messages, events and rows of a run as DataFrames."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer import ProducerError, RunReport, Scenario
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model.shapes import DECODED, MESSAGES

TABLES = ("types.edges", "types.rows", "types.vectors")
SMALL = Scenario("small").sql(
    "CREATE TABLE t (id INT PRIMARY KEY, n BIGINT, d DATE, v VARCHAR(200));"
    "INSERT INTO t VALUES (1, 9223372036854775807, '2024-02-29', 'a'), (2, NULL, NULL, NULL);"
    "UPDATE t SET v = 'b' WHERE id = 1;"
    "DELETE FROM t WHERE id = 2;"
)
ROW = {"id": 1, "n": 9223372036854775807, "d": "2024-02-29", "v": "b"}
PROTOCOLS = (
    "open-protocol", "canal-json", "canal-json&enable-tidb-extension=true", "debezium", "craft", "simple",
    "simple&encoding-format=avro", "avro&enable-tidb-extension=true&avro-enable-watermark=true",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    """Every column type, in a golden folder."""
    return ticdc_producer.run("all-types", out=tmp_path_factory.mktemp("golden") / "all-types")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    return ticdc_producer.run(SMALL, out=tmp_path_factory.mktemp("golden") / "small")


def rows_of(table: pa.Table) -> list[dict[str, object]]:
    names = {
        name: pa.string() if name == "d" else table.schema.field(name).type for name in table.column_names
    }
    rows: list[dict[str, object]] = table.cast(pa.schema(names.items())).sort_by("id").to_pylist()
    return rows


def test_the_state_of_every_type_is_the_expected_one(folder: RunReport, spark: SparkSession) -> None:
    states = {name: folder.state(name).to_spark(spark) for name in TABLES}
    outcome = ticdc_producer.verify_state(folder.target, states, tables=TABLES)
    assert outcome.ok, outcome
    assert [table.table for table in outcome.tables] == [*TABLES]


@pytest.mark.parametrize("table", TABLES)
def test_spark_has_the_columns_and_rows_of_arrow(folder: RunReport, spark: SparkSession, table: str) -> None:
    rows = folder.state(table)
    data_source = spark.read.format("ticdc").options(rows="state", table=table).load(folder.target)
    assert rows.to_spark(spark).schema == data_source.schema
    assert rows.to_spark(spark).toArrow().sort_by("id").equals(rows.to_arrow().sort_by("id"))


@pytest.mark.parametrize("table", TABLES)
def test_a_topic_has_the_rows_of_a_folder(folder: RunReport, kafka: EmbeddedKafka, table: str) -> None:
    topic = f"rows_{table.replace('.', '_')}"
    uri = f"kafka://{kafka.bootstrap}/{topic}?protocol=canal-json&enable-tidb-extension=true&partition-num=3"
    report = ticdc_producer.run("all-types", sink_uri=uri)
    state = report.state(table).to_arrow()
    assert state.num_rows
    assert state.sort_by("id").equals(folder.state(table).to_arrow().sort_by("id"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol(protocol: str, kafka: EmbeddedKafka, tmp_path: Path) -> None:
    topic = f"rows_{''.join(filter(str.isalnum, protocol))}"
    targets = {"folder": {"sink_uri": f"kafka:///s?protocol={protocol}", "out": tmp_path / "out"}}
    if not protocol.startswith("avro"):  # which needs a schema registry
        targets["topic"] = {"sink_uri": f"kafka://{kafka.bootstrap}/{topic}?protocol={protocol}"}
    for target, options in targets.items():
        report = ticdc_producer.run(SMALL, **options)  # type: ignore[arg-type]
        assert rows_of(report.state("test.t").to_arrow()) == [ROW], target
        assert report.messages().to_arrow().num_rows == report.counts.total


@pytest.mark.parametrize("protocol", ["csv", "canal-json"])
def test_the_folder_of_a_storage_sink(protocol: str, tmp_path: Path) -> None:
    uri = f"file://{tmp_path}/out?protocol={protocol}&enable-tidb-extension=true"
    uri = uri.replace("&enable-tidb-extension=true", "") if protocol == "csv" else uri
    config = {"sink": {"csv": {"include-commit-ts": True}}} if protocol == "csv" else None
    report = ticdc_producer.run(SMALL, sink_uri=uri, config=config)
    assert rows_of(report.state("test.t").to_arrow()) == [ROW]


def test_messages_and_events_are_those_of_the_folder(folder: RunReport) -> None:
    messages = folder.messages().to_arrow()
    assert messages.schema == MESSAGES
    assert messages.num_rows == folder.counts.total
    events = folder.events().to_arrow()
    assert events.schema == DECODED
    rows = events.to_pylist()
    for row in rows:
        row["after"] = row["after"] and dict(row["after"])
    fields = ("topic", "partition", "offset", "index", "kind", "commit_ts", "op", "after")
    assert [[row[name] for name in fields] for row in rows] == [
        [row.get(name) for name in fields] for row in ticdc_producer.decode(folder=folder.target)
    ]


def test_the_rows_at_a_time(small: RunReport) -> None:
    commits = sorted(
        {*small.events().to_arrow().filter(pa.compute.field("kind") == "row")["commit_ts"].to_pylist()}
    )
    states = [small.state("test.t", at=commit_ts).to_arrow().sort_by("id") for commit_ts in commits]
    assert [state["id"].to_pylist() for state in states] == [[1, 2], [1, 2], [1]]
    assert [state["v"].to_pylist() for state in states] == [["a", None], ["b", None], ["b"]]


ALTERED = (
    "CREATE TABLE t (id INT PRIMARY KEY);"
    "INSERT INTO t VALUES (1);"
    "ALTER TABLE t ADD COLUMN n DECIMAL(5,2) DEFAULT 1.5, ADD COLUMN e ENUM('a', 'b') DEFAULT 'b';"
    "INSERT INTO t (id) VALUES (2);"
    "DELETE FROM t WHERE id = 2;"
)
ALTERED_ROW = {"id": 1, "n": Decimal("1.50"), "e": "b"}


@pytest.mark.parametrize("protocol", ["open-protocol", "canal-json", "simple"])
@pytest.mark.parametrize("target", ["folder", "topic"])
def test_rows_that_a_ddl_changed_are_the_expected_ones(
    protocol: str, target: str, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    uri = f"kafka://{'' if target == 'folder' else kafka.bootstrap}/altered_{protocol}?protocol={protocol}"
    scenario = Scenario("altered").sql(ALTERED)
    report = ticdc_producer.run(scenario, sink_uri=uri, out=tmp_path / "out" if target == "folder" else None)
    assert report.state("test.t").to_arrow().to_pylist() == [ALTERED_ROW]


def test_rows_that_a_ddl_changed_at_a_time(tmp_path: Path) -> None:
    """A folder has them at the times `state_at`."""
    scenario = Scenario("altered").sql(ALTERED)
    events = ticdc_producer.run(scenario, out=tmp_path / "first").events().to_arrow()
    kinds = events.filter(pa.compute.field("kind") != "resolved")
    created, first, altered, second, _ = sorted({*kinds["commit_ts"].to_pylist()})[-5:]
    report = ticdc_producer.run(scenario, out=tmp_path / "out", state_at=[altered])
    states = [report.state("test.t", at=ts).to_arrow().to_pylist() for ts in (created, first, altered)]
    assert states == [[], [{"id": 1, "n": None, "e": None}], [ALTERED_ROW]]
    with pytest.raises(ProducerError, match=r"the rows cannot follow the DDL .*ADD COLUMN"):
        report.state("test.t", at=second).to_arrow()


def test_rows_that_a_ddl_changed_in_a_faulty_stream(tmp_path: Path) -> None:
    """They would be those of another stream."""
    scenario = Scenario("altered").sql(ALTERED)
    report = ticdc_producer.run(scenario, out=tmp_path / "out", inject=["lost-row:times=1"])
    with pytest.raises(ProducerError, match="the rows cannot follow the DDL"):
        report.state("test.t").to_arrow()


def test_libraries_take_the_object_itself(small: RunReport) -> None:
    rows = small.state("test.t")
    assert pa.table(rows).equals(rows.to_arrow())
    assert pa.RecordBatchReader.from_stream(rows).read_all().equals(rows.to_arrow())
    assert rows.schema == rows.to_arrow().schema


def test_pandas_has_every_integer(small: RunReport) -> None:
    frame = small.state("test.t", at=small.events().to_pandas()["commit_ts"].min() + (1 << 40)).to_pandas()
    assert frame["n"].dtype == pd.Int64Dtype()
    assert frame["n"].max() == 9223372036854775807


def test_a_notebook_displays_the_first_rows(small: RunReport, folder: RunReport) -> None:
    assert "<td>9223372036854775807</td>" in small.state("test.t")._repr_html_()
    page = folder.state("types.rows")._repr_html_()
    assert page.count("<tr>") == 11
    assert "the first 10 rows" in page
    assert repr(small.state("test.t")) == f"Rows of test.t in {small.target}: id, n, d, v"


def test_rows_are_read_when_they_are_used(tmp_path: Path) -> None:
    report = ticdc_producer.run(SMALL, out=tmp_path / "out")
    messages = report.messages()
    assert messages.to_arrow().equals(messages.to_arrow())
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(ProducerError, match="out"):
        report.messages().to_arrow()


def test_a_run_without_messages_to_read() -> None:
    report = ticdc_producer.run(SMALL, dry_run=True)
    uses: list[Callable[[], object]] = [report.messages, report.events, lambda: report.state("test.t")]
    for use in uses:
        with pytest.raises(
            ProducerError, match=r"not kept \(run it with `out=` for a folder, or with `keep=True`\)"
        ):
            use()


@pytest.mark.parametrize(
    ("table", "error"), [("t", "'t' is not a table"), ("test.u", "no message has a row of the table test.u")]
)
def test_a_table_that_does_not_exist(small: RunReport, table: str, error: str) -> None:
    with pytest.raises(ProducerError, match=error):
        small.state(table)


def test_a_value_that_its_type_cannot_hold(tmp_path: Path) -> None:
    scenario = Scenario("zero").sql(
        "SET sql_mode = ''; CREATE TABLE t (id INT PRIMARY KEY, d DATE);"
        "INSERT INTO t VALUES (1, '0000-00-00')"
    )
    report = ticdc_producer.run(scenario, out=tmp_path / "out")
    with pytest.raises(
        ProducerError, match=r"'0000-00-00' is not a value of date32.* a string holds every value"
    ):
        report.state("test.t").to_arrow()
    text = report.state("test.t", schema=pa.schema({"id": pa.int32(), "d": pa.string()}))
    assert text.to_arrow().to_pylist() == [{"id": 1, "d": "0000-00-00"}]


def test_a_report_as_json_has_no_rows(small: RunReport) -> None:
    assert "origin" not in json.dumps(small.to_json())
    assert "origin" not in repr(small)
