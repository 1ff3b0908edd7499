"""``run --replace`` and ``--keep --out``: the loop of edit and run."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.kafka_topic import read_topic
from ticdc_producer.errors import FolderError, ScenarioError
from ticdc_producer.kafka.embedded import EmbeddedKafka

SCRIPT = "CREATE TABLE test.a (id INT PRIMARY KEY);\nINSERT INTO test.a VALUES (1), (2);\n"


def _uri(kafka: EmbeddedKafka, topic: str, partitions: int) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=canal-json&partition-num={partitions}"


def test_a_run_replaces_topic_and_folder(spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path) -> None:
    script, out = tmp_path / "s.sql", tmp_path / "golden"
    script.write_text(SCRIPT)
    out.mkdir()
    first = ticdc_producer.run(script, sink_uri=_uri(kafka, "replaced", 1), out=out)
    script.write_text(SCRIPT + "DELETE FROM test.a WHERE id = 1;")
    second = ticdc_producer.run(script, sink_uri=_uri(kafka, "replaced", 2), out=out, replace=True)
    assert first.ok
    assert second.ok
    assert second.counts.total != first.counts.total
    assert sum(map(len, read_topic(kafka.bootstrap, "replaced").values())) == second.counts.total
    assert sum(1 for _ in ticdc_producer.decode(folder=out)) == sum(second.counts.events.values())


def test_nothing_is_deleted_if_the_scenario_is_wrong(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    script = tmp_path / "s.sql"
    script.write_text(SCRIPT)
    ticdc_producer.run(script, sink_uri=_uri(kafka, "precious", 1), verify_output=False)
    before = read_topic(kafka.bootstrap, "precious")
    script.write_text(SCRIPT + "INSERT INTO test.a VALUES (1);")
    with pytest.raises(ScenarioError):
        ticdc_producer.run(script, sink_uri=_uri(kafka, "precious", 1), replace=True)
    assert read_topic(kafka.bootstrap, "precious") == before


def test_a_folder_of_the_user_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("three years")
    with pytest.raises(FolderError, match="this is not a golden folder"):
        ticdc_producer.run("seed_t1", out=tmp_path, replace=True)
    assert (tmp_path / "thesis.txt").read_text() == "three years"


def test_keep_with_a_folder_writes_both(spark: SparkSession, tmp_path: Path) -> None:
    report = ticdc_producer.run("seed_t1", out=tmp_path / "golden", keep=True)
    try:
        assert report.ok
        address = report.target.split("/")[2]
        lines = (tmp_path / "golden" / "messages.jsonl").read_text().splitlines()
        assert sum(map(len, read_topic(address, "seed_t1").values())) == len(lines)
    finally:
        os.kill(report.broker_pid, signal.SIGTERM)
