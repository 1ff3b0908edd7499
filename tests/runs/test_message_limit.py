"""Messages around max-message-bytes, to the byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ticdc_producer import run
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD
from ticdc_producer.targets.golden import read as source

LIMIT, ROWS = 4096, 4001
slow = pytest.mark.slow


def _sizes(folder: Path) -> Iterator[int]:
    for record in source.records(folder / "messages.jsonl"):
        if record.type == "row":
            yield len(record.key or b"") + len(record.value or b"") + RECORD_OVERHEAD


@slow  # fast: protocols/test_open_properties.py
@pytest.mark.parametrize(
    "protocol", ["open-protocol", "canal-json", "canal-json&enable-tidb-extension=true", "simple"]
)
def test_rows_go_up_to_the_limit_and_not_a_byte_above(
    spark: SparkSession, tmp_path: Path, protocol: str
) -> None:
    report = run("message-limit", sink_uri=f"kafka:///t?protocol={protocol}", out=tmp_path / "out")
    assert report.ok, report.to_json()
    sizes = set(_sizes(tmp_path / "out"))
    assert {LIMIT - 1, LIMIT} <= sizes
    assert max(sizes) == LIMIT
    assert report.counts.rejected > 0
    assert report.counts.by_kind()["row"]["events"] + report.counts.rejected == ROWS


@slow  # fast: protocols/test_craft_sizes.py
@pytest.mark.parametrize("protocol", ["craft", "debezium"])
def test_protocols_without_a_limit_for_one_row_send_all(
    spark: SparkSession, tmp_path: Path, protocol: str
) -> None:
    """Craft ends a message with the row that makes it too large; Debezium does not look at sizes."""
    report = run("message-limit", sink_uri=f"kafka:///t?protocol={protocol}", out=tmp_path / "out")
    assert report.ok, report.to_json()
    assert report.counts.by_kind()["row"]["events"] == ROWS
    assert max(_sizes(tmp_path / "out")) > LIMIT


@slow
@pytest.mark.parametrize("protocol", ["open-protocol", "canal-json&enable-tidb-extension=true"])
def test_larger_rows_go_as_their_handle_key(spark: SparkSession, tmp_path: Path, protocol: str) -> None:
    option = "large-message-handle.large-message-handle-option=handle-key-only"
    report = run(
        "message-limit",
        sink_uri=f"kafka:///t?protocol={protocol}",
        out=tmp_path / "out",
        overrides=[f"changefeed.sink.kafka-config.{option}"],
    )
    assert report.ok, report.to_json()
    assert report.counts.by_kind()["row"]["events"] == ROWS
    events = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text().splitlines()]
    assert {bool(event.get("handle_key_only")) for event in events if event["kind"] == "row"} == {True, False}
    assert max(_sizes(tmp_path / "out")) == LIMIT
