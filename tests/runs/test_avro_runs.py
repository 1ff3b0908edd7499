"""Avro into Kafka and back: schemas are registered before writing, and fetched by readers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from uuid import UUID

import fastavro
import pytest

import ticdc_producer
from tests.kafka_topic import read_topic
from ticdc_producer.errors import ChangefeedError, RegistryError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.kafka.embedded.process import free_ports
from ticdc_producer.runs.decode import decode
from ticdc_producer.targets.kafka.schema_registry import SchemaRegistry
from ticdc_producer.targets.kafka.topics import Topics

SQL = """
CREATE TABLE `odd-db`.`o-t` (id INT PRIMARY KEY, `price-in` DECIMAL(6,2), e ENUM('a','b'));
INSERT INTO `odd-db`.`o-t` VALUES (1, 2.50, 'b'), (2, NULL, NULL);
UPDATE `odd-db`.`o-t` SET `price-in` = 3 WHERE id = 1;
ALTER TABLE `odd-db`.`o-t` ADD COLUMN n INT NOT NULL DEFAULT 7;
INSERT INTO `odd-db`.`o-t` VALUES (3, 1, 'a', 8);
DELETE FROM `odd-db`.`o-t` WHERE id = 2;
CREATE TABLE plain (id BIGINT UNSIGNED PRIMARY KEY, v VARCHAR(5));
INSERT INTO plain VALUES (18446744073709551615, 'x');
DELETE FROM plain;
INSERT INTO plain VALUES (18446744073709551615, 'x');
"""
REGISTRY = "mock://runs"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "avro.sql"
    path.write_text("CREATE DATABASE `odd-db`;\n" + SQL)
    return path


def _uri(kafka: EmbeddedKafka, topic: str, registry: str = REGISTRY) -> str:
    options = "protocol=avro&partition-num=2&enable-tidb-extension=true"
    return f"kafka://{kafka.bootstrap}/{topic}?{options}&schema-registry={registry}"


@pytest.mark.usefixtures("spark")
def test_a_topic_is_read_with_the_schemas_of_the_registry(kafka: EmbeddedKafka, script: Path) -> None:
    uri = _uri(kafka, "avro_run")
    report = ticdc_producer.run(script, sink_uri=uri)
    assert report.ok, report.to_json()
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert report.verdict.state.tables == 1  # the other one was altered without a word of it
    rows = list(decode(sink_uri=uri))
    assert {row["kind"] for row in rows} == {"row"}
    changed = [row for row in rows if row["table"] == "o_t"]
    assert {row["schema"] for row in changed} == {"odd_db"}
    assert {row["op"] for row in changed} == {"insert", "update", "delete"}
    assert {name for row in changed for name in row["after"] or ()} == {"id", "price_in", "e", "n"}
    alone = ticdc_producer.verify(sink_uri=uri)
    assert alone.of_severity("error", "warning") == []


@pytest.mark.usefixtures("spark")
def test_another_reader_knows_the_rows_by_their_ids(kafka: EmbeddedKafka, script: Path) -> None:
    ticdc_producer.run(script, sink_uri=_uri(kafka, "avro_peer"))
    registry = SchemaRegistry(REGISTRY)
    rows = []
    for messages in read_topic(kafka.bootstrap, "avro_peer").values():
        for _, value, _ in messages:
            if value is not None:
                schema = registry.schema(int.from_bytes(value[1:5], "big")) or ""
                parsed = fastavro.parse_schema(json.loads(schema))
                rows.append(fastavro.schemaless_reader(io.BytesIO(value[5:]), parsed))
    ids = sorted((row["id"], row["_tidb_op"]) for row in rows)
    assert ids == [(-1, "c"), (-1, "c"), (1, "c"), (1, "u"), (2, "c"), (3, "c")]


@pytest.mark.usefixtures("spark")
def test_nothing_is_written_where_the_registry_does_not_answer(kafka: EmbeddedKafka, script: Path) -> None:
    (port,) = free_ports(1)
    with pytest.raises(RegistryError):
        ticdc_producer.run(script, sink_uri=_uri(kafka, "avro_nowhere", f"http://127.0.0.1:{port}"))
    assert "avro_nowhere" not in Topics(kafka.bootstrap).existing()


@pytest.mark.usefixtures("spark")
def test_a_folder_keeps_its_schemas(tmp_path: Path, script: Path) -> None:
    out = tmp_path / "golden"
    report = ticdc_producer.run(script, sink_uri="kafka:///t?protocol=avro&partition-num=2", out=out)
    assert report.ok, report.to_json()
    lines = [json.loads(line) for line in (out / "schemas.jsonl").read_text().splitlines()]
    assert lines
    assert [line["id"] for line in lines] == list(range(1, len(lines) + 1))
    assert [row["kind"] for row in decode(folder=out)] == ["row"] * 8
    assert report.verdict is not None
    assert report.verdict.kinds == {"row": 8, "ddl": 0, "resolved": 0, "duplicate": 0, "error": 0}
    assert ticdc_producer.verify(folder=out).of_severity("error", "warning") == []


def test_avro_is_not_decoded_without_its_schemas(tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text("")
    with pytest.raises(ChangefeedError, match="schemas"):
        list(decode(file=tmp_path / "lines.jsonl", protocol="avro"))


def test_schemas_have_the_uuids_of_glue(tmp_path: Path) -> None:
    """Its service is not asked, and no secret is stored."""
    config = {"sink": {"kafka-config": {"glue-schema-registry-config": {
        "registry-name": "r", "region": "us-east-1", "access-key": "AKIA", "secret-access-key": "hunter2",
    }}}}  # fmt: skip
    out = tmp_path / "golden"
    report = ticdc_producer.run("seed_t1", sink_uri="kafka:///t?protocol=avro", config=config, out=out)
    assert report.ok, report.to_json()
    ids = [json.loads(line)["id"] for line in (out / "schemas.jsonl").read_text().splitlines()]
    assert ids
    assert {UUID(number).version for number in ids} == {5}
    assert ticdc_producer.verify(folder=out, scenario="seed_t1").ok
    assert report.verdict is not None
    kinds = [event["kind"] for event in decode(folder=out)]
    assert kinds == ["row"] * report.verdict.kinds["row"]
    assert kinds
    files = [file.read_bytes() for file in out.rglob("*") if file.is_file()]
    assert not any(b"hunter2" in content or b"AKIA" in content for content in files)
