"""``rows=state``: the rows of one table, in every protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import ticdc_producer
from tests.pyspark_ticdc.test_changes import SQL, scenario_for, some_protocols
from ticdc_producer.kafka.embedded import EmbeddedKafka

BY_KEY = 'changefeed.sink.dispatchers=[{matcher: ["*.*"], partition: index-value}]'


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("scenario") / "typed.sql"
    file.write_text(SQL)
    return file


def _state(spark: SparkSession, folder: Path, table: str = "test.a", **options: str) -> DataFrame:
    return spark.read.format("ticdc").options(rows="state", table=table, **options).load(str(folder))


@some_protocols
def test_the_state_is_the_golden_state(
    spark: SparkSession, scenario: Path, tmp_path: Path, protocol: str
) -> None:
    uri = f"kafka:///t?protocol={protocol}&partition-num=2"
    source = scenario_for(protocol, scenario, tmp_path)
    ticdc_producer.run(source, sink_uri=uri, out=tmp_path / "out", overrides=[BY_KEY])
    outcome = ticdc_producer.verify_state(
        tmp_path / "out", {"test.a": _state(spark, tmp_path / "out")}, tables=["test.a"]
    )
    assert outcome.ok, outcome


def test_the_state_of_a_topic(
    spark: SparkSession, kafka: EmbeddedKafka, scenario: Path, tmp_path: Path
) -> None:
    uri = f"kafka://{kafka.bootstrap}/source_state?protocol=canal-json&enable-tidb-extension=true"
    ticdc_producer.run(scenario, sink_uri=uri, out=tmp_path / "out")
    reader = spark.read.format("ticdc").options(rows="state", table="test.a").option("sink-uri", uri)
    outcome = ticdc_producer.verify_state(tmp_path / "out", {"test.a": reader.load()}, tables=["test.a"])
    assert outcome.ok, outcome


CLEARED = """
CREATE TABLE test.t (id INT PRIMARY KEY, v INT);
INSERT INTO test.t VALUES (1, 1), (2, 2);
UPDATE test.t SET v = 3 WHERE id = 1;
TRUNCATE TABLE test.t;
INSERT INTO test.t VALUES (2, 5);
CREATE TABLE test.altered (id INT PRIMARY KEY);
INSERT INTO test.altered VALUES (1);
ALTER TABLE test.altered ADD COLUMN v INT DEFAULT 1;
"""


@pytest.fixture(scope="module")
def cleared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cleared")
    (path / "cleared.sql").write_text(CLEARED)
    ticdc_producer.run(path / "cleared.sql", out=path / "golden")
    return path / "golden"


def test_a_ddl_that_clears_the_table(spark: SparkSession, cleared: Path) -> None:
    assert [row[:] for row in _state(spark, cleared, "test.t").collect()] == [(2, 5)]


def test_the_state_at_a_time(spark: SparkSession, cleared: Path) -> None:
    versions = sorted(
        row["_commit_version"]
        for row in spark.read.format("ticdc")
        .options(rows="changes", table="test.t")
        .load(str(cleared))
        .select("_commit_version")
        .distinct()
        .collect()
    )
    states = [
        sorted(row[:] for row in _state(spark, cleared, "test.t", **{"state-at": str(version)}).collect())
        for version in versions
    ]
    assert states == [[(1, 1), (2, 2)], [(1, 3), (2, 2)], [(2, 5)]]


def test_a_ddl_that_changes_rows_without_row_events(spark: SparkSession, cleared: Path) -> None:
    """A golden folder has the rows at the end."""
    assert [row[:] for row in _state(spark, cleared, "test.altered").collect()] == [(1, 1)]
    with pytest.raises(PySparkException, match="the rows cannot follow the DDL 'ALTER TABLE"):
        _state(spark, cleared, "test.altered", **{"state-at": str(1 << 62)}).collect()
