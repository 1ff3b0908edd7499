"""``spark.readStream.format("ticdc")`` on a topic that grows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicCollection
from confluent_kafka.admin import AdminClient
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.streaming.datasource import ReadMaxRows

import ticdc_producer
from pyspark_ticdc import DefaultSource
from pyspark_ticdc.offsets import limited
from tests.pyspark_ticdc.streams import MicroBatches, SparkBatches, events_of
from ticdc_producer.errors import ArgumentError, ProducerError, TopicError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.spark.read_limit import check_limit


@pytest.fixture
def uri(kafka: EmbeddedKafka) -> Callable[[str], str]:
    return lambda topic: f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num=2"


def test_spark_continues_from_its_checkpoint(
    spark: SparkSession, tmp_path: Path, uri: Callable[[str], str]
) -> None:
    topic = uri("source_grows")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = SparkBatches(spark, tmp_path / "checkpoint", **{"sink-uri": topic})
    first = stream.read()
    ticdc_producer.run("seed_t1", sink_uri=topic, append=True, verify_output=False)
    second = stream.read()
    assert len(first) == len(second) == 1
    rows = [row for batch in (*first, *second) for row in batch]
    assert events_of(rows) == events_of(ticdc_producer.decode(sink_uri=topic))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 20))
def test_a_micro_batch_has_as_many_messages_as_its_limit(sizes: list[int], most: int) -> None:
    starts = {("t", number): 7 * number for number in range(len(sizes))}
    ends = {at: start + size for (at, start), size in zip(starts.items(), sizes, strict=True)}
    limited_ends = limited(starts, ends, ReadMaxRows(most))
    assert all(starts[at] <= end <= ends[at] for at, end in limited_ends.items())
    assert sum(limited_ends[at] - starts[at] for at in ends) == min(most, sum(sizes))


@given(st.lists(st.integers(0, 9000), min_size=1, max_size=6), st.integers(1, 20))
def test_no_partition_waits_forever(offsets: list[int], most: int) -> None:
    """Each one is read within as many micro-batches as there are partitions, wherever the others are."""
    starts = {("t", number): offset for number, offset in enumerate(offsets)}
    ends = {at: offset + 1000 for at, offset in starts.items()}
    read = starts
    for _ in offsets:
        read = limited(read, ends, ReadMaxRows(most))
    assert all(read[at] > start for at, start in starts.items())


@pytest.mark.slow
def test_spark_repeats_a_micro_batch_with_the_same_rows(
    spark: SparkSession, tmp_path: Path, uri: Callable[[str], str]
) -> None:
    topic = uri("source_repeated")
    ticdc_producer.run("bank", sink_uri=topic, inject=["replay-suffix"])
    options = {"sink-uri": topic, "duplicates": "drop", "maxOffsetsPerTrigger": "1000"}
    stream = SparkBatches(spark, tmp_path / "checkpoint", **options)
    batches = stream.read()
    assert len(batches) > 1
    assert stream.read() == []
    last = stream.forget_last_commit()
    assert stream.read() == batches[-1:]
    assert list(stream.rows) == [last]
    rows = [[row.asDict(recursive=True) for row in batch] for batch in batches]
    assert rows == _with_maps(MicroBatches(**options).read())


def _with_maps(batches: list[list[dict[str, object]]]) -> list[list[dict[str, object]]]:
    images = ("before", "after")
    return [
        [
            {name: dict(cell) if name in images and cell is not None else cell for name, cell in row.items()}
            for row in batch
        ]
        for batch in batches
    ]


def test_a_stream_continues_from_its_offset(uri: Callable[[str], str]) -> None:
    topic = uri("source_continued")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic})
    (first,) = stream.read()
    ticdc_producer.run("seed_t1", sink_uri=topic, append=True, verify_output=False)
    (second,) = stream.read()
    assert events_of([*first, *second]) == events_of(ticdc_producer.decode(sink_uri=topic))
    assert stream.read() == []


def test_a_micro_batch_has_at_most_the_messages_of_the_option(uri: Callable[[str], str]) -> None:
    topic = uri("source_limited")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    batches = MicroBatches(**{"sink-uri": topic}, rows="messages", maxOffsetsPerTrigger="4").read()
    assert sum(map(len, batches)) == 15
    assert max(map(len, batches)) <= 4


def test_the_ranges_of_micro_batches_are_the_whole_topic(uri: Callable[[str], str]) -> None:
    topic = uri("source_ranges")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic}, rows="ranges", maxOffsetsPerTrigger="4")
    batches = stream.read()
    assert max(sum(row["end"] - row["start"] for row in batch) for batch in batches) <= 4
    for partition, end in ((0, 5), (1, 10)):
        own = [row for batch in batches for row in batch if row["partition"] == partition]
        assert [row["topic"] for row in own] == ["source_ranges"] * len(own)
        assert [0, *(row["end"] for row in own)] == [*(row["start"] for row in own), end]


@pytest.mark.parametrize(
    "most", ["1", *(pytest.param(most, marks=pytest.mark.slow) for most in ("100", "1000000"))]
)
def test_duplicates_are_dropped_whatever_the_micro_batches_are(uri: Callable[[str], str], most: str) -> None:
    """The events are those of the same scenario without the trap."""
    topic, plain = uri(f"source_replayed_{most}"), uri(f"source_plain_{most}")
    scenario = "seed_t1" if most == "1" else "bank"
    ticdc_producer.run(scenario, sink_uri=topic, inject=["replay-suffix"])
    ticdc_producer.run(scenario, sink_uri=plain)
    expected = MicroBatches(**{"sink-uri": plain}).read()
    stream = MicroBatches(**{"sink-uri": topic}, duplicates="drop", maxOffsetsPerTrigger=most)
    batches = stream.read()
    compared = ("partition", "kind", "commit_ts", "op", "table", "before", "after")
    actual_rows, expected_rows = (
        [str([row[name] for name in compared]) for batch in read for row in batch]
        for read in (batches, expected)
    )
    assert sorted(actual_rows) == sorted(expected_rows)
    assert len(MicroBatches(**{"sink-uri": topic}).read()[0]) > len(actual_rows)


def test_an_offset_has_the_resolved_ts_of_each_partition_and_the_id_of_its_topic(
    kafka: EmbeddedKafka, uri: Callable[[str], str]
) -> None:
    topic = uri("source_checkpoint")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic}, duplicates="drop")
    stream.read()
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    descriptions = admin.describe_topics(TopicCollection(["source_checkpoint"]))
    topic_id = str(descriptions["source_checkpoint"].result().topic_id)
    assert stream.offset == {
        "source_checkpoint": {
            "0": {"offset": 5, "resolvedTs": 415508881418485761, "topicId": topic_id},
            "1": {"offset": 10, "resolvedTs": 415508881418485761, "topicId": topic_id},
        }
    }


@pytest.mark.parametrize(
    "protocol", [pytest.param("canal-json&enable-tidb-extension=true", marks=pytest.mark.slow), "simple"]
)
def test_changes_of_a_stream(kafka: EmbeddedKafka, protocol: str) -> None:
    """In Simple, the descriptions of tables are messages of earlier micro-batches."""
    topic = f"kafka://{kafka.bootstrap}/source_changes_{protocol[:5]}?protocol={protocol}&partition-num=1"
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic}, rows="changes", table="test.t1", maxOffsetsPerTrigger="2")
    rows = [row for batch in stream.read() for row in batch]
    assert sorted((row["id"], row["val"], row["_change_type"]) for row in rows) == [
        (1, "aa", "delete"), (1, "aa", "insert"), (2, "bb", "delete"), (2, "bb", "insert"),
        (3, "cc", "insert"), (3, "cc", "update_preimage"), (3, "dd", "update_postimage"), (4, "ee", "insert"),
    ]  # fmt: skip


def test_a_stream_starts_at_offsets(uri: Callable[[str], str]) -> None:
    topic = uri("source_starts")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic}, startingOffsets='{"source_starts": {"0": 3, "1": -1}}')
    (batch,) = stream.read()
    assert [(row["partition"], row["offset"]) for row in batch] == [(0, 3), (0, 4)]


def test_a_stream_starts_at_the_end(uri: Callable[[str], str]) -> None:
    topic = uri("source_latest")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic}, startingOffsets="latest")
    stream.start()
    ticdc_producer.run("seed_t1", sink_uri=topic, append=True, verify_output=False)
    (batch,) = stream.read()
    offsets = sorted({(row["partition"], row["offset"]) for row in batch})
    assert offsets == [*((0, number) for number in range(5, 10)), *((1, number) for number in range(10, 20))]


def test_a_message_that_does_not_decode_is_a_row_of_a_stream(
    kafka: EmbeddedKafka, uri: Callable[[str], str]
) -> None:
    topic = uri("source_damaged")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    producer.produce("source_damaged", b"no message", partition=0)
    assert producer.flush(60) == 0
    with pytest.raises(ProducerError, match="source_damaged"):
        MicroBatches(**{"sink-uri": topic}).read()
    (batch,) = MicroBatches(**{"sink-uri": topic, "on-error": "rows"}).read()
    (damaged,) = (row for row in batch if row["error"] is not None)
    assert (damaged["partition"], damaged["offset"]) == (0, 5)
    assert len(batch) == 16


def test_a_topic_that_was_written_again_is_refused(uri: Callable[[str], str]) -> None:
    topic = uri("source_again")
    ticdc_producer.run("bank", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic})
    stream.read()
    ticdc_producer.run("seed_t1", sink_uri=topic, replace=True)
    with pytest.raises(TopicError, match="the topic was deleted or written again"):
        stream.read()


def test_a_topic_that_was_written_again_and_is_longer_is_refused(uri: Callable[[str], str]) -> None:
    topic = uri("source_longer")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic})
    stream.read()
    start = stream.offset
    ticdc_producer.run("bank", sink_uri=topic, replace=True)
    with pytest.raises(TopicError, match="the topic was deleted or written again"):
        stream.read()
    assert start is not None
    with pytest.raises(TopicError, match="the topic was deleted or written again"):
        stream.between(start, start)


def test_a_checkpoint_without_ids_of_topics_continues(uri: Callable[[str], str]) -> None:
    topic = uri("source_older")
    ticdc_producer.run("seed_t1", sink_uri=topic)
    stream = MicroBatches(**{"sink-uri": topic})
    stream.offset = {
        "source_older": {"0": {"offset": 3, "resolvedTs": 0}, "1": {"offset": 10, "resolvedTs": 0}}
    }
    (batch,) = stream.read()
    assert [(row["partition"], row["offset"]) for row in batch] == [(0, 3), (0, 4)]


def test_a_limit_that_spark_does_not_pass_on_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"option 'maxOffsetsPerTrigger' requires Spark 4\.2"):
        check_limit(1, supported=False)
    check_limit(None, supported=False)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"rows": "state", "table": "test.t1"}, "a stream has no rows=state"),
        ({"path": "/tmp"}, "option 'path' is not an option of readStream"),
        ({"state-at": "1"}, "option 'state-at' is not an option of readStream"),
    ],
    ids=["state", "path", "state-at"],
)
def test_options_of_batch_queries_are_refused(options: dict[str, str], error: str) -> None:
    source = DefaultSource(CaseInsensitiveDict({"sink-uri": "kafka://localhost:1/t", **options}))
    with pytest.raises(ArgumentError, match=error):
        source.streamReader("id INT")
