"""Messages of a recorded topic that do not decode: kept as bytes, and sent again at their positions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from tests.kafka_topic import read_topic
from tests.recording.test_record import PROTOCOLS, URI, golden, messages
from tests.recording.test_recorded_faults import BANK
from ticdc_producer import ProducerError, Recording, record, run, transcode, verify
from ticdc_producer.kafka.embedded import EmbeddedKafka

TRAPS = ["poison:times=3", "replay-suffix:times=1"]
HEARTBEAT = b"another-producer"


def damaged(folder: Path, protocol: str = PROTOCOLS[0], sql: str = BANK) -> Path:
    """A golden folder with messages of another program."""
    return golden(folder / "topic", protocol, sql, inject=TRAPS)


def recorded(topic: Path, out: Path, **options: Any) -> tuple[Recording, list[dict[str, Any]]]:
    """The report and the damaged messages of a recording."""
    report = record(folder=topic, out=out, skip_damaged=True, **options)
    faults = parquet.read_table(out / "faults.parquet").to_pylist()
    return report, [fault for fault in faults if fault["kind"] == "damage"]


def content(folder: Path) -> list[tuple[int, str | None, str]]:
    """The messages, without those that only describe tables."""
    return [
        (line["partition"], line["key"], line["value"])
        for line in messages(folder)
        if line["type"] != "bootstrap"
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_damaged_message_comes_at_its_position(tmp_path: Path, protocol: str) -> None:
    topic = damaged(tmp_path, protocol)
    report, damages = recorded(topic, tmp_path / "recording")
    assert report.damaged == report.damages == len(damages) == 3
    assert all(HEARTBEAT in damage["value"] and damage["error"] for damage in damages)
    again = run(tmp_path / "recording", out=tmp_path / "again")
    assert again.ok
    assert again.faults.unmet.count == 0
    sent = [fault["offset"] for fault in again.faults.occurrences if fault["trap"] == "poison"]
    assert len(sent) == 3
    if protocol != "simple":  # a description of a table may come before or after
        assert sorted(sent) == sorted(damage["offset"] for damage in damages)
    assert content(tmp_path / "again") == content(topic)
    assert not verify(folder=tmp_path / "again").ok
    assert run(tmp_path / "recording", out=tmp_path / "none", faults="none").verdict.ok


def test_a_damaged_message_needs_the_recorded_topology(tmp_path: Path) -> None:
    recorded(damaged(tmp_path), tmp_path / "recording")
    uri = f"{URI}open-protocol".replace("partition-num=3", "partition-num=2")
    report = run(tmp_path / "recording", sink_uri=uri, out=tmp_path / "two")
    assert report.ok
    assert [trap for trap, _ in report.faults.unmet.examples].count("poison") == 3
    assert "another-producer" not in str(content(tmp_path / "two"))


def test_a_masked_recording_has_positions_and_errors_alone(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("key: {file: key}\nrules: [{columns: ['*'], method: hash}]")
    (tmp_path / "key").write_text("a key of some length")
    topic = damaged(tmp_path)
    _, damages = recorded(topic, tmp_path / "recording", mask=tmp_path / "rules.yaml")
    assert {(damage["key"], damage["value"]) for damage in damages} == {(None, None)}
    assert all(damage["error"].startswith("OPEN-") for damage in damages)
    report = run(tmp_path / "recording", out=tmp_path / "again")
    assert [trap for trap, _ in report.faults.unmet.examples].count("poison") == 3


def test_a_part_of_a_topic_has_its_damaged_messages(tmp_path: Path) -> None:
    topic = damaged(tmp_path)
    _, damages = recorded(topic, tmp_path / "recording")
    first, *_, last = sorted(damage["delivered_ts"] for damage in damages)
    _, later = recorded(topic, tmp_path / "later", since=str(first))
    _, earlier = recorded(topic, tmp_path / "earlier", until=str(last - 1))
    assert min(damage["delivered_ts"] for damage in later) > first
    assert 0 < len(earlier) < 3
    for name, number in (("later", len(later)), ("earlier", len(earlier))):
        report = run(tmp_path / name, out=tmp_path / f"{name}-again")
        assert report.ok
        assert sum(fault["trap"] == "poison" for fault in report.faults.occurrences) == number


def test_a_message_before_all_events(tmp_path: Path) -> None:
    topic = golden(tmp_path / "topic", sql=BANK)
    lines = messages(topic)
    bad = {**lines[0], "value": "eA=="}
    moved = [{**line, "offset": line["offset"] + (line["partition"] == bad["partition"])} for line in lines]
    (tmp_path / "m.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in [bad, *moved]))
    record(
        sink_uri=f"{URI}{PROTOCOLS[0]}", messages=tmp_path / "m.jsonl", out=tmp_path / "r", skip_damaged=True
    )
    assert run(tmp_path / "r", out=tmp_path / "again").ok
    values = ("partition", "offset", "key", "value")
    assert sorted(tuple(line[name] for name in values) for line in messages(tmp_path / "again")) == sorted(
        tuple(line[name] for name in values) for line in [bad, *moved]
    )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_topic_gets_the_damaged_messages(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, engine: Any
) -> None:
    topic = damaged(tmp_path)
    uri = f"{URI}{PROTOCOLS[0]}".replace("kafka:///shop", f"kafka://{kafka.bootstrap}/damaged-{engine}")
    result = transcode(folder=topic, to_sink_uri=uri, skip_damaged=True, engine=engine)
    assert result.ok
    values = [
        value
        for of_partition in read_topic(kafka.bootstrap, f"damaged-{engine}").values()
        for _, value, *_ in of_partition
    ]
    assert sum(HEARTBEAT in (value or b"") for value in values) == 3
    assert len(values) == len(messages(topic))


MISSING, NUMBERS = object(), object()
NEEDED = ("kind", "topic", "partition", "offset", "delivered_ts", "delivered_count")


@pytest.fixture(scope="module")
def topic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return damaged(tmp_path_factory.mktemp("damaged"))


def edited(folder: Path, out: Path, columns: dict[str, Any]) -> Path:
    """A recording with other columns in the file of its faults: the first value is another one."""
    recorded(folder, out)
    faults = parquet.read_table(out / "faults.parquet").sort_by("kind")  # a damaged message first
    for name, value in columns.items():
        index = faults.schema.get_field_index(name)
        values = faults.column(name).to_pylist()
        kind = pa.int8() if value is NUMBERS else faults.field(name).type
        faults = faults.remove_column(index)
        if value is not MISSING:
            content = [None] * len(values) if value is NUMBERS else [value, *values[1:]]
            faults = faults.add_column(index, name, pa.array(content, kind))
    parquet.write_table(faults, out / "faults.parquet")
    return out


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"error": MISSING}, "the recorded faults have no column 'error'"),
        ({"key": NUMBERS}, "column 'key' of the recorded faults is int8, not binary"),
        *(({name: None}, f"'{name}' of a recorded fault is missing or wrong: None") for name in NEEDED),
        ({"kind": "insert"}, "'kind' of a recorded fault is missing or wrong: 'insert'"),
        ({"partition": -1}, "'partition' of a recorded fault is missing or wrong: -1"),
    ],
)
def test_edited_faults_are_refused(topic: Path, tmp_path: Path, columns: Any, message: str) -> None:
    recording = edited(topic, tmp_path / "recording", columns)
    with pytest.raises(ProducerError, match=rf"faults\.parquet: {message}"):
        run(recording, out=tmp_path / "again")
    assert [path.name for path in tmp_path.iterdir()] == ["recording"]


def test_a_damaged_message_of_a_partition_that_does_not_exist(topic: Path, tmp_path: Path) -> None:
    recording = edited(topic, tmp_path / "recording", {"partition": 7})
    with pytest.raises(
        ProducerError, match=r"shop/7@\d+: the recording has a damaged message.*`faults` none"
    ):
        run(recording, out=tmp_path / "again")
    assert run(recording, out=tmp_path / "none", faults="none").ok
