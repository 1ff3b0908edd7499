"""The option ``scenario``: the messages that a scenario would give, without Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict

import ticdc_producer
from pyspark_ticdc import DefaultSource
from pyspark_ticdc.scenario_messages import Pace
from tests.pyspark_ticdc.streams import MicroBatches, SparkBatches, events_of
from ticdc_producer.errors import ProducerError

GENERATED = """
version: 1
name: generated
changefeed: {sink-uri: "kafka:///generated?protocol=canal-json&enable-tidb-extension=true&partition-num=3"}
steps:
  - sql: "CREATE TABLE test.g (id BIGINT PRIMARY KEY, v VARCHAR(20), n INT);"
  - generate: {table: test.g, rows: 1000, transactions: 101000, mix: {insert: 20, update: 70, delete: 10}}
"""


@pytest.mark.parametrize("name", ["seed_t1", pytest.param("bank", marks=pytest.mark.slow)])
def test_the_messages_are_those_of_a_run(spark: SparkSession, tmp_path: Path, name: str) -> None:
    assert_messages_of_a_run(spark, name, tmp_path / "golden")


def test_a_recording_gives_the_messages_of_its_replay(spark: SparkSession, tmp_path: Path) -> None:
    """With the events that came again."""
    ticdc_producer.run("seed_t1", out=tmp_path / "topic", inject=["replay-suffix"])
    recording = ticdc_producer.record(folder=tmp_path / "topic", out=tmp_path / "recording")
    assert recording.repeated
    assert_messages_of_a_run(spark, str(tmp_path / "recording"), tmp_path / "golden")


def assert_messages_of_a_run(spark: SparkSession, scenario: str, folder: Path) -> None:
    """Assert that the source gives the messages that ``run`` writes into a folder."""
    ticdc_producer.run(scenario, out=folder)
    reader = spark.read.format("ticdc").option("rows", "messages")
    compared = ("topic", "partition", "offset", "key", "value", "timestamp")
    expected, actual = (
        sorted(tuple(row[column] for column in compared) for row in frame.collect())
        for frame in (reader.load(str(folder)), reader.option("scenario", scenario).load())
    )
    assert actual == expected


def test_the_state_of_a_scenario(spark: SparkSession, tmp_path: Path) -> None:
    """Options of TiCDC replace the scenario's sink URI."""
    options = {"rows": "state", "scenario": "bank", "table": "bank.accounts", "protocol": "simple"}
    state = spark.read.format("ticdc").options(**options).option("partition-num", "2").load()
    ticdc_producer.run("bank", out=tmp_path / "golden")
    outcome = ticdc_producer.verify_state(
        tmp_path / "golden", {"bank.accounts": state}, tables=["bank.accounts"]
    )
    assert outcome.ok, outcome


@pytest.mark.slow  # fast: runs/test_change_log.py
def test_generated_volume_is_simulated_by_partition(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "generated.yaml"
    file.write_text(GENERATED)
    options = {"rows": "changes", "scenario": str(file), "table": "test.g"}
    changes = spark.read.format("ticdc").options(**options).load()
    assert changes.rdd.getNumPartitions() == 3
    kinds = {row[0]: row[1] for row in changes.groupBy("_change_type").count().collect()}
    assert kinds["update_preimage"] == kinds["update_postimage"] > 60_000
    state = spark.read.format("ticdc").options(**{**options, "rows": "state"}).load()
    assert state.count() == kinds["insert"] - kinds["delete"]


def test_a_scenario_as_a_stream(tmp_path: Path) -> None:
    """Its micro-batches are the same when they are read again."""
    options = {"scenario": "seed_t1", "maxOffsetsPerTrigger": "6"}
    batches = MicroBatches(**options).read()
    ticdc_producer.run("seed_t1", out=tmp_path / "golden")
    rows = [row for batch in batches for row in batch]
    assert events_of(rows) == events_of(ticdc_producer.decode(folder=tmp_path / "golden"))
    assert len(batches) > 2
    assert MicroBatches(**options).read() == batches


def test_parameters_of_a_scenario_whose_name_is_no_topic(tmp_path: Path) -> None:
    """The topic is that of a run."""
    file = tmp_path / "orders & customers.sql"
    file.write_text("CREATE TABLE test.t (id INT PRIMARY KEY); INSERT INTO test.t VALUES (1);")
    (rows,) = MicroBatches(scenario=str(file), protocol="canal-json").read()
    assert {row["topic"] for row in rows} == {"orders___customers"}


def test_a_stream_of_a_scenario_with_a_pace_ends_with_its_messages() -> None:
    """The trigger ``availableNow`` reads all messages, whatever the pace is."""
    assert sum(map(len, MicroBatches(scenario="seed_t1", rowsPerSecond="1").read())) == 15


@pytest.mark.parametrize(
    ("read", "ends"),
    [((0, 0), [(0, 0), (15, 5), (22, 7), (30, 10)]), ((12, 4), [(12, 4), (27, 9), (30, 10), (30, 10)])],
    ids=["from the start", "from a checkpoint"],
)
def test_messages_become_available_at_the_pace(read: tuple[int, int], ends: list[tuple[int, int]]) -> None:
    """Ten per second, in proportion to the messages of the partitions, after those that were read before."""
    seconds = iter([70.0, 72.0, 73.0, 74.0])
    pace = Pace(10, clock=lambda: next(seconds))
    counts, starts = ({("t", 0): a, ("t", 1): b} for a, b in ((30, 10), read))
    assert [tuple(pace.ends(counts, starts).values()) for _ in ends] == ends


@pytest.mark.slow
def test_spark_reads_a_scenario_as_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    stream = SparkBatches(spark, tmp_path / "checkpoint", scenario="bank", maxOffsetsPerTrigger="1000")
    ticdc_producer.run("bank", out=tmp_path / "golden")
    rows = [row for batch in stream.read() for row in batch]
    assert events_of(rows) == events_of(ticdc_producer.decode(folder=tmp_path / "golden"))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"scenario": "bnak"}, "did you mean"),
        ({"scenario": "bank", "path": "/tmp"}, "give exactly one source"),
        ({"scenario": "bank", "rowsPerSecond": "5"}, "option 'rowsPerSecond' is not an option of read"),
    ],
    ids=["unknown", "two sources", "pace of a batch"],
)
def test_options_that_are_refused(options: dict[str, str], error: str) -> None:
    source = DefaultSource(CaseInsensitiveDict(options))
    with pytest.raises(ProducerError) as refusal:
        source.reader(source.schema()).partitions()
    assert error in str(refusal.value)
