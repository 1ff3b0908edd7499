"""The sink URI of a storage, and its options."""

from __future__ import annotations

from typing import Any

import pytest

from ticdc_producer.config import SinkURI, parse_sink_uri, resolve
from ticdc_producer.errors import ChangefeedError

CSV = "file:///tmp/out?protocol=csv"


@pytest.mark.parametrize(
    ("uri", "path", "topic"),
    [
        ("file:///tmp/out/", "file:///tmp/out", "out"),
        ("file:///tmp/a%20b", "file:///tmp/a b", "a b"),
        ("s3://bucket/some/prefix", "s3://bucket/some/prefix", "prefix"),
        ("gcs://bucket", "gcs://bucket", "bucket"),
    ],
)
def test_the_path_of_a_storage_is_its_folder(uri: str, path: str, topic: str) -> None:
    target = parse_sink_uri(f"{uri}?protocol=csv").target
    assert (target.path, target.topic, str(target)) == (path, topic, path)
    assert not target.embedded
    assert parse_sink_uri("kafka:///t").target == SinkURI(topic="t")


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("file://tmp/out", "three slashes"),
        ("file:///", "names no folder"),
        ("s3://", "names no folder"),
        ("file:///tmp/../etc", "'..'"),
        ("s3://key:s3cret@bucket/p", "user information"),
        ("s3://bucket/p?secret-access-key=s3cret", "AWS_ACCESS_KEY_ID"),
        ("memory://p", "does not start with kafka://"),
    ],
)
def test_a_bad_folder(uri: str, message: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        parse_sink_uri(uri)
    assert message in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("kafka:///t?protocol=csv", "protocol csv is incompatible with Kafka sinks"),
        ("file:///tmp/out", "protocol open-protocol is incompatible with storage sinks"),
        ("file:///tmp/out?protocol=simple", "storage sinks write canal-json and csv"),
        (CSV + "&flush-interval=5", "is not a duration"),
    ],
)
def test_a_protocol_or_value_that_the_sink_does_not_accept(uri: str, message: str) -> None:
    with pytest.raises(ChangefeedError, match=message):
        resolve(uri)


def test_a_storage_has_no_brokers() -> None:
    with pytest.raises(ChangefeedError, match="needs topics of Kafka"):
        _ = resolve(CSV).brokers


def test_options_of_a_file() -> None:
    content: dict[str, Any] = {
        "sink": {
            "terminator": "\n",
            "date-separator": "Month",
            "file-index-digit": 6,
            "csv": {"delimiter": "|", "quote": "", "output-old-value": True},
            "cloud-storage-config": {"output-column-id": True, "output-raw-change-event": True},
            "kafka-config": {"output-raw-change-event": False, "partition-num": 7},
        }
    }
    changefeed = resolve(CSV + "&flush-interval=1m30s", content)
    assert (changefeed.terminator, changefeed.date_separator, changefeed.file_index_digit) == (
        "\n",
        "month",
        6,
    )
    assert (changefeed.delimiter, changefeed.quote, changefeed.output_old_value) == ("|", "", True)
    assert (changefeed.output_column_id, changefeed.output_raw_change_event, changefeed.flush_interval) == (
        True,
        True,
        90_000,
    )
    assert changefeed.partition_num == 3
    assert changefeed.warnings == ("partition-num has no effect: it is an option of Kafka sinks",)
    of_kafka = resolve("kafka:///t", content)
    assert (of_kafka.output_raw_change_event, of_kafka.partition_num) == (False, 7)
    assert (of_kafka.terminator, of_kafka.delimiter) == ("\r\n", ",")
    assert "terminator" not in of_kafka.as_manifest()


@pytest.mark.parametrize(
    ("query", "size", "flush"),
    [
        ("file-size=1&flush-interval=1ms", 1 << 20, 2000),
        ("file-size=1&flush-interval=1ms&profile=new", 1 << 10, 100),
        ("file-size=9999999999&flush-interval=3h", 512 << 20, 600_000),
        ("file-size=2000000", 2_000_000, None),
    ],
)
def test_numbers_out_of_bounds_are_clamped(query: str, size: int, flush: int | None) -> None:
    changefeed = resolve(f"{CSV}&{query}", {"sink": {"file-index-digit": 5}})
    assert (changefeed.file_size, changefeed.flush_interval, changefeed.file_index_digit) == (size, flush, 20)


def test_an_update_of_csv_has_no_old_value_by_default() -> None:
    assert not resolve(CSV).output_old_value
    assert resolve("kafka:///t").output_old_value
