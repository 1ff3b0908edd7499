"""Simple with ``send-bootstrap-to-all-partition=false``: partition 0 has the schemas of all rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ticdc_producer
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.oracle.scenario import oracle_of_scenario
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import Simulation, simulated_topic
from ticdc_producer.targets.record_batches import record_batches
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.verdict import Verdict

TABLES = "CREATE TABLE test.a (id INT PRIMARY KEY, v INT);\nCREATE TABLE test.b (id INT PRIMARY KEY);\n"
ROWS = "".join(f"INSERT INTO test.a VALUES ({number}, 0);\n" for number in range(6))
RULES = [{"matcher": ["test.*"], "partition": "index-value"}]
GENERATED = """
version: 1
steps:
  - sql: CREATE TABLE test.a (id INT PRIMARY KEY, v INT)
  - generate: {table: test.a, rows: 100001, transactions: 1}
resolved: {every: 1h}
"""


def _written(
    folder: Path, script: str, sink: dict[str, Any] | None = None, partitions: int = 3, **options: Any
) -> RunReport:
    folder.mkdir(exist_ok=True)
    path = folder / "script.sql"
    path.write_text(TABLES + script)
    content = {"send-bootstrap-to-all-partition": False, "dispatchers": RULES, **(sink or {})}
    uri = f"kafka:///t?protocol=simple&partition-num={partitions}"
    overrides = ["clock.build-time=2000-01-01T00:00:00Z"]
    return ticdc_producer.run(
        path, sink_uri=uri, config={"sink": content}, out=folder / "out", overrides=overrides, **options
    )


def _messages(folder: Path) -> dict[int, list[dict[str, Any]]]:
    """The messages by partition."""
    messages: dict[int, list[dict[str, Any]]] = {}
    for line in (folder / "out" / "messages.jsonl").read_text("utf-8").splitlines():
        message = json.loads(line)
        if message["type"] in ("row", "bootstrap"):
            messages.setdefault(message["partition"], []).append(message)
    return messages


def _types(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [message["type"] for message in messages]


def test_bootstrap_messages_are_in_the_first_partition_alone(tmp_path: Path) -> None:
    report = _written(tmp_path, ROWS)
    assert report.ok, report.to_json()
    everywhere = _messages(tmp_path)
    assert len([number for number, messages in everywhere.items() if "row" in _types(messages)]) > 1
    assert _types(everywhere[0]).count("bootstrap") == 1
    assert not [number for number in everywhere if number and "bootstrap" in _types(everywhere[number])]


def test_the_rows_of_all_partitions_are_counted(tmp_path: Path) -> None:
    """The second, fourth and sixth row need a schema, whatever their partitions."""
    _written(tmp_path, ROWS + "INSERT INTO test.b VALUES (1);", {"send-bootstrap-in-msg-count": 2})
    messages = [message for of_partition in _messages(tmp_path).values() for message in of_partition]
    rows = sorted({message["timestamp"] for message in messages if message["type"] == "row"})
    schemas = [message["timestamp"] for message in messages if message["type"] == "bootstrap"]
    assert schemas == [rows[0], rows[2], rows[4], rows[6]]


def test_no_partition_has_them_if_an_interval_is_0(tmp_path: Path) -> None:
    assert _written(tmp_path, ROWS, {"send-bootstrap-interval-in-sec": 0}).ok
    assert not [number for number, messages in _messages(tmp_path).items() if "bootstrap" in _types(messages)]


def test_with_one_partition_both_values_give_the_same_bytes(tmp_path: Path) -> None:
    for name, to_all in (("all", True), ("first", False)):
        sink = {"send-bootstrap-in-msg-count": 2, "send-bootstrap-to-all-partition": to_all}
        _written(tmp_path / name, ROWS, sink, partitions=1)
    assert _messages(tmp_path / "all") == _messages(tmp_path / "first")
    assert _types(_messages(tmp_path / "all")[0]) == ["bootstrap", "row", "row"] * 3


def _generated(folder: Path, *, to_all: bool) -> Job:
    path = folder / "many.yaml"
    path.write_text(GENERATED)
    sink = {"send-bootstrap-to-all-partition": to_all, "dispatchers": RULES}
    return prepare(path, sink_uri="kafka:///t?protocol=simple&partition-num=2", config={"sink": sink})


@pytest.mark.parametrize("to_all", [True, False])
def test_parts_draw_generated_rows_unless_a_partition_needs_those_of_others(
    tmp_path: Path, to_all: bool
) -> None:
    simulation = Simulation.of(_generated(tmp_path, to_all=to_all), LocalEngine())
    assert simulation.is_divided == to_all


@pytest.mark.slow
def test_generated_rows_are_counted(tmp_path: Path) -> None:
    report = run_job(_generated(tmp_path, to_all=False), RunOptions(out=tmp_path / "out", engine="local"))
    assert report.ok
    assert min(report.counts.messages["t", number, "row"] for number in (0, 1)) > 40_000
    assert [report.counts.messages["t", number, "bootstrap"] for number in (0, 1)] == [11, 0]


def _verdict(edit: Callable[[Record], Record]) -> Verdict:
    """The verdict on a topic whose messages are edited."""
    config = {"sink": {"send-bootstrap-to-all-partition": False, "dispatchers": RULES}}
    scenario = Scenario("s").sql(TABLES + ROWS)
    job, engine = prepare(scenario, sink_uri="kafka:///t?protocol=simple", config=config), LocalEngine()
    records = [
        Record(topic=topic, partition=partition, offset=offset, key=message.key, value=message.value)
        for (topic, partition), messages in simulated_topic(job).partitions.items()
        for offset, message in enumerate(messages)
    ]
    rows = engine.of_batches(record_batches(map(edit, records)), MESSAGES)
    with oracle_of_scenario(job, engine) as oracle:
        return verify_messages(engine, job.changefeed, Messages(rows), oracle).verdict


def test_a_bootstrap_message_in_another_partition_is_reported() -> None:
    def moved(record: Record) -> Record:
        is_schema = b"BOOTSTRAP" in (record.value or b"")
        return replace(record, partition=2, offset=1 << 20) if is_schema else record

    assert _verdict(lambda record: record).ok
    verdict = _verdict(moved)
    assert not verdict.ok
    assert verdict.comparison is not None
    assert verdict.comparison.different == 1


@pytest.mark.usefixtures("spark")
def test_spark_writes_the_same(tmp_path: Path) -> None:
    sink = {"send-bootstrap-in-msg-count": 2}
    for engine in ("local", "spark"):
        # Equal messages have equal verdicts.
        assert _written(tmp_path / engine, ROWS, sink, engine=engine, verify_output=engine == "local").ok
    assert _messages(tmp_path / "local") == _messages(tmp_path / "spark")
