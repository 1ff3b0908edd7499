"""The scenario ``all-traps`` contains every trap of SQL, in every protocol, and verifies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.protocols import registry
from ticdc_producer.runs.coverage import coverage

OF_SQL = {name for name, trap in catalogue().items() if trap.mechanism == "scenario"}
EVERYWHERE = {"update-after-delete"}  # only TiCDC new architecture sends it
NOT_IN = {
    protocol: EVERYWHERE | traps
    for protocol, traps in {
        "open-protocol": {"delete-without-value"},
        "craft": {"delete-without-value"},
        "canal": {
            "column-flags", "partitioned-table", "delete-without-value", "key-update", "key-swap",
            "unique-key-update",
        },
        "canal-json&enable-tidb-extension=true": {
            "column-flags", "partitioned-table", "delete-without-value",
        },
        "debezium&output-ddl=true&enable-tidb-extension=true": {
            "column-flags", "partitioned-table", "decimal-precision", "delete-without-value",
        },
        "avro&enable-tidb-extension=true&avro-enable-watermark=true": {
            "column-flags", "partitioned-table", "no-key-table", "delete-dispatch", "added-column-default",
            "key-update", "key-swap", "unique-key-update",
        },
    }.items()
}  # fmt: skip
"""Traps of SQL that the messages of a protocol do not carry."""


@pytest.mark.parametrize("protocol", NOT_IN)
def test_it_exercises_all_that_a_protocol_can_show(tmp_path: Path, protocol: str) -> None:
    folder = tmp_path / "golden"
    report = ticdc_producer.run(
        "all-traps",
        sink_uri=f"kafka:///t?protocol={protocol}&partition-num=4",
        overrides=["changefeed.force-replicate=false"] if protocol.startswith("avro") else [],
        out=folder,
    )
    assert report.ok, report.to_json()
    assert report.skipped == []
    without_key = {"log"} if protocol.startswith("avro") else set()
    assert {discarded["table"].rpartition(".")[2] for discarded in report.discarded} == without_key
    covered = coverage(folder=folder)
    assert {entry.trap for entry in covered.of_status("not_exercised")} & OF_SQL == set()
    assert {entry.trap for entry in covered.of_status("unobservable", "not_applicable")} & OF_SQL == NOT_IN[
        protocol
    ]
    for entry in covered.of_status("exercised"):
        assert entry.count > 0
        assert entry.first.startswith("t/")


def test_the_command_lists_injected_traps_of_the_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "golden"
    ticdc_producer.run("seed_t1", out=folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["faults"] = [{"trap": "lost-row", "places": 2}, {"trap": "nobody-knows", "places": 1}]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert main(["coverage", "--in", str(folder), "--json"]) == 0
    covered = {entry["trap"]: entry for entry in json.loads(capsys.readouterr().out)["traps"]}
    assert set(covered) == set(catalogue())
    assert (covered["lost-row"]["status"], covered["lost-row"]["count"]) == ("exercised", 2)
    assert covered["lost-message"]["status"] == "illegal"
    assert covered["duplicate-message"]["status"] == "not_exercised"


def test_a_small_folder_is_searched_without_spark(tmp_path: Path) -> None:
    folder = tmp_path / "golden"
    ticdc_producer.run("seed_t1", out=folder)
    code = (
        "import sys; from ticdc_producer.cli import main; main(sys.argv[1:]); print('pyspark' in sys.modules)"
    )
    command = [sys.executable, "-c", code, "coverage", "--in", str(folder)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.endswith("in open-protocol\nFalse\n")


def test_both_engines_report_the_same(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "golden"
    traps = ["duplicate-event:rate=0.2", "replay-suffix", "lost-row"]
    size = ["steps[1].generate.transactions=100"]
    ticdc_producer.run("ddl-mix", overrides=size, out=folder, inject=traps, verify_output=False)
    local = coverage(folder=folder, engine="local")
    assert {"duplicate-event", "replay-suffix"} <= {entry.trap for entry in local.of_status("exercised")}
    assert coverage(folder=folder, engine="spark") == local


def test_a_topic_is_read_as_a_folder_is(kafka: EmbeddedKafka) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_topics([NewTopic("covered", 2, 1)])["covered"].result()
    encoder, client = registry.encoder("open-protocol", {}), Producer({"bootstrap.servers": kafka.bootstrap})
    for partition, commit_ts in ((0, 10), (0, 20), (0, 10), (1, 10)):
        message = encoder.resolved(commit_ts)
        assert message is not None
        client.produce("covered", key=message.key, value=message.value, partition=partition)
    client.flush()
    uri = f"kafka://{kafka.bootstrap}/covered?protocol=open-protocol"
    by_trap = {entry.trap: entry for entry in coverage(sink_uri=uri).traps}
    assert by_trap["resolved-fallback"].first == "covered/0@2[0]"
    assert by_trap["idle-partition"].count == 2
    assert by_trap["duplicate-event"].status == "not_exercised"


def test_one_source_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments, complaint in (
        (["coverage"], "--sink-uri or --in"),
        (["coverage", "--in", str(tmp_path / "nowhere")], "no such folder"),
        (["coverage", "--sink-uri", "kafka:///t?protocol=craft"], "names no broker"),
    ):
        assert main(arguments) == 2
        assert complaint in capsys.readouterr().err
