"""Recordings that begin in the middle of a history: tables and rows that existed before are a snapshot."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import compute as pc
from pyarrow import parquet

from tests.recording.test_properties import events as events_of
from tests.recording.test_properties import in_any_order, recorded, sent
from tests.recording.test_record import PROTOCOLS, URI, golden, messages, replayed, rows
from ticdc_producer import ProducerError, decode, record, run
from ticdc_producer.conformance.fuzz.example import script
from ticdc_producer.conformance.fuzz.random_example import random_history
from ticdc_producer.errors import RecordingError
from ticdc_producer.model.tso import to_datetime
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare

EVERY = [*PROTOCOLS, "simple&encoding-format=avro"]
(CANAL,) = [protocol for protocol in PROTOCOLS if "canal" in protocol]
DDL = "CREATE DATABASE shop; CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(9) UNIQUE, {});"
ITEMS = DDL.format("price DECIMAL(8,2), at TIMESTAMP NULL")
NOTES = "CREATE TABLE shop.notes (k VARCHAR(9) NOT NULL, v BLOB, UNIQUE (k));"
DUMP = f"{ITEMS} {NOTES} INSERT INTO shop.notes VALUES ('passed over', NULL);"


def stamps(folder: Path) -> list[int]:
    """The commit-ts of a golden folder's events."""
    lines = (folder / "events.jsonl").read_text().splitlines()
    return sorted({int(line["commit_ts"]) for line in map(json.loads, lines)})


def content(folder: Path) -> Counter[tuple[int, str | None, str]]:
    """The messages, without those that only describe tables."""
    return Counter(
        (line["partition"], line["key"], line["value"])
        for line in messages(folder)
        if line["type"] != "bootstrap"
    )


def events(folder: Path) -> list[str]:
    """The events, without the ids of tables, which are counted over all DDLs."""
    names = ("partition", "kind", "commit_ts", "schema", "table", "op", "columns", "before", "after", "query")
    return sorted(repr([event.get(name) for name in names]) for event in decode(folder=folder))


def snapshot(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a golden folder's snapshot, by table."""
    return {
        file.stem: parquet.read_table(file).to_pylist()
        for file in sorted((folder / "snapshot").glob("*.parquet"))
    }


@pytest.mark.parametrize("protocol", EVERY)
def test_a_part_of_a_topic_has_the_rows_before_as_its_snapshot(tmp_path: Path, protocol: str) -> None:
    whole = golden(tmp_path / "whole", protocol)
    start = stamps(whole)[4]
    golden(tmp_path / "later", protocol, start_ts=str(start))
    report = record(folder=whole, since=str(start), out=tmp_path / "recording")
    assert report.events["row"] == 8
    assert report.snapshot_rows == 4
    again = replayed(tmp_path / "recording", tmp_path / "again")
    assert content(again) == content(tmp_path / "later")
    known, expected = snapshot(again), snapshot(tmp_path / "later")
    assert known.keys() == expected.keys()
    assert all(row in expected[table] for table, of_table in known.items() for row in of_table)


def test_a_part_between_two_times_and_offsets(tmp_path: Path) -> None:
    whole = golden(tmp_path / "whole")
    first = stamps(whole)[5]
    report = record(folder=whole, since=to_datetime(first + (1 << 18)).isoformat(), out=tmp_path / "by_time")
    lines = [line for line in messages(whole) if line["partition"] == 1]
    resolved = max(line["offset"] for line in lines if line["timestamp"] <= first >> 18)
    record(folder=whole, since=f"1 : {resolved + 1}", out=tmp_path / "by_offset")
    by_offset, by_time = (
        [row for row in rows(tmp_path / name) if row["commit_ts"] >= stamps(whole)[6]]
        for name in ("by_offset", "by_time")
    )
    assert by_offset == by_time
    assert report.start_ts is not None
    assert first < report.start_ts < stamps(whole)[6]


def test_a_key_that_no_message_marks_needs_the_schema(tmp_path: Path) -> None:
    """Canal-JSON marks primary keys alone."""
    start = stamps(golden(tmp_path / "whole", CANAL))[4]
    later = golden(tmp_path / "later", CANAL, start_ts=str(start))
    with pytest.raises(RecordingError, match=r"a row that does not exist, .*shop/0@\d+") as refusal:
        record(folder=later, out=tmp_path / "recording")
    assert "schema" in refusal.value.hint
    assert not (tmp_path / "recording").exists()


@pytest.mark.parametrize(
    ("protocol", "schema"),
    [
        pytest.param(protocol, schema, marks=() if schema or protocol == EVERY[0] else pytest.mark.slow)
        for protocol in EVERY
        for schema in (True, False)
        if schema or protocol != CANAL
    ],
)
def test_a_changefeed_that_started_later(tmp_path: Path, protocol: str, schema: bool) -> None:
    start = stamps(golden(tmp_path / "whole", protocol))[4]
    later = golden(tmp_path / "later", protocol, start_ts=str(start))
    (tmp_path / "dump.sql").write_text(DUMP)
    options: dict[str, Any] = {"schema": tmp_path / "dump.sql"} if schema else {}
    report = record(folder=later, out=tmp_path / "recording", **options)
    assert report.snapshot_rows == 4
    again = replayed(tmp_path / "recording", tmp_path / "again")
    assert events(again) == events(later)
    if "simple" in protocol:
        assert not report.notes
    elif not schema:
        assert "the definition of shop.items, shop.notes follows from rows alone" in "".join(report.notes)
    if "simple" not in protocol:
        assert content(again) == content(later)
    if schema:
        known, expected = snapshot(again), snapshot(later)
        assert all(row in expected[table] for table, of_table in known.items() for row in of_table)
    verdict = run(tmp_path / "recording", out=tmp_path / "verified", engine="local")
    assert verdict.ok


def test_a_file_of_messages_begins_in_the_middle(tmp_path: Path) -> None:
    whole = golden(tmp_path / "whole")
    cut = [line for line in messages(whole) if line["offset"] >= 12]
    (tmp_path / "cut.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in cut))
    (tmp_path / "dump.sql").write_text(DUMP)
    source: dict[str, Any] = {"sink_uri": f"{URI}open-protocol", "messages": tmp_path / "cut.jsonl"}
    report = record(**source, schema=tmp_path / "dump.sql", out=tmp_path / "recording")
    again = replayed(tmp_path / "recording", tmp_path / "again")
    golden(tmp_path / "later", start_ts=str(report.start_ts))
    assert content(again) == content(tmp_path / "later")


@settings(max_examples=settings().max_examples // 6)
@given(st.integers(0, 1 << 32), st.sampled_from(PROTOCOLS), st.floats(0, 1))
def test_any_part_of_a_random_history(seed: int, protocol: str, at: float) -> None:
    uri = f"kafka:///t?partition-num=2&protocol={protocol}"
    statements = random_history(Random(seed), frozenset(), ddl=0.1, length=10).statements
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "s.sql").write_text(script(statements), "utf-8")
        job = prepare(folder / "s.sql", sink_uri=uri)
        times = [ddl.commit_ts for ddl in job.stream.ddls]
        assume(times)
        start = times[int(at * (len(times) - 1))]
        try:
            recorded(sent(job), uri, folder / "whole", since=str(start))
        except RecordingError as error:
            # Canal-JSON marks primary keys alone: rows with another key that existed before are not known.
            legal = ["no row and no DDL to record", "directly after a DDL", *["exist"] * (protocol == CANAL)]
            if not any(part in error.what for part in legal):
                raise
            assume(False)
        again = prepare(folder / "whole" / "recording", sink_uri=uri)
        later = prepare(folder / "s.sql", sink_uri=uri, start_ts=start)
        assert in_any_order(events_of(sent(again), again)) == in_any_order(events_of(sent(later), later))
        upstream = snapshot_of(later)
        for name, of_table in snapshot_of(again).items():
            for row in of_table:  # NULL: a column that is dropped before the row changes
                others = (other for other in upstream[name] if other.keys() == row.keys())
                assert any(all(row[key] in (None, other[key]) for key in row) for other in others), row


def snapshot_of(job: Job) -> dict[tuple[str, str], list[dict[str, bytes | None]]]:
    """The rows of each table when the changefeed of a job starts."""
    return {
        name: [
            {column.name: value for column, value in zip(table.sent_columns, row, strict=True)}
            for row in state.rows
        ]
        for name, state in job.history.state_at[job.first_commit].items()
        for table in [job.history.catalog.tables[state.version]]
    }


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"since": "7:1"}, "there is no partition 7: the topic has 3"),
        ({"since": "soon"}, "'soon' is not a time"),
        ({"since": "2100-01-01T00:00:00Z"}, "the messages have no row and no DDL to record"),
        ({"schema": "absent.sql"}, "cannot read the dump: No such file or directory"),
    ],
)
def test_a_beginning_that_is_none(tmp_path: Path, options: dict[str, Any], what: str) -> None:
    folder = golden(tmp_path / "golden")
    with pytest.raises(ProducerError) as caught:
        record(folder=folder, out=tmp_path / "recording", **options)
    assert what in str(caught.value)
    assert not (tmp_path / "recording").exists()


@pytest.mark.parametrize("protocol", ["open-protocol", "canal-json&enable-tidb-extension=true", "maxwell"])
def test_a_table_that_no_message_has(tmp_path: Path, protocol: str) -> None:
    run("seed_t1", sink_uri=f"kafka:///t?protocol={protocol}", out=tmp_path / "golden")
    with pytest.raises(ProducerError, match="the messages have no row and no DDL to record"):
        record(folder=tmp_path / "golden", out=tmp_path / "recording", table=["a.b"])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE TABLE t (", r"dump\.sql:1"),
        ("CREATE DATABASE a; INSERT INTO a.t VALUES (1)", r"dump\.sql: the dump defines no table"),
        ("", r"dump\.sql: the dump defines no table"),
    ],
)
def test_a_dump_without_tables(tmp_path: Path, text: str, error: str) -> None:
    folder = golden(tmp_path / "golden")
    (tmp_path / "dump.sql").write_text(text)
    with pytest.raises(ProducerError, match=error):
        record(folder=folder, schema=tmp_path / "dump.sql", out=tmp_path / "recording")


def test_a_table_whose_definition_is_not_known(tmp_path: Path) -> None:
    sql = (
        "CREATE TABLE e (id INT PRIMARY KEY, e ENUM('a', 'b')); INSERT INTO e VALUES (1, 'a'); DELETE FROM e"
    )
    whole = golden(tmp_path / "whole", sql=sql)
    later = golden(tmp_path / "later", sql=sql, start_ts=str(stamps(whole)[0]))
    with pytest.raises(ProducerError) as caught:
        record(folder=later, out=tmp_path / "recording")
    error = str(caught.value)
    assert "no message creates test.e, and its rows do not have the members of column 'e'" in error
    assert error.startswith("shop/")
    assert "with `schema`" in error
    assert not (tmp_path / "recording").exists()


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ("a INT NOT NULL UNIQUE, `Key` INT UNIQUE, key_2 INT, KEY (key_2)", "1, 2, 3"),
        ("a INT PRIMARY KEY, v VARCHAR(16383)", "1, REPEAT('ä', 9000)"),
        ("a INT PRIMARY KEY, v VARCHAR(65535) CHARACTER SET latin1", "1, REPEAT('ä', 30000)"),
        ("a INT PRIMARY KEY, v VARBINARY(65535)", "1, REPEAT(x'C3', 30000)"),
    ],
)
def test_definitions_that_follow_from_rows(columns: str, values: str, tmp_path: Path) -> None:
    sql = f"CREATE TABLE t ({columns}); INSERT INTO t VALUES ({values}); UPDATE t SET a = 9; DELETE FROM t"
    start = str(stamps(golden(tmp_path / "whole", sql=sql))[0])
    later = golden(tmp_path / "later", sql=sql, start_ts=start)
    record(folder=later, out=tmp_path / "recording")
    assert content(replayed(tmp_path / "recording", tmp_path / "again")) == content(later)


def test_a_table_without_recorded_rows_needs_no_definition(tmp_path: Path) -> None:
    sql = (
        "CREATE TABLE e (id INT PRIMARY KEY, e ENUM('a', 'b')); CREATE TABLE t (id INT PRIMARY KEY);"
        "INSERT INTO e VALUES (1, 'a'); INSERT INTO t VALUES (1);"
        "ALTER TABLE e ADD COLUMN v INT; DELETE FROM t"
    )
    times = stamps(golden(tmp_path / "whole", sql=sql))
    later = golden(tmp_path / "later", sql=sql, start_ts=str(times[1]))
    report = record(folder=later, since=str(times[2]), out=tmp_path / "recording")
    assert report.events == {"row": 2, "resolved": 3}
    assert {row["table"] for row in rows(tmp_path / "recording") if row["resolved"] is None} == {"t"}


def test_a_dump_that_does_not_fit(tmp_path: Path) -> None:
    whole = golden(tmp_path / "whole")
    later = golden(tmp_path / "later", start_ts=str(stamps(whole)[4]))
    (tmp_path / "dump.sql").write_text(DDL.format("price DATE, at TIMESTAMP NULL") + NOTES)
    with pytest.raises(ProducerError, match=r"not a value of type date for column 'price': '9\.00'.*shop/"):
        record(folder=later, schema=tmp_path / "dump.sql", out=tmp_path / "recording")


def test_some_rows_by_their_key(tmp_path: Path) -> None:
    whole = golden(tmp_path / "whole")
    report = record(
        folder=whole, table=["shop.items", "shop.things"], key=["id=2", "id=12"], out=tmp_path / "r"
    )
    recorded = [row for row in rows(tmp_path / "r") if row["op"] is not None]
    images = [dict(row["after"] or row["before"]) for row in recorded]
    assert [image["id"] for image in images] == [b"2", b"2", b"2", b"12"]
    assert report.events["row"] == 4
    assert replayed(tmp_path / "r", tmp_path / "again")
    part = record(
        folder=whole,
        table=["shop.items"],
        key=["id=3"],
        since=str(stamps(whole)[4]),
        until=str(stamps(whole)[6]),
        out=tmp_path / "part",
    )
    assert (part.events["row"], part.snapshot_rows) == (1, 1)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"key": ["id=1"]}, "`key` requires `table`"),
        ({"key": ["1"], "table": ["shop.items"]}, "'1' is not a key"),
        ({"key": ["name=b"], "table": ["shop.items"]}, "name is not the handle key of shop.items: id"),
    ],
)
def test_a_key_that_is_none(tmp_path: Path, options: dict[str, Any], what: str) -> None:
    folder = golden(tmp_path / "golden")
    with pytest.raises(ProducerError) as caught:
        record(folder=folder, out=tmp_path / "recording", **options)
    assert what in str(caught.value)
    assert not (tmp_path / "recording").exists()


def test_offsets_divide_a_history(tmp_path: Path) -> None:
    text = "CREATE TABLE t (a INT PRIMARY KEY, b INT);" + "".join(
        f"INSERT INTO t VALUES ({number}, 1);UPDATE t SET b = 2 WHERE a = {number};" for number in range(9)
    )
    (tmp_path / "s.sql").write_text(text)
    run(tmp_path / "s.sql", sink_uri="kafka:///t?partition-num=2&protocol=simple", out=tmp_path / "topic")
    parts = []
    for name, bounds in (("early", {"until": "0:9,1:7"}), ("late", {"since": "0:9,1:7"})):
        record(folder=tmp_path / "topic", out=tmp_path / name, **bounds)
        table = parquet.read_table(tmp_path / name / "changes.parquet").filter(pc.field("op").is_valid())
        parts.append(table["commit_ts"].to_pylist())
    start = min(parts[1])  # of the snapshot
    assert parts[0]
    assert max(parts[0]) == start
    events = [event for event in decode(folder=tmp_path / "topic") if event["kind"] == "row"]
    assert sorted([*parts[0], *(ts for ts in parts[1] if ts > start)]) == sorted(
        event["commit_ts"] for event in events
    )
    with pytest.raises(ProducerError, match="no partition 7"):
        record(folder=tmp_path / "topic", out=tmp_path / "none", until="7:1")


def test_what_record_cannot_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ProducerError, match="Spark does not record: what comes again follows"):
        record(folder=tmp_path, out=tmp_path / "out", engine="spark")
    for url, what in (
        ("postgresql://u:secret@host/db", "a URL of postgresql"),
        ("mysql://u:secret@127.0.0.1:1/db", "cannot read the tables of mysql://"),
        ("mysql://u:secret@127.0.0.1:1/db?foo=bar", "unexpected keyword argument 'foo'"),
        ("mysql://u:secret@127.0.0.1:1/db?charset=nope", "cannot read the tables of mysql://"),
        ("mysql://u:secret@127.0.0.1:1/db?read_timeout=x", "cannot read the tables of mysql://"),
        ("mysql://u:secret@127.0.0.1:1/db?ssl_ca=/no", "No such file"),
    ):
        (tmp_path / "s.sql").write_text("CREATE TABLE t (a INT PRIMARY KEY)")
        out = tmp_path / "topic"
        if not out.exists():
            run(tmp_path / "s.sql", out=out)
        with pytest.raises(ProducerError, match=what) as refused:
            record(folder=out, out=tmp_path / "out", schema=url)
        assert "secret" not in str(refused.value)


@pytest.mark.slow
def test_a_live_database_has_the_definitions(tmp_path: Path) -> None:
    import sqlalchemy as sa

    from tests.consumer_state.servers import mariadb

    ddl = "CREATE TABLE shop.t (a INT PRIMARY KEY, b VARCHAR(20), c ENUM('x', 'y'))"
    (tmp_path / "s.sql").write_text(
        f"CREATE DATABASE shop;{ddl};USE shop;INSERT INTO t VALUES (1, 'p', 'y');UPDATE t SET b = 'q'"
    )
    run(tmp_path / "s.sql", sink_uri="kafka:///t?protocol=open-protocol", out=tmp_path / "topic")
    lines = messages(tmp_path / "topic")
    later = [{**line, "offset": number} for number, line in enumerate(lines) if line["type"] != "ddl"]
    offsets: Counter[int] = Counter()
    with (tmp_path / "later.jsonl").open("w") as file:
        for line in later:
            file.write(json.dumps({**line, "offset": offsets[line["partition"]]}) + "\n")
            offsets[line["partition"]] += 1
    with mariadb() as server:
        engine = sa.create_engine(server.replace("mariadb", "mysql+pymysql", 1))
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
            connection.exec_driver_sql(ddl)
        record(
            sink_uri="kafka:///t?protocol=open-protocol",
            messages=tmp_path / "later.jsonl",
            schema=f"{server.replace('mariadb', 'mysql', 1)}/shop",
            out=tmp_path / "recording",
        )
    table = parquet.read_table(tmp_path / "recording" / "changes.parquet")
    (create,) = [text for text in table["statement"].to_pylist() if text and "CREATE TABLE" in text]
    assert "varchar(20)" in create.lower()
    assert "enum('x','y')" in create.lower().replace(" ", "")
