"""TIMESTAMP in the changefeed's time zone: in the stream, and in the rows that are expected at the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ticdc_producer

SCENARIO = """\
version: 1
steps:
  - sql: |
      CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP(2) NULL, day DATETIME);
      INSERT INTO t VALUES (1, '2020-01-01 00:00:00.5', '2020-01-01'), (2, NULL, NULL);
      CREATE TABLE g (id INT PRIMARY KEY, at TIMESTAMP NOT NULL);
  - generate: {table: test.g, transactions: 5, mix: {insert: 1}}
"""


@pytest.mark.usefixtures("spark")
def test_the_expected_rows_stand_in_the_zone_of_the_stream(tmp_path: Path) -> None:
    scenario = tmp_path / "zoned.yaml"
    scenario.write_text(SCENARIO)
    uri = "kafka:///zoned?partition-num=1&time-zone=Asia/Tokyo"
    report = ticdc_producer.run(scenario, sink_uri=uri, out=tmp_path / "golden")
    assert report.ok, report.to_json()
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert report.verdict.state.rows == 2 + 5
    lines = (tmp_path / "golden" / "state" / "test.t.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {"id": "1", "at": "2020-01-01 09:00:00.50", "day": "2020-01-01 00:00:00"}
