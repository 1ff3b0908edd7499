"""``run --dry-run`` counts everything and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.cli import main


def test_a_dry_run_counts_and_writes_nothing(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # Nobody listens at that address: a dry run does not even ask.
    uri = "kafka://127.0.0.1:1/nowhere?protocol=open-protocol&partition-num=2"
    arguments = ["run", "seed_t1", "--dry-run", "--out", str(tmp_path / "out"), "--sink-uri", uri]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["dry_run"] is True
    assert report["verdict"] is None
    assert report["kinds"]["row"]["events"] == 7
    assert set(report["partitions"]) == {"nowhere/0", "nowhere/1"}
    assert sum(counts["bytes"] for counts in report["partitions"].values()) > 0
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("dry run of seed_t1\n")
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_explains_the_number_of_row_events(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    scenario = tmp_path / "keys.sql"
    insert = "CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 1);\n"
    reasons = "a transaction has one event for all changes of a row, an UPDATE of a key has two"
    for more, line in {
        "UPDATE t SET v = 2;\n": None,
        "BEGIN; INSERT INTO t VALUES (2, 2); UPDATE t SET v = 3 WHERE id = 2; COMMIT;\n": (
            f"3 row changes are 2 row events: {reasons}"
        ),
    }.items():
        scenario.write_text(insert + more)
        assert main(["run", str(scenario), "--dry-run"]) == 0
        printed = capsys.readouterr().out.splitlines()
        assert [text for text in printed if " row changes are " in text] == ([line] if line else [])
