"""Runs with Debezium in Avro: folders, their schemas, verification, both engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ticdc_producer
from ticdc_producer.engine import EngineOption
from ticdc_producer.errors import ChangefeedError

URI = (
    "kafka:///t?protocol=debezium-avro&enable-tidb-extension=true&avro-enable-watermark=true&partition-num=2"
)
SCRIPT = """
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9) DEFAULT 'd', p DECIMAL(8,3), b VARBINARY(4));
INSERT INTO t VALUES (1, 'a', 1.5, x'00ff'), (2, NULL, NULL, NULL);
ALTER TABLE t ADD COLUMN n TINYINT;
UPDATE t SET n = -7, id = 3 WHERE id = 2;
DELETE FROM t WHERE id = 1;
"""


def run(tmp_path: Path, name: str, engine: EngineOption = "local") -> Path:
    (tmp_path / "t.sql").write_text(SCRIPT)
    report = ticdc_producer.run(str(tmp_path / "t.sql"), sink_uri=URI, out=tmp_path / name, engine=engine)
    assert report.ok, report.to_json()
    return tmp_path / name


def test_a_folder_is_verified_and_has_its_schemas(tmp_path: Path) -> None:
    folder = run(tmp_path, "golden")
    schemas = [json.loads(line)["schema"] for line in (folder / "schemas.jsonl").read_text().splitlines()]
    names = [json.loads(schema)["connect.name"] for schema in schemas]
    assert names == [
        "default.test.tKey", "default.test.tEnvelope", "default.test.tEnvelope", "default.watermark.Key",
        "default.watermark.Envelope", "io.debezium.connector.mysql.SchemaChangeKey",
        "io.debezium.connector.mysql.SchemaChangeValue",
    ]  # fmt: skip
    assert ticdc_producer.verify(folder=folder).ok
    rows = [json.loads(line) for line in (folder / "state/test.t.jsonl").read_text().splitlines()]
    assert rows == [{"id": "3", "v": None, "p": None, "b": None, "n": "-7"}]


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_both_engines_write_the_same(tmp_path: Path) -> None:
    local, spark = (
        (run(tmp_path, engine, engine) / "messages.jsonl").read_bytes() for engine in ("local", "spark")
    )
    assert local == spark


def test_a_number_above_long_stops_the_run(tmp_path: Path) -> None:
    (tmp_path / "t.sql").write_text(
        "CREATE TABLE t (id INT PRIMARY KEY, u BIGINT UNSIGNED); INSERT INTO t VALUES (1, 1 << 63);"
    )
    with pytest.raises(ticdc_producer.ProducerError, match="overflows avro long, in column 'u'"):
        ticdc_producer.run(str(tmp_path / "t.sql"), sink_uri=URI, out=tmp_path / "golden")
    assert not (tmp_path / "golden").exists()


def test_it_needs_the_new_architecture(tmp_path: Path) -> None:
    (tmp_path / "t.sql").write_text(SCRIPT)
    with pytest.raises(ChangefeedError, match="set profile=new"):
        ticdc_producer.run(
            str(tmp_path / "t.sql"), sink_uri="kafka:///t?protocol=debezium-avro&profile=classic"
        )
