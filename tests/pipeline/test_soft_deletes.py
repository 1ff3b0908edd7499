"""Tables with soft deletes: what DELETE does to their rows, and what TiCDC new architecture sends of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.errors import ChangefeedError, ScenarioError

CREATE = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9)) ACTIVE_ACTIVE='ON' SOFTDELETE RETENTION 7 DAY;\n"
HARD, SOFT = "SET tidb_translate_softdelete_sql = OFF;", "SET tidb_translate_softdelete_sql = ON;"
CHANGES = f"""{CREATE}
INSERT INTO t VALUES (1, 'a'), (2, 'b');
DELETE FROM t WHERE id = 1;
UPDATE t SET v = 'x';
INSERT INTO t VALUES (1, 'again');
{HARD}
UPDATE t SET v = 'y', _tidb_origin_ts = 464073966942421014 WHERE id = 2;
{SOFT}
DELETE FROM t WHERE id = 2;
{HARD}
DELETE FROM t WHERE id = 2;
"""
SENT = [
    "insert 1 a - -",
    "insert 2 b - -",
    "delete 1 a - -",
    "update 2 x - -",
    "update 1 again - -",
    "update 2 y 464073966942421014 -",
    "delete 2 y 464073966942421014 -",
]
UPSTREAM = [
    *SENT[:2],
    "update 1 a - marked",
    *SENT[3:6],
    "update 2 y - marked",
    "delete 2 y - marked",
]
URI = "kafka:///t?protocol={}&partition-num=1&profile={}"
FILES = "{}?protocol=canal-json&profile=new&enable-tidb-extension=true"


def rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return operation and values of each row event of a folder, in order."""
    capsys.readouterr()
    assert main(["decode", "--in", str(folder), "--format", "jsonl"]) == 0
    changes = []
    for line in capsys.readouterr().out.splitlines():
        event = json.loads(line)
        if event["kind"] == "row":
            image = event["after"] or event["before"]
            origin, time = image["_tidb_origin_ts"], image["_tidb_softdelete_time"]
            changes.append(
                f"{event['op']} {image['id']} {image['v']} {origin or '-'} {'marked' if time else '-'}"
            )
    return changes


def run(script: str, tmp_path: Path, uri: str, config: str = "") -> Path:
    (tmp_path / "soft.sql").write_text(script)
    (tmp_path / "changefeed.toml").write_text(config)
    kafka = uri.startswith("kafka")
    report = ticdc_producer.run(
        str(tmp_path / "soft.sql"),
        sink_uri=uri,
        config=str(tmp_path / "changefeed.toml"),
        out=tmp_path / "golden" if kafka else None,
    )
    assert report.ok, report.to_json()
    return tmp_path / ("golden" if kafka else "files")


@pytest.mark.parametrize("protocol", ["open-protocol", "canal-json", "debezium", "simple"])
def test_a_soft_delete_is_a_delete_and_a_real_one_is_dropped(
    protocol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(CHANGES, tmp_path, URI.format(protocol, "new"))
    assert rows(folder, capsys) == SENT


def test_classic_ticdc_sends_what_happened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(CHANGES, tmp_path, URI.format("open-protocol", "classic"))
    assert rows(folder, capsys) == UPSTREAM


def test_active_active_files_have_the_marked_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The members are those of the files that ticdc ``cmd/multi-cluster-consistency-checker`` reads."""
    uri = FILES.format((tmp_path / "files").as_uri())
    folder = run(CHANGES, tmp_path, uri, "enable-active-active = true")
    lines = [json.loads(line) for file in folder.rglob("CDC*.json") for line in file.read_text().splitlines()]
    assert [line["type"] for line in lines] == [line.split()[0].upper() for line in UPSTREAM[:-1]]
    assert lines[0]["sqlType"] == {"id": 4, "v": 12, "_tidb_origin_ts": -5, "_tidb_softdelete_time": 93}
    assert lines[0]["mysqlType"]["_tidb_origin_ts"] == "bigint"
    assert lines[0]["mysqlType"]["_tidb_softdelete_time"] == "timestamp"
    (old,), (new,) = lines[2]["old"], lines[2]["data"]
    assert old["_tidb_softdelete_time"] is None
    assert len(new["_tidb_softdelete_time"]) == len("2026-02-05 22:58:40.992217")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_both_engines_send_the_same(tmp_path: Path) -> None:
    (tmp_path / "soft.sql").write_text(CHANGES)
    for engine in ("local", "spark"):
        ticdc_producer.run(
            str(tmp_path / "soft.sql"),
            sink_uri=URI.format("open-protocol", "new"),
            out=tmp_path / engine,
            engine=engine,
        )
    local, spark = (
        {file.name: file.read_bytes() for file in sorted((tmp_path / engine).rglob("messages*"))
         if file.is_file()}
        for engine in ("local", "spark")
    )  # fmt: skip
    assert local == spark


def test_rows_of_a_consumer_are_those_that_are_not_marked(tmp_path: Path) -> None:
    folder = run(CHANGES, tmp_path, URI.format("open-protocol", "new"))
    states = [json.loads(line) for line in (folder / "state/test.t.jsonl").read_text().splitlines()]
    assert [(row["id"], row["v"]) for row in states] == [("1", "again")]


@pytest.mark.parametrize(
    "changes",
    [
        f"{HARD} DELETE FROM t WHERE id = 1;",
        "UPDATE t SET id = 5 WHERE id = 1;",
        f"{HARD} INSERT INTO t (id, v, _tidb_softdelete_time) VALUES (7, 'h', NOW());",
        f"DELETE FROM t WHERE id = 1; {HARD} UPDATE t SET v = 'z' WHERE id = 1;",
    ],
)
def test_rows_that_do_not_follow_from_the_events_are_not_compared(changes: str, tmp_path: Path) -> None:
    script = f"{CREATE}INSERT INTO t VALUES (1, 'a');\n{changes}"
    folder = run(script, tmp_path, URI.format("open-protocol", "new"))
    assert not (folder / "state/test.t.jsonl").exists()


def test_ddl_texts_are_sent_as_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(CHANGES, tmp_path, URI.format("open-protocol", "new"))
    assert main(["decode", "--in", str(folder), "--format", "jsonl"]) == 0
    events = map(json.loads, capsys.readouterr().out.splitlines())
    assert next(event["query"] for event in events if event["kind"] == "ddl") == CREATE.strip()[:-1]


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("CREATE TABLE t (id INT) SOFTDELETE RETENTION 1 DAY;", "primary key"),
        ("CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE) SOFTDELETE RETENTION 1 DAY;", "unique index"),
        ("CREATE TABLE t (id INT PRIMARY KEY) ACTIVE_ACTIVE='ON';", "requires SOFTDELETE"),
        ("CREATE TABLE t (id INT PRIMARY KEY) SOFTDELETE='YES';", "'ON' or 'OFF'"),
        (f"{CREATE}UPDATE t SET _tidb_softdelete_time = NOW();", "_tidb_softdelete_time"),
        (
            f"{CREATE}CREATE TABLE u (id INT PRIMARY KEY); DELETE t FROM t JOIN u USING (id);",
            "several tables",
        ),
        (f"{CREATE}ALTER TABLE t SOFTDELETE RETENTION 9 DAY;", "not supported"),
    ],
)
def test_what_tidb_refuses(script: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=what):
        run(script, tmp_path, URI.format("open-protocol", "new"))


def test_a_select_sees_no_marked_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = f"""{CREATE}INSERT INTO t VALUES (1, 'a'), (2, 'b');
    DELETE FROM t WHERE id = 1;
    CREATE TABLE c LIKE t;
    INSERT INTO c SELECT * FROM t;
    """
    folder = run(script, tmp_path, URI.format("open-protocol", "new"))
    assert rows(folder, capsys)[-1:] == ["insert 2 b - -"]
    assert rows(folder, capsys).count("insert 1 a - -") == 1


def test_active_active_replicates_no_other_table(tmp_path: Path) -> None:
    uri = FILES.format((tmp_path / "files").as_uri())
    with pytest.raises(ChangefeedError, match=r"test\.u is not active-active"):
        run(f"{CREATE}CREATE TABLE u (id INT PRIMARY KEY);", tmp_path, uri, "enable-active-active = true")
