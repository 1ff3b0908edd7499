"""Topics in the forms of earlier versions of TiCDC are written, read again, verified and decoded."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest

import ticdc_producer

SQL = """CREATE DATABASE s; USE s; CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9));
INSERT INTO t VALUES (1, 'a'), (2, 'b'); UPDATE t SET v = 'c' WHERE id = 1; DELETE FROM t WHERE id = 2;
"""
FORMS = [
    ("legacy-insert-old", b'"old":[null]', 2),
    ("legacy-row-end", b"}\r\n", 4),
    ("legacy-delete-old", b'"old":[{"id":"2","v":"b"}]', 1),
]
"""Option, text in messages, and number of messages with it."""


@pytest.mark.parametrize("extension", ["true", "false"])
@pytest.mark.parametrize(("form", "text", "count"), FORMS)
def test_a_topic_in_the_form_of_an_earlier_version(
    form: str, text: bytes, count: int, extension: str, tmp_path: Path
) -> None:
    scenario, out = tmp_path / "a.sql", tmp_path / "out"
    scenario.write_text(SQL, "utf-8")
    uri = f"kafka:///t?protocol=canal-json&enable-tidb-extension={extension}&{form}=true"
    report = ticdc_producer.run(scenario, sink_uri=uri, out=out)
    assert report.ok, report.to_json()
    messages = [json.loads(line) for line in (out / "messages.jsonl").read_text("utf-8").splitlines()]
    assert sum(text in b64decode(message["value"]) for message in messages) == count
    assert ticdc_producer.verify(folder=out, scenario=str(scenario)).ok
    assert sum(row["kind"] == "row" for row in ticdc_producer.decode(folder=out)) == 4


def test_files_have_their_terminator(tmp_path: Path) -> None:
    scenario = tmp_path / "a.sql"
    scenario.write_text(SQL, "utf-8")
    uri = f"file://{tmp_path}/out?protocol=canal-json&legacy-row-end=true"
    report = ticdc_producer.run(scenario, sink_uri=uri)
    assert report.ok
    assert "legacy-row-end has no effect: it is an option of Kafka sinks" in report.warnings
    rows = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("CDC*.json"))
    assert rows.count(b"}\r\n") == 4
    assert b"\r\n\r\n" not in rows
