"""``--only messages``: the same messages in one pass, and no other files."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer.errors import ArgumentError, EncodeError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.run_report import Progress

OVERRIDES = ["steps[1].generate.transactions=30", "steps[1].generate.rows=20"]
TOO_LARGE = """
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5000));
INSERT INTO t VALUES (1, 'small');
INSERT INTO t VALUES (2, REPEAT('x', 4000));
"""
SMALL_MESSAGES = "kafka:///t?protocol=open-protocol&partition-num=2&max-message-bytes=1024"


def test_the_messages_are_those_of_a_whole_run(spark: SparkSession, tmp_path: Path) -> None:
    whole = ticdc_producer.run("bank", overrides=OVERRIDES, out=tmp_path / "whole")
    alone = ticdc_producer.run("bank", overrides=OVERRIDES, out=tmp_path / "alone", messages_only=True)
    assert alone.counts == whole.counts
    assert alone.verdict is None
    assert alone.ok
    [lines] = (tmp_path / "whole").glob("messages.jsonl")
    files = spark.read.parquet(str(tmp_path / "alone" / "messages.parquet"))
    in_order = files.orderBy("topic", "partition", "offset").select("key", "value").collect()
    expected = [json.loads(line) for line in lines.read_text().splitlines()]
    decoded = [tuple(b64decode(line[name]) for name in ("key", "value")) for line in expected]
    assert [(bytes(row.key), bytes(row.value)) for row in in_order] == decoded
    assert sorted(path.name for path in (tmp_path / "alone").iterdir()) == [
        "changefeed.toml",
        "manifest.json",
        "messages.parquet",
    ]
    assert ticdc_producer.verify(folder=tmp_path / "alone", scenario="bank", overrides=OVERRIDES).ok


def test_a_refused_row_leaves_no_folder(spark: SparkSession, tmp_path: Path) -> None:
    script = tmp_path / "large.sql"
    script.write_text(TOO_LARGE)
    with pytest.raises(EncodeError):
        ticdc_producer.run(script, sink_uri=SMALL_MESSAGES, out=tmp_path / "out", messages_only=True)
    assert [path.name for path in tmp_path.iterdir()] == ["large.sql"]
    report = ticdc_producer.run(
        script, sink_uri=SMALL_MESSAGES, out=tmp_path / "out", messages_only=True, overrides=["on-error=skip"]
    )
    assert [entry["table"] for entry in report.skipped] == ["test.t"]
    assert report.counts.by_kind()["row"]["events"] == 1


def test_into_kafka(kafka: EmbeddedKafka) -> None:
    seen: list[Progress] = []
    uri = f"kafka://{kafka.bootstrap}/only?protocol=open-protocol&partition-num=4"
    report = ticdc_producer.run(
        "bank", overrides=OVERRIDES, sink_uri=uri, messages_only=True, on_progress=seen.append
    )
    written = [progress.messages for progress in seen]
    assert written == sorted(written)
    assert written[-1] == report.counts.total
    # The messages are not counted before: the total is an estimate, and None until there is one.
    assert all(progress.total is None or progress.total >= progress.messages for progress in seen)
    assert report.verdict is None
    verdict = ticdc_producer.verify(sink_uri=uri, scenario="bank", overrides=OVERRIDES)
    assert verdict.ok, verdict.to_json()
    assert verdict.kinds["row"] == report.counts.by_kind()["row"]["events"]


def test_it_cannot_be_combined_with_state_at(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="`messages_only` cannot be combined with `state_at`"):
        ticdc_producer.run("seed_t1", out=tmp_path / "out", messages_only=True, state_at=[1])
