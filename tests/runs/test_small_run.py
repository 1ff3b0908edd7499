"""A small history runs in one process, and gives the same folder as the way for large ones."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import py4j.clientserver
import pytest
from py4j.protocol import MEMORY_COMMAND_NAME
from pyspark.sql import SparkSession

import ticdc_producer.runs.run as run_module
import ticdc_producer.runs.verify as verify_module
from tests.golden_events import GOLDEN
from ticdc_producer import api
from ticdc_producer.errors import TopicError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs import simulate
from ticdc_producer.runs.prepare import prepare
from ticdc_producer.runs.small_run import is_small
from ticdc_producer.targets.golden import json_lines
from ticdc_producer.targets.golden import write as golden_write
from ticdc_producer.targets.kafka.write import PartitionWriter
from ticdc_producer.verifier.check import CheckedStream

WRITTEN, VERIFIED = (2, 400), (4, 600)
"""The most Spark jobs, and the most calls to the JVM."""


def _not_here(*_arguments: object, **_options: object) -> NoReturn:
    raise AssertionError("called in the driver")


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail that needs a session."""
    for module, name in (
        (run_module, "spark_session"),
        (verify_module, "topic_session"),
        (verify_module, "folder_session"),
    ):
        monkeypatch.setattr(module, name, _not_here)


@pytest.mark.usefixtures("without_spark")
@pytest.mark.parametrize("scenario", ["seed_t1", "bank"])
def test_a_small_scenario_needs_no_spark(kafka: EmbeddedKafka, tmp_path: Path, scenario: str) -> None:
    uri = f"kafka://{kafka.bootstrap}/{scenario}-without-spark?protocol=open-protocol&partition-num=2"
    assert api.run(scenario, sink_uri=uri, out=tmp_path / "golden").ok
    assert api.run(scenario, dry_run=True).ok
    assert api.verify(sink_uri=uri, scenario=scenario).ok
    assert api.verify(folder=tmp_path / "golden", scenario=scenario).ok
    assert api.verify(folder=tmp_path / "golden").ok


@pytest.mark.parametrize(("longest", "small"), [(10_000, True), (20_000, False)])
def test_the_bytes_of_generated_rows_decide_whether_a_run_is_small(
    tmp_path: Path, longest: int, small: bool
) -> None:
    scenario = tmp_path / "long.yaml"
    scenario.write_text(f"""\
version: 1
changefeed: {{sink-uri: 'kafka:///t?protocol=open-protocol'}}
steps:
  - sql: CREATE TABLE test.t (id INT PRIMARY KEY, v LONGTEXT NOT NULL);
  - generate: {{table: test.t, rows: 2000, transactions: 1, columns: {{v: {{length: [1, {longest}]}}}}}}
""")
    assert is_small(prepare(scenario)) == small


@pytest.mark.parametrize("scenario", ["seed_t1", "bank", "orders"])
@pytest.mark.parametrize(("verified", "most"), [(False, WRITTEN), (True, VERIFIED)])
def test_a_run_in_workers_needs_few_jobs_and_few_calls_to_the_jvm(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scenario: str,
    verified: bool,
    most: tuple[int, int],
) -> None:
    calls = 0
    send = py4j.clientserver.JavaClient.send_command

    def counted(client: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += not arguments[0].startswith(MEMORY_COMMAND_NAME)  # objects of earlier tests are released
        return send(client, *arguments, **options)

    context, group = spark.sparkContext, str(tmp_path)
    context.setJobGroup(group, "a small run")
    try:
        monkeypatch.setattr(py4j.clientserver.JavaClient, "send_command", counted)
        api.run(scenario, out=tmp_path / "golden", verify_output=verified, in_worker=True)
        monkeypatch.undo()
        jobs = context.statusTracker().getJobIdsForGroup(group)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    most_jobs, most_calls = most
    assert 1 <= len(jobs) <= most_jobs
    assert 1 <= calls <= most_calls


def test_a_worker_encodes_and_writes(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate, "encode_partition", _not_here)
    monkeypatch.setattr(PartitionWriter, "write", _not_here)
    monkeypatch.setattr(json_lines, "message_lines", _not_here)
    uri = f"kafka://{kafka.bootstrap}/written-by-a-worker?protocol=open-protocol&partition-num=2"
    report = api.run("seed_t1", sink_uri=uri, out=tmp_path / "golden", verify_output=False, in_worker=True)
    written = (tmp_path / "golden" / "messages.jsonl").read_text().splitlines()
    read = [*api.decode(sink_uri=uri)]
    assert len(written) == report.counts.total
    assert sum(report.counts.events.values()) == len(read)


@pytest.mark.usefixtures("without_spark")
def test_a_topic_that_holds_messages_is_refused_before_spark_starts(
    kafka: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = f"kafka://{kafka.bootstrap}/holds-messages?protocol=open-protocol&partition-num=2"
    api.run("seed_t1", sink_uri=uri, verify_output=False)
    monkeypatch.setattr(run_module, "is_small", lambda _job: False)
    with pytest.raises(TopicError, match="already holds messages"):
        api.run("seed_t1", sink_uri=uri)


def test_the_verdict_is_on_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte that changes on the disk is found, although the run knows what it wrote."""
    write = golden_write.write_manifest

    def damaged(folder: Path, content: dict[str, Any]) -> None:
        lines = (folder / "messages.jsonl").read_text().splitlines()
        message = json.loads(lines[-1])
        value = bytearray(b64decode(message["value"]))
        value[-2] ^= 1
        lines[-1] = json.dumps(message | {"value": b64encode(value).decode()})
        (folder / "messages.jsonl").write_text("\n".join(lines) + "\n")
        write(folder, content)

    monkeypatch.setattr(golden_write, "write_manifest", damaged)
    report = api.run(GOLDEN / "visible" / "keys.sql", out=tmp_path / "damaged")
    assert report.verdict is not None
    assert not report.verdict.ok


def test_a_worker_verifies_a_topic(
    spark: SparkSession, kafka: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CheckedStream, "findings", property(_not_here))
    uri = f"kafka://{kafka.bootstrap}/verified-by-a-worker?protocol=open-protocol&partition-num=2"
    assert api.run("bank", sink_uri=uri, in_worker=True).ok
    assert api.verify(sink_uri=uri, scenario="bank", in_worker=True).ok


def test_a_worker_verifies_a_folder_for_a_service(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verification in this process could not be cancelled."""
    monkeypatch.setattr(CheckedStream, "findings", property(_not_here))
    assert api.run("seed_t1", out=tmp_path / "verified", in_worker=True).ok
    assert api.verify(folder=tmp_path / "verified", in_worker=True).ok


PARTITIONS = "&partition-num=3"
BOTH_WAYS: list[tuple[str | Path, str, Sequence[str], Sequence[str]]] = [
    (GOLDEN / "visible" / "keys.sql", "open-protocol", [], []),
    (GOLDEN / "visible" / "partition.sql", "canal-json&time-zone=Asia/Shanghai", [], []),
    (GOLDEN / "visible" / "temporal.sql", "debezium&profile=new", [], []),
    ("bank", "simple", ["steps[1].generate.transactions=40"], ["lost-row", "duplicate-event"]),
    ("ddl-mix", "open-protocol&max-batch-size=3", ["steps[1].generate.transactions=100"],
     ["replay-one-table:rate=0.3", "regrouped-batches:rate=0.5", "unsplit", "duplicate-message"]),
]  # fmt: skip


@pytest.mark.parametrize(("scenario", "protocol", "overrides", "inject"), BOTH_WAYS)
def test_both_ways_write_the_same_files(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scenario: str | Path,
    protocol: str,
    overrides: Sequence[str],
    inject: Sequence[str],
) -> None:
    files = []
    for small in (True, False):
        monkeypatch.setattr(run_module, "is_small", lambda _job, small=small: small)
        out = tmp_path / str(small)
        uri = f"kafka:///both?protocol={protocol}{PARTITIONS}"
        api.run(scenario, sink_uri=uri, out=out, overrides=overrides, inject=inject, verify_output=False)
        files.append({path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()})
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("scenario", "protocol", "inject"),
    [
        (GOLDEN / "visible" / "keys.sql", "open-protocol", []),
        ("bank", "canal-json&enable-tidb-extension=true", ["lost-row", "duplicate-event", "wrong-partition"]),
        (GOLDEN / "visible" / "partition.sql", "simple", ["changed-duplicate"]),
        ("migrations", "canal-json&enable-tidb-extension=true", []),
    ],
)
def test_both_ways_give_the_same_verdict(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scenario: str | Path,
    protocol: str,
    inject: Sequence[str],
) -> None:
    found = []
    for small in (True, False):
        monkeypatch.setattr(run_module, "is_small", lambda _job, small=small: small)
        uri = f"kafka:///verdict?protocol={protocol}{PARTITIONS}"
        report = api.run(scenario, sink_uri=uri, out=tmp_path / str(small), inject=inject)
        found.append((report.verdict, report.preview))
    assert found[0] == found[1]
    assert found[0][0] is not None
    assert found[0][0].ok == (not inject)
