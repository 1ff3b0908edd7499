"""Recordings of golden folders, files and topics: what they replay, what they leave out, what they refuse."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import ticdc_producer
from tests.kafka_topic import read_topic
from ticdc_producer import ProducerError, Scenario, record, run
from ticdc_producer.errors import RecordingError
from ticdc_producer.kafka.embedded import EmbeddedKafka

URI = "kafka:///shop?partition-num=3&protocol="
PROTOCOLS = ["open-protocol", "simple", "canal-json&enable-tidb-extension=true", "craft"]
SQL = """
CREATE DATABASE shop; USE shop;
CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(9) UNIQUE, price DECIMAL(8,2), at TIMESTAMP NULL);
CREATE TABLE notes (k VARCHAR(9) NOT NULL, v BLOB, UNIQUE (k));
INSERT INTO items VALUES (1, 'a', 1.5, '2024-01-01 00:00:00'), (2, 'b', NULL, NULL), (3, 'c', 0, NULL);
BEGIN; INSERT INTO notes VALUES ('x', x'ff00'), ('y', NULL); UPDATE items SET price = 9 WHERE id < 3; COMMIT;
UPDATE items SET id = id + 10, name = CONCAT(name, 'z') WHERE id > 1;
ALTER TABLE items ADD COLUMN n INT DEFAULT 7;
UPDATE notes SET k = 'z' WHERE k = 'x'; DELETE FROM items WHERE id = 1;
RENAME TABLE items TO things; INSERT INTO things VALUES (5, 'e', 2, NULL, 1);
TRUNCATE TABLE notes;
"""


def scenario(sql: str = SQL, **settings: Any) -> Scenario:
    return Scenario("shop", **settings).sql(sql)


def golden(folder: Path, protocol: str = PROTOCOLS[0], sql: str = SQL, **options: Any) -> Path:
    """A golden folder of a scenario."""
    run(scenario(sql), sink_uri=f"{URI}{protocol}", out=folder, engine="local", **options)
    return folder


def messages(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "messages.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def rows(recording: Path) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = parquet.read_table(recording / "changes.parquet").to_pylist()
    return table


def replayed(recording: Path, folder: Path, **options: Any) -> Path:
    assert run(recording, out=folder, engine="local", **options).ok
    return folder


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_golden_folder_is_recorded_and_replayed(tmp_path: Path, protocol: str) -> None:
    folder = golden(tmp_path / "golden", protocol)
    report = record(folder=folder, out=tmp_path / "recording")
    assert dict(report.events) == {"row": 15, "ddl": 6, "resolved": 12}
    assert report.partitions == 3
    again = replayed(tmp_path / "recording", tmp_path / "again")
    assert (again / "messages.jsonl").read_bytes() == (folder / "messages.jsonl").read_bytes()
    assert (again / "events.jsonl").read_bytes() == (folder / "events.jsonl").read_bytes()
    record(folder=again, out=tmp_path / "second")
    assert rows(tmp_path / "second") == rows(tmp_path / "recording")


def test_a_recording_is_replayed_with_other_partitions_and_another_protocol(tmp_path: Path) -> None:
    record(folder=golden(tmp_path / "golden", "simple"), out=tmp_path / "recording")
    uri = "kafka:///other?protocol=open-protocol&partition-num=1"
    again = replayed(tmp_path / "recording", tmp_path / "again", sink_uri=uri)
    assert {line["partition"] for line in messages(again)} == {0}
    verdict = ticdc_producer.verify(folder=again, scenario=tmp_path / "recording" / "scenario.yaml")
    assert verdict.ok


def test_a_recording_has_the_dispatch_rules_and_no_brokers(tmp_path: Path) -> None:
    rules = {"sink": {"dispatchers": [{"matcher": ["*.*"], "partition": "columns", "columns": ["id"]}]}}
    folder = tmp_path / "golden"
    sql = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"
    run(scenario(sql), sink_uri=f"{URI}simple", config=rules, out=folder, engine="local")
    record(folder=folder, out=tmp_path / "recording")
    text = (tmp_path / "recording" / "scenario.yaml").read_text()
    assert "partition: columns" in text
    assert "kafka:///shop?" in text
    again = replayed(tmp_path / "recording", tmp_path / "again")
    assert messages(again) == messages(folder)


def test_a_topic_is_recorded_and_replayed(tmp_path: Path, kafka: EmbeddedKafka) -> None:
    uri = f"kafka://{kafka.bootstrap}/{{}}?protocol=open-protocol&partition-num=3"
    run(scenario(), sink_uri=uri.format("recorded"), engine="local")
    report = record(sink_uri=uri.format("recorded"), out=tmp_path / "recording")
    assert report.partitions == 3
    assert run(tmp_path / "recording", sink_uri=uri.format("replayed"), engine="local").ok
    first, second = (read_topic(kafka.bootstrap, topic) for topic in ("recorded", "replayed"))
    assert first == second


def _kcat(line: dict[str, Any]) -> dict[str, Any]:
    key, value = (
        None if line[name] is None else base64.b64decode(line[name]).decode("latin-1")
        for name in ("key", "value")
    )
    return {"topic": "shop", "partition": line["partition"], "offset": line["offset"], "tstype": "create",
            "ts": 0, "key": key, "payload": value}  # fmt: skip


def test_a_file_of_messages_is_recorded(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "simple", SQL.replace("x'ff00'", "'ab'"))
    file = tmp_path / "kcat.jsonl"
    file.write_text("".join(f"{json.dumps(_kcat(line))}\n" for line in reversed(messages(folder))))
    record(sink_uri=f"{URI}simple", messages=file, out=tmp_path / "recording")
    again = replayed(tmp_path / "recording", tmp_path / "again")
    assert (again / "messages.jsonl").read_bytes() == (folder / "messages.jsonl").read_bytes()


AGAIN = [
    "duplicate-message:rate=1",
    "duplicate-event:rate=1",
    "duplicate-ddl:rate=1",
    "replay-suffix:times=2",
]


@pytest.mark.parametrize("trap", AGAIN)
def test_what_was_delivered_again_is_recorded_once(tmp_path: Path, trap: str) -> None:
    record(folder=golden(tmp_path / "golden"), out=tmp_path / "recording")
    faulty = golden(tmp_path / "faulty", inject=[trap])
    report = record(folder=faulty, out=tmp_path / "of_faulty")
    first, second = (
        [{**row, "origin": ""} for row in rows(tmp_path / name) if row["resolved"] is None]
        for name in ("recording", "of_faulty")
    )
    assert first == second
    assert bool(report.repeated) == ("ddl" not in trap)
    assert len(report.repetitions) == min(3, report.repeated)


def test_equal_rows_without_a_key_are_several_rows(tmp_path: Path) -> None:
    sql = "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (1), (2); DELETE FROM t WHERE a = 1"
    uri = "kafka:///shop?protocol=simple"
    options: dict[str, Any] = {"config": {"force-replicate": True}, "engine": "local"}
    run(scenario(sql), sink_uri=uri, out=tmp_path / "golden", **options)
    report = record(folder=tmp_path / "golden", out=tmp_path / "recording")
    assert report.events["row"] == 5
    assert "no handle key is known of test.t" in report.notes[0]
    again = replayed(tmp_path / "recording", tmp_path / "again")
    assert messages(again) == messages(tmp_path / "golden")


@pytest.mark.parametrize("number", [3, 400])
def test_hidden_row_ids_are_recorded(tmp_path: Path, number: int) -> None:
    """Those of many rows, too, which are decoded as columns."""
    inserted = "".join(f"INSERT INTO d.t VALUES ({value});\n" for value in range(number))
    sql = f"CREATE DATABASE d; CREATE TABLE d.t (a INT);\n{inserted}"
    protocol = "canal-json&enable-tidb-extension=true&output-row-key=true&profile=new"
    folder = golden(tmp_path / "golden", protocol, sql, config={"force-replicate": True})
    record(folder=folder, out=tmp_path / "recording")
    row_ids = [row["row_id"] for row in rows(tmp_path / "recording") if row["op"] is not None]
    assert row_ids == [*range(1, number + 1)]


def test_some_tables_and_commits_are_recorded(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden")
    report = record(folder=folder, out=tmp_path / "notes", table=["shop.notes"])
    assert dict(report.events) == {"row": 4, "ddl": 3, "resolved": 12}
    record(folder=folder, out=tmp_path / "all")
    stamps = sorted({row["commit_ts"] for row in rows(tmp_path / "all")})
    record(folder=folder, out=tmp_path / "first", until=str(stamps[4]))
    assert rows(tmp_path / "first") == [
        row for row in rows(tmp_path / "all") if row["commit_ts"] <= stamps[4]
    ]


def test_coarse_time_stamps_give_transactions_of_their_own(tmp_path: Path) -> None:
    sql = (
        "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1), (2, 2); UPDATE t SET v = 3"
    )
    folder = golden(tmp_path / "golden", "canal-json", sql)
    report = record(folder=folder, out=tmp_path / "recording")
    assert "milliseconds" in report.notes[0]
    assert "no resolved events" in report.notes[1]
    assert len({row["commit_ts"] for row in rows(tmp_path / "recording")}) == 5
    again = replayed(tmp_path / "recording", tmp_path / "again")
    assert [line["value"] for line in messages(again)] == [line["value"] for line in messages(folder)]


def _write(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def _refused(
    tmp_path: Path, lines: list[dict[str, Any]], protocol: str = PROTOCOLS[0], **options: Any
) -> str:
    """The error of a file of messages, which leaves nothing behind."""
    file = _write(tmp_path / "messages.jsonl", lines)
    uri = f"kafka:///shop?partition-num=1&protocol={protocol}"
    with pytest.raises(ProducerError) as caught:
        record(sink_uri=uri, messages=file, out=tmp_path / "recording", **options)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("recording")]
    return str(caught.value)


@pytest.fixture
def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """The messages of a small topic with one partition."""
    sql = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1); UPDATE t SET v = 2"
    uri = "kafka:///shop?partition-num=1&protocol=open-protocol"
    run(scenario(sql), sink_uri=uri, out=tmp_path / "golden", engine="local")
    return messages(tmp_path / "golden")


def test_a_change_of_a_row_that_cannot_exist_is_refused(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    without_insert = [lines[0], *lines[4:]]
    numbered = [{**line, "offset": offset} for offset, line in enumerate(without_insert)]
    error = _refused(tmp_path, numbered)
    assert "the update of a row that does not exist, in row 1 (shop/0@1)" in error


def test_a_gap_is_refused(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    error = _refused(tmp_path, [*lines[:2], *lines[4:]])
    assert error.startswith("shop/0@4: the messages from offset 2 up to here are missing")


def test_another_protocol_is_named(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    error = _refused(tmp_path, lines, "simple")
    assert "shop/0@0" in error
    assert (
        "the messages look like open-protocol, and were decoded as simple: set protocol=open-proto" in error
    )


def test_what_is_no_topic_of_ticdc_is_refused(tmp_path: Path) -> None:
    text = base64.b64encode(b"hello").decode()
    line = {"topic": "shop", "partition": 0, "offset": 0, "key": None, "value": text}
    assert "shop/0@0: OPEN-" in _refused(tmp_path, [line])


REGISTRY = "schema-registry=http://127.0.0.1:1"


@pytest.mark.parametrize("profile", ["classic", "new"])
def test_rows_with_soft_deletes_are_refused(tmp_path: Path, profile: str) -> None:
    script, folder = tmp_path / "marked.sql", tmp_path / "golden"
    script.write_text(
        "CREATE TABLE test.t (id INT PRIMARY KEY) SOFTDELETE RETENTION 7 DAY;"
        "CREATE TABLE test.u (id INT PRIMARY KEY);"
        "INSERT INTO test.u VALUES (1); INSERT INTO test.t VALUES (1); DELETE FROM test.t;",
        "utf-8",
    )
    uri = f"kafka:///t?protocol=canal-json&enable-tidb-extension=true&partition-num=1&profile={profile}"
    run(script, sink_uri=uri, out=folder)
    with pytest.raises(RecordingError, match=r"t/0@6: rows of test\.t, which has SOFTDELETE") as refused:
        record(folder=folder, out=tmp_path / "all")
    assert "table" in refused.value.hint
    assert not (tmp_path / "all").exists()
    recording = record(folder=folder, out=tmp_path / "rest", table=["test.u"])
    assert recording.events["row"] == 1


def test_a_protocol_without_a_history_is_refused(tmp_path: Path) -> None:
    line = {"topic": "shop", "partition": 0, "offset": 0, "key": None, "value": None}
    error = _refused(tmp_path, [line], f"avro&{REGISTRY}")
    assert "avro has rows without a commit-ts" in error
    assert "enable-tidb-extension=true" in error


def test_columns_that_may_hold_bytes_are_refused(tmp_path: Path) -> None:
    value = {"database": "shop", "table": "t", "type": "insert", "ts": 1700000000, "data": {"id": 1}}
    line = {"topic": "shop", "partition": 0, "offset": 0}
    key = base64.b64encode((1).to_bytes(8, "big")).decode()
    text = base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode()
    error = _refused(tmp_path, [{**line, "key": key, "value": text}], "maxwell")
    assert "shop/0@0: the rows of shop.t do not say which of its columns hold bytes" in error
    assert "`schema`" in error


def test_a_topic_without_events_is_refused(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    assert "the messages have no row and no DDL to record" in _refused(
        tmp_path, lines[1:2], table=["a.b"], until="1"
    )


def test_a_value_that_contradicts_its_column_is_refused(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    value = base64.b64decode(lines[0]["value"]).replace(b"`v` INT", b"`v` DATE")
    value = value.replace(value[:8], (len(value) - 8).to_bytes(8, "big"), 1)
    lines[0]["value"] = base64.b64encode(value).decode()
    error = _refused(tmp_path, lines)
    assert "This is not a value of type date for column 'v': '1', in row 1 (shop/0@2)" in error


def test_damaged_messages_are_left_out_on_request(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    broken = {**lines[2], "offset": len(lines), "value": base64.b64encode(b"x").decode()}
    error = _refused(tmp_path, [*lines, broken])
    assert f"shop/0@{len(lines)}: OPEN-" in error
    assert "`skip_damaged` leaves it out" in error
    file = _write(tmp_path / "messages.jsonl", [*lines, broken])
    uri = "kafka:///shop?partition-num=1&protocol=open-protocol"
    report = record(sink_uri=uri, messages=file, out=tmp_path / "recording", skip_damaged=True)
    assert report.damaged == 1
    assert "1 messages are damaged" in "\n".join(report.lines())
    again = messages(replayed(tmp_path / "recording", tmp_path / "again"))
    assert [line["value"] for line in again] == [line["value"] for line in [*lines, broken]]
    assert messages(replayed(tmp_path / "recording", tmp_path / "once", faults="none")) == lines


def test_rows_that_a_damaged_message_had_are_refused(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    insert = next(number for number, line in enumerate(lines) if line["type"] == "row")
    lines[insert]["value"] = base64.b64encode(b"x").decode()
    error = _refused(tmp_path, lines, skip_damaged=True)
    assert "of a row that does not exist" in error
    assert "1 damaged message was left out, which may have had the row: record what comes after it" in error
    assert "`since`" in error


def test_a_folder_that_exists_is_not_replaced(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    folder = tmp_path / "golden"
    with pytest.raises(ProducerError, match="the folder exists already"):
        record(folder=folder, out=folder)
    assert messages(folder) == lines


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, "give exactly one source: `sink_uri`, `folder` or `binlog`"),
        ({"folder": "x", "messages": "y"}, "`messages` cannot be combined with `folder`"),
        ({"sink_uri": "file:///x?protocol=csv"}, "there is no such folder"),
        ({"sink_uri": f"{URI}simple"}, "the sink URI names no broker to read from"),
        ({"folder": "x", "until": "soon"}, "'soon' is not a time"),
        ({"folder": "x", "since": "0:" + "1" * 5000}, "is not a time"),
        ({"folder": "x", "since": "0:5, 1:7, 0:9"}, "names partition 0 twice"),
        ({"folder": "x", "table": ["["]}, "["),
        ({"folder": "absent"}, "absent"),
        ({"folder": "kafka://h/t"}, "it is a URI, not a file or folder"),
    ],
)
def test_bad_arguments_are_refused(tmp_path: Path, options: dict[str, Any], what: str) -> None:
    with pytest.raises(ProducerError) as caught:
        record(out=tmp_path / "recording", **options)
    assert what in str(caught.value)
    assert not [*tmp_path.iterdir()]
