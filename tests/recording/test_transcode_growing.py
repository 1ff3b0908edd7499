"""A topic that grows is transcoded step by step: the messages are those of the whole topic, each once."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.kafka_topic import number_of_messages, read_topic
from tests.recording.test_record import messages, scenario
from ticdc_producer import ProducerError, decode, run, transcode, transcode_growing
from ticdc_producer.cli import main
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.recording.growth import Growth, Increment, PartitionGrowth
from ticdc_producer.runs.following.transcoding_state import TranscodingState, TranscodingStep

PARTITIONS = 3
IDLE = 0.6
TOPIC_PER_TABLE = {"sink": {"dispatchers": [{"matcher": ["*.*"], "topic": "{topic}_{table}"}]}}


def growing(folder: Path, protocol: str) -> list[dict[str, Any]]:
    """The messages of a topic, in an order in which they may have been written."""
    run(
        scenario(),
        sink_uri=f"kafka:///a?protocol={protocol}&partition-num={PARTITIONS}",
        out=folder,
        engine="local",
    )
    lines = messages(folder)
    parts = [[line for line in lines if line["partition"] == number] for number in range(PARTITIONS)]
    positions = [(number, at) for number, part in enumerate(parts) for at in range(len(part))]
    positions.sort(key=lambda position: (position[1] + 1) / len(parts[position[0]]))
    return [parts[number][at] for number, at in positions]


def produce(kafka: EmbeddedKafka, topic: str, lines: Sequence[dict[str, Any]]) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for line in lines:
        key, value = (
            None if line.get(name) is None else base64.b64decode(line[name]) for name in ("key", "value")
        )
        producer.produce(topic, key=key, value=value, partition=line["partition"])
    producer.flush()


def create(kafka: EmbeddedKafka, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()
    while topic not in admin.list_topics(timeout=60).topics:  # the controller knows it before the broker
        continue


@pytest.mark.parametrize(
    ("source", "target", "rules", "size"),
    [
        ("open-protocol", "canal-json", None, 40),
        ("simple", "open-protocol", TOPIC_PER_TABLE, 40),
        pytest.param("open-protocol", "canal-json", None, 20, marks=pytest.mark.slow),
        pytest.param("simple", "open-protocol", TOPIC_PER_TABLE, 20, marks=pytest.mark.slow),
        pytest.param("canal-json&enable-tidb-extension=true", "craft", None, 20, marks=pytest.mark.slow),
    ],
)
def test_a_topic_that_grows_gives_the_messages_of_the_whole_one(
    tmp_path: Path, kafka: EmbeddedKafka, source: str, target: str, rules: dict[str, Any] | None, size: int
) -> None:
    """``size`` messages arrive at a time."""
    name = f"grows_{target.partition('-')[0]}_{size}"
    uri = f"kafka://{kafka.bootstrap}/{name}_{{}}?protocol={{}}&partition-num={{}}"
    lines = growing(tmp_path / "golden", source)
    create(kafka, f"{name}_a")
    steps = 0
    for begin in range(0, len(lines), size):
        produce(kafka, f"{name}_a", lines[begin : begin + size])
        result = transcode_growing(
            sink_uri=uri.format("a", source, PARTITIONS),
            to_sink_uri=uri.format("b", target, 2),
            to_config=rules and _of_topic(rules, f"{name}_b"),
            checkpoint=tmp_path / "checkpoint",
            idle=IDLE,
        )
        steps += result.steps
    assert steps > 1
    transcode(
        sink_uri=uri.format("a", source, PARTITIONS),
        to_sink_uri=uri.format("c", target, 2),
        to_config=rules and _of_topic(rules, f"{name}_c"),
        engine="local",
    )
    tables = ("", "_items", "_notes", "_things") if rules else ("",)
    for table in tables:
        grown, whole = (read_topic(kafka.bootstrap, f"{name}_{topic}{table}") for topic in "bc")
        assert grown == whole


@pytest.mark.parametrize("queries", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_streaming_query_of_spark_writes_what_this_process_writes(
    queries: int, tmp_path: Path, kafka: EmbeddedKafka, spark: SparkSession
) -> None:
    """One process begins, Spark continues; nothing is new for a second query."""
    uri = f"kafka://{kafka.bootstrap}/streams{queries}_{{}}?protocol={{}}&partition-num={PARTITIONS}"
    lines = growing(tmp_path / "golden", "simple")
    create(kafka, f"streams{queries}_a")
    arguments: dict[str, Any] = {"sink_uri": uri.format("a", "simple"), "checkpoint": tmp_path / "checkpoint"}
    arguments |= {"to_sink_uri": uri.format("b", "open-protocol"), "idle": IDLE}
    produce(kafka, f"streams{queries}_a", lines[: len(lines) // 2])
    assert transcode_growing(**arguments, engine="local").steps
    produce(kafka, f"streams{queries}_a", lines[len(lines) // 2 :])
    steps = [transcode_growing(**arguments, engine="spark").steps for _ in range(queries)]
    assert steps[0]
    assert not any(steps[1:])
    transcode(sink_uri=arguments["sink_uri"], to_sink_uri=uri.format("c", "open-protocol"), engine="local")
    whole = read_topic(kafka.bootstrap, f"streams{queries}_c")
    assert read_topic(kafka.bootstrap, f"streams{queries}_b") == whole


def _of_topic(rules: dict[str, Any], topic: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(json.dumps(rules).replace("{topic}", topic))
    return content


def test_an_interrupted_step_goes_on_where_it_was(tmp_path: Path, kafka: EmbeddedKafka) -> None:
    uri = f"kafka://{kafka.bootstrap}/interrupted_{{}}?protocol={{}}&partition-num={PARTITIONS}"
    lines, checkpoint = growing(tmp_path / "golden", "open-protocol"), tmp_path / "checkpoint"
    arguments: dict[str, Any] = {
        "sink_uri": uri.format("a", "open-protocol"),
        "to_sink_uri": uri.format("b", "canal-json"),
        "checkpoint": checkpoint,
        "idle": IDLE,
    }
    create(kafka, "interrupted_a")
    produce(kafka, "interrupted_a", lines[: len(lines) // 2])
    assert transcode_growing(**arguments).steps
    before = msgspec.json.decode(checkpoint.read_bytes(), type=TranscodingState)
    produce(kafka, "interrupted_a", lines[len(lines) // 2 :])
    transcode(sink_uri=arguments["sink_uri"], to_sink_uri=uri.format("c", "canal-json"), engine="local")
    whole = read_topic(kafka.bootstrap, "interrupted_c")
    # The process had ended after the first message of one partition.
    source = read_topic(kafka.bootstrap, "interrupted_a")
    events = decode(sink_uri=arguments["sink_uri"])
    step = TranscodingStep(
        until=max(event["commit_ts"] for event in events if event["kind"] == "resolved"),
        ends={number: len(part) for number, part in source.items()},
        following={number: len(part) - 1 for number, part in source.items()},
        starts=before.ends,
    )
    checkpoint.write_bytes(msgspec.json.encode(msgspec.structs.replace(before, step=step)))
    partition, start = next(part[1:] for part in before.ends if part[2] + 1 < len(whole[part[1]]))
    key, value, _ = whole[partition][start]
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    producer.produce("interrupted_b", key=key, value=value, partition=partition)
    producer.flush()
    assert transcode_growing(**arguments).steps == 1
    assert read_topic(kafka.bootstrap, "interrupted_b") == whole
    # It had ended after the last one.
    checkpoint.write_bytes(msgspec.json.encode(msgspec.structs.replace(before, step=step)))
    assert transcode_growing(**arguments).steps == 1
    assert transcode_growing(**arguments).steps == 0
    assert read_topic(kafka.bootstrap, "interrupted_b") == whole
    # Another program writes.
    producer.produce("interrupted_b", key=b"k", value=b"v", partition=partition)
    producer.flush()
    checkpoint.write_bytes(msgspec.json.encode(before))
    with pytest.raises(ProducerError, match="another program has written to it"):
        transcode_growing(**arguments)
    assert number_of_messages(kafka.bootstrap, "interrupted_b") == sum(map(len, whole.values())) + 1


def test_a_checkpoint_belongs_to_one_transcoding(tmp_path: Path, kafka: EmbeddedKafka) -> None:
    uri = f"kafka://{kafka.bootstrap}/belongs_{{}}?protocol={{}}&partition-num=1"
    create(kafka, "belongs_a")
    arguments: dict[str, Any] = {"sink_uri": uri.format("a", "simple"), "checkpoint": tmp_path / "checkpoint"}
    arguments |= {"to_sink_uri": uri.format("b", "craft"), "idle": 0.0}
    state = TranscodingState(identity="of another one", offsets={})
    arguments["checkpoint"].write_bytes(msgspec.json.encode(state))
    with pytest.raises(ProducerError, match="of another source or target"):
        transcode_growing(**arguments)
    arguments["checkpoint"].write_bytes(b"{")
    with pytest.raises(ProducerError, match="the file is not a checkpoint of `transcode`"):
        transcode_growing(**arguments)
    for changed, match in (
        ({"sink_uri": uri.format("a", "canal-json")}, "no exact time stamps and no resolved events"),
        ({"to_sink_uri": uri.format("a", "craft")}, "belongs_a, which is the topic that is read"),
        ({"to_sink_uri": "kafka:///b"}, "written to topics of a broker"),
    ):
        with pytest.raises(ProducerError, match=match):
            transcode_growing(**arguments | changed)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--follow"], "--follow requires --checkpoint"),
        (["--idle", "1"], "--idle requires --follow"),
        (["--follow", "--checkpoint", "c", "--until", "1"], "--follow cannot be combined with --until"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    uris = ["--sink-uri", "kafka://h:1/a?protocol=simple", "--to-sink-uri", "kafka://h:1/b"]
    assert main(["transcode", *uris, *options]) == 2
    assert text in capsys.readouterr().err


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1, max_size=9), max_size=9),
    st.integers(0, 31),
)
def test_the_rest_is_read_from_an_offset_that_loses_nothing(
    batches: list[list[tuple[int, bool]]], ts: int
) -> None:
    partition, number = PartitionGrowth(begin=0), 0
    for events in batches:
        number += len(events)
        partition.add(_increment(number, events))
    times = [time for events in batches for time, _ in events]
    offset = Growth({0: partition}).offsets_after(ts)[0]
    assert all(time <= ts for time in times[:offset])
    assert offset == 0 or times[offset] <= ts
    assert partition.resolved == max(
        (time for events in batches for time, is_resolved in events if is_resolved), default=0
    )


def _increment(end: int, events: Sequence[tuple[int, bool]]) -> Increment:
    """Events, each with its commit-ts and whether it is a resolved event."""
    times = [time for time, _ in events]
    return Increment(
        partition=0,
        end=end,
        first=times[0],
        highest=max(times),
        resolved=max((time for time, is_resolved in events if is_resolved), default=0),
    )


def test_a_topic_is_complete_up_to_the_lowest_resolved_ts() -> None:
    first, second = PartitionGrowth(begin=0), PartitionGrowth(begin=7)
    growth = Growth({0: first, 1: second})
    assert growth.complete_ts == 0
    first.add(_increment(2, [(3, False), (9, True)]))
    second.add(_increment(8, [(5, False)]))
    assert growth.complete_ts == 0
    second.add(_increment(9, [(5, True)]))
    assert growth.complete_ts == 0, "the beginning of a partition is missing, and perhaps a part of a commit"
    second.add(_increment(10, [(8, True)]))
    assert growth.complete_ts == 8
    assert growth.offsets_after(8) == {0: 0, 1: 9}
    assert growth.ends == {0: 2, 1: 10}
