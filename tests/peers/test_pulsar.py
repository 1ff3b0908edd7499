"""Runs into a broker of Pulsar: what the official consumer reads, by TiCDC's rules."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.peers.pulsar_broker import NAMESPACE, PulsarBroker, Received
from ticdc_producer.errors import DeliveryError

pytestmark = pytest.mark.slow
SCENARIO, PARTITIONS = "migrations", 3
CANAL_JSON = "protocol=canal-json&enable-tidb-extension=true"
KAFKA = f"kafka:///t?{CANAL_JSON}&partition-num=1"
BY_ROW, BY_TEXT, BY_TIME = ["shop.customers", "shop.addresses"], ["shop.products"], ["shop.order_items"]
RULES = {
    "sink": {
        "dispatchers": [
            {"matcher": BY_ROW, "partition": "index-value"},
            {"matcher": BY_TEXT, "partition": "Region-1"},
            {"matcher": BY_TIME, "partition": "ts"},
        ]
    }
}
OF_CLIENT = {"compression-type": "zstd", "batching-max-messages": 7}


@pytest.fixture(scope="module")
def whole(pulsar: PulsarBroker) -> list[Received]:
    """The messages of a topic without partitions."""
    report = ticdc_producer.run(SCENARIO, sink_uri=_pulsar(pulsar, "whole"))
    messages = pulsar.messages("whole")
    assert len(messages) == report.counts.total
    return messages


def _pulsar(pulsar: PulsarBroker, topic: str) -> str:
    return f"pulsar://{pulsar.service}/{NAMESPACE}/{topic}?{CANAL_JSON}"


def _of_kafka(folder: Path, **options: Any) -> list[bytes]:
    """The values of the messages of a topic of Kafka with one partition, in order."""
    ticdc_producer.run(SCENARIO, sink_uri=KAFKA, out=folder, **options)
    lines = (folder / "messages.jsonl").read_text("utf-8").splitlines()
    return [b64decode(json.loads(line)["value"]) for line in lines]


def _verified(messages: list[Received], file: Path, engine: Any) -> ticdc_producer.Verdict:
    """The verdict on messages in a file of kcat's lines."""
    lines = (
        json.dumps({"topic": "t", "partition": 0, "offset": at, "payload": message.value.decode()})
        for at, message in enumerate(messages)
    )
    file.write_text("\n".join(lines), "utf-8")
    return ticdc_producer.verify(
        sink_uri=KAFKA, messages=file, scenario=SCENARIO, from_beginning=True, engine=engine
    )


def _key(content: dict[str, Any]) -> str:
    """The partition key of a message by the rules of its table; none for a DDL and a watermark."""
    if not content["data"]:
        return ""
    schema, table = content["database"], content["table"]
    if f"{schema}.{table}" in BY_ROW:
        row = content["data"][0]["id"]
        return str(crc32(f"{schema}{table}".encode()) ^ crc32(f"id{row}".encode()))
    if f"{schema}.{table}" in BY_TEXT:
        return "Region-1"
    return str(content["_tidb"]["commitTs"]) if f"{schema}.{table}" in BY_TIME else f"{schema}.{table}"


def _java_hash(text: str) -> int:
    """``String.hashCode()`` of an ASCII text by the formula of Java's documentation, without a sign."""
    return sum(ord(char) * 31 ** (len(text) - 1 - at) for at, char in enumerate(text)) % (1 << 32)


def test_keys_partitions_order_and_bytes(pulsar: PulsarBroker, tmp_path: Path) -> None:
    pulsar.create("divided", PARTITIONS)
    config = {"sink": {**RULES["sink"], "pulsar-config": OF_CLIENT}}
    report = ticdc_producer.run(SCENARIO, sink_uri=_pulsar(pulsar, "divided"), config=config)
    messages = pulsar.messages("divided")
    sent = _of_kafka(tmp_path / "kafka", config=RULES)
    assert Counter(message.value for message in messages) == Counter(sent)
    assert len(messages) == report.counts.total

    contents = [json.loads(message.value) for message in messages]
    assert [message.key for message in messages] == [_key(content) for content in contents]
    with_keys = {(message.key, message.partition) for message in messages if message.key}
    assert with_keys == {(key, _java_hash(key) % PARTITIONS) for key, _ in with_keys}
    assert {partition for _, partition in with_keys} == set(range(PARTITIONS))

    position = {value: at for at, value in enumerate(sent)}
    assert len(position) == len(sent)
    for _, same in groupby(sorted(messages, key=attrgetter("partition")), attrgetter("partition")):
        positions = [position[message.value] for message in same]
        assert positions == sorted(positions)


def test_a_topic_without_partitions_has_the_bytes_and_the_order_of_kafka(
    whole: list[Received], tmp_path: Path
) -> None:
    assert [message.value for message in whole] == _of_kafka(tmp_path / "kafka")


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_what_the_consumer_reads_verifies(
    engine: Any, whole: list[Received], tmp_path: Path, spark: SparkSession
) -> None:
    verdict = _verified(whole, tmp_path / "read.json", engine)
    assert verdict.ok
    assert verdict.comparison is not None


def test_a_message_that_the_consumer_misses_is_reported(whole: list[Received], tmp_path: Path) -> None:
    without = [message for message in whole if b'"sku":"abacus"' not in message.value]
    assert len(without) < len(whole)
    assert not _verified(without, tmp_path / "read.json", "local").ok


def test_a_message_that_the_broker_rejects_ends_the_run(pulsar: PulsarBroker, tmp_path: Path) -> None:
    script = tmp_path / "large.sql"
    script.write_text(
        "CREATE TABLE test.t (id INT PRIMARY KEY, v LONGTEXT);"
        "INSERT INTO test.t VALUES (1, 'a'), (2, REPEAT('x', 6000000));",
        "utf-8",
    )
    with pytest.raises(DeliveryError, match="Pulsar rejected a message: MessageTooBig"):
        ticdc_producer.run(script, sink_uri=_pulsar(pulsar, "large"))
