"""What takes the exact commit-ts, which not all messages have: the rule ``ts``, and rows at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

import ticdc_producer

SQL = """CREATE DATABASE s; USE s;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n INT);
INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
UPDATE t SET n = 9 WHERE id = 1;
DELETE FROM t WHERE id = 2;
"""
BY_TS = {"sink": {"dispatchers": [{"matcher": ["*.*"], "partition": "ts"}]}}
EXACT = [
    "open-protocol",
    "canal-json&enable-tidb-extension=true",
    "debezium",
    "craft",
    "simple",
]
WITHOUT = ["canal-json", "canal", "maxwell", "avro"]


def _verdict(tmp_path: Path, protocol: str, *inject: str) -> ticdc_producer.Verdict:
    file = tmp_path / "orders.sql"
    file.write_text(SQL, "utf-8")
    uri = f"kafka:///orders?protocol={protocol}&partition-num=3"
    report = ticdc_producer.run(file, sink_uri=uri, config=BY_TS, inject=inject, out=tmp_path / "out")
    assert report.ok, report.to_json()
    assert report.verdict is not None
    return report.verdict


@pytest.mark.parametrize("protocol", WITHOUT)
def test_rows_without_exact_commit_ts_are_not_checked(protocol: str, tmp_path: Path) -> None:
    assert "INV-ROW-PARTITION" in str(_verdict(tmp_path, protocol).to_json()["not_checked"])


@pytest.mark.parametrize("protocol", EXACT)
def test_rows_with_exact_commit_ts_are_checked(protocol: str, tmp_path: Path) -> None:
    verdict = _verdict(tmp_path, protocol, "wrong-partition")
    assert "INV-ROW-PARTITION" not in str(verdict.to_json()["not_checked"])
    assert "INV-ROW-PARTITION" in {finding.id for finding in verdict.of_severity("error")}


def test_avro_has_the_exact_commit_ts_of_all_rows_but_deletes(tmp_path: Path) -> None:
    verdict = _verdict(tmp_path, "avro&enable-tidb-extension=true")
    assert "INV-ROW-PARTITION" in str(verdict.to_json()["not_checked"])


@pytest.mark.parametrize(("every", "after_ms", "tables"), [("100ms", 250, 0), ("1s", 2250, 1)])
def test_rows_at_a_time_are_compared_if_no_later_commit_is_in_its_second(
    every: str, after_ms: int, tables: int, tmp_path: Path
) -> None:
    scenario = ticdc_producer.Scenario("orders", clock={"every": every}).sql(SQL)
    time = 429918007904436226 + (after_ms << 18)
    report = ticdc_producer.run(
        scenario, sink_uri="kafka:///orders?protocol=maxwell", state_at=[time], out=tmp_path / "out"
    )
    assert report.ok, report.to_json()
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert report.verdict.state.tables == 1
    assert report.verdict.states[time].tables == tables
