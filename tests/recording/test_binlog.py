"""The binlog of a server as a recording: an application's statements become topics."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from struct import unpack_from
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from tests.consumer_state.servers import mariadb
from ticdc_producer import record, run, verify
from ticdc_producer.cli import main
from ticdc_producer.config.resolve import resolve
from ticdc_producer.errors import ArgumentError, ProducerError, RecordingError
from ticdc_producer.model import tso
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.recording.binlog_rows import BINLOG_ROWS, BinlogChange, BinlogColumn, BinlogRows
from ticdc_producer.recording.folder import write_rows, write_scenario
from ticdc_producer.runs.recordings.binlog import binlog_events, check_replay
from ticdc_producer.testing.topic import Golden

BINLOG = ("--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", "--binlog-row-metadata=FULL")
SUITE = (Path(__file__).parent / "application.sql").read_text("utf-8").split(";\n")
"""Some fifty statements of an application's tests, which end with the rows that the tests compare."""
PROTOCOLS = (
    "open-protocol",
    "canal-json&enable-tidb-extension=true",
    "simple&encoding-format=avro",
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with mariadb(*BINLOG) as url:
        yield url.replace("mariadb", "mysql", 1)


def executed(url: str, statements: list[str]) -> list[list[tuple[Any, ...]]]:
    """Run statements; return the rows of those that have some."""
    import sqlalchemy as sa

    results = []
    engine = sa.create_engine(url.replace("mysql", "mysql+pymysql", 1), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            if statement.strip():
                result = connection.exec_driver_sql(statement)
                results.append([tuple(row) for row in result] if result.returns_rows else [])
    engine.dispose()
    return results


@pytest.mark.slow
def test_an_applications_suite_gives_topics(server: str, tmp_path: Path) -> None:
    executed(server, SUITE)
    recording = record(binlog=server, table=["shop.*"], out=tmp_path / "recording")
    assert recording.events["row"] > 30
    assert recording.events["ddl"] > 10
    for number, protocol in enumerate(PROTOCOLS):
        out = tmp_path / f"topic-{number}"
        uri = f"kafka:///topic?protocol={protocol}&partition-num=3"
        assert run(tmp_path / "recording", sink_uri=uri, out=out).ok
        assert verify(folder=out, scenario=tmp_path / "recording").ok
    state: Any = Golden(tmp_path / "topic-0").state
    tables = [name for (name,) in executed(server, ["SHOW TABLES FROM shop"])[0]]
    assert {f"shop.{name}" for name in tables} == set(state)
    for name in tables:
        (columns,) = executed(server, [f"SHOW COLUMNS FROM shop.`{name}`"])
        names = [column[0] for column in columns]
        (rows,) = executed(server, [f"SELECT {', '.join(map(selected, columns))} FROM shop.`{name}`"])
        expected = [tuple(map(plain, row)) for row in rows]
        stored = [tuple(plain(row[column]) for column in names) for row in state[f"shop.{name}"]]
        assert sorted(stored, key=repr) == sorted(expected, key=repr), name
    files = (path.read_bytes() for path in (tmp_path / "recording").iterdir())
    assert not any(b"a-secret-of-8" in content or b"geheim" in content for content in files)


def selected(column: tuple[Any, ...]) -> str:
    """An expression of MariaDB with the canonical text of a column."""
    name, kind = f"`{column[0]}`", column[1]
    if kind.startswith(("enum", "set", "bit")):
        name = f"{name} + 0"
    return f"CAST({name} AS BINARY)"


def plain(value: str | bytes | None) -> str | None:
    """The text of a value; members of JSON objects are sorted."""
    if value is None:
        return None
    text = (value if isinstance(value, bytes) else value.encode()).decode("latin1")
    if text.startswith(("[", "{")):
        text = json.dumps(json.loads(text), sort_keys=True)
    return text


@pytest.mark.slow
def test_settings_without_which_rows_are_missing_are_refused(server: str, tmp_path: Path) -> None:
    for name, other in (
        ("binlog_row_metadata", "NO_LOG"),
        ("binlog_row_image", "MINIMAL"),
        ("binlog_format", "MIXED"),
    ):
        (before,) = executed(server, [f"SELECT @@GLOBAL.{name}"])[0][0]
        executed(server, [f"SET GLOBAL {name} = '{other}'"])
        with pytest.raises(ProducerError, match=f"the server has {name} = {other}") as refused:
            record(binlog=server, out=tmp_path / "out")
        assert f"SET GLOBAL {name} = '{before}'" in str(refused.value)
        executed(server, [f"SET GLOBAL {name} = '{before}'"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("mysql://u:secret@127.0.0.1:1", "cannot read the binlog of 127.0.0.1:1"),
        ("mysql://u:secret@127.0.0.1:1/db", "is not the URL of a server"),
        ("postgresql://u:secret@127.0.0.1", "is not the URL of a server"),
        ("mysql://u:secret@127.0.0.1:port", "is not a URL"),
        ("mysql://u:${NO_SUCH_VARIABLE}@127.0.0.1:1", "environment variable 'NO_SUCH_VARIABLE' is not set"),
        ("mysql://u:${PASSWORD_OF_TEST}@127.0.0.1:1", "cannot read the binlog of 127.0.0.1:1"),
    ],
)
def test_servers_that_cannot_be_read(
    url: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSWORD_OF_TEST", "secret@/:?#")
    assert main(["record", "--from-binlog", url, "--out", str(tmp_path / "out")]) in (2, 3)
    printed = capsys.readouterr().err
    assert what in printed
    assert "secret" not in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("module", ["pymysqlreplication", "pymysql"])
def test_without_the_library_the_extra_is_named(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ArgumentError, match="mysql-replication") as error:
        record(binlog="mysql://u:secret@127.0.0.1:1", out=tmp_path / "out")
    assert "[binlog]" in error.value.hint


@pytest.mark.parametrize(
    "option", [["--from", "1"], ["--mask", "m.yaml"], ["--in", "folder"], ["--schema", "s.sql"]]
)
def test_options_of_messages_are_refused(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "mysql://u:secret@127.0.0.1:1"
    assert main(["record", "--from-binlog", url, *option, "--out", str(tmp_path / "out")]) == 2
    assert "--from-binlog" in capsys.readouterr().err


TYPES = Path(__file__).parent / "types.binlog"
"""A file of a binlog of MariaDB 10.11 with the settings ``BINLOG``: values of all kinds, a transaction."""


class StoredBinlog:
    """The events of a file, read by the library without a server."""

    def __init__(self, content: bytes) -> None:
        self.log_file, self._content = "types.binlog", content

    def __iter__(self) -> Iterator[Any]:
        from pymysql.protocol import MysqlPacket
        from pymysqlreplication import event, row_event
        from pymysqlreplication.packet import BinLogPacketWrapper

        of_rows = (row_event.WriteRowsEvent, row_event.UpdateRowsEvent, row_event.DeleteRowsEvent)
        wanted = {event.QueryEvent, event.XidEvent, *of_rows}
        tables: dict[int, Any] = {}
        position = len(b"\xfebin")
        while position < len(self._content):
            (size,) = unpack_from("<I", self._content, position + 9)
            packet = MysqlPacket(b"\0" + self._content[position : position + size], "utf8")
            read = BinLogPacketWrapper(
                packet, tables, SimpleNamespace(charset="utf8", _get_dbms=lambda: "mariadb"), (0, 0, 0),
                True, {*wanted, row_event.TableMapEvent}, None, None, None, None, False, False, False,
                True, False,
            )  # fmt: skip
            if isinstance(read.event, row_event.TableMapEvent):
                tables[read.event.table_id] = read.event.get_table()
            elif read.event is not None:
                yield read.event
            position += size


def stored_rows(content: bytes) -> list[dict[str, Any]]:
    pytest.importorskip("pymysqlreplication", reason="not run: the extra binlog is not installed")
    return [*binlog_events(StoredBinlog(content), BinlogRows(accepts=everything))]


def test_a_binlog_file_gives_statements_and_rows() -> None:
    rows = stored_rows(TYPES.read_bytes())
    statements = [row["statement"] for row in rows if "statement" in row]
    assert [text.partition(" (")[0] for text in statements] == [
        "CREATE DATABASE shop", "USE `shop`", "CREATE TABLE t", "TRUNCATE t",
    ]  # fmt: skip
    assert not any("a-secret" in text for text in statements)
    changes = [row for row in rows if "op" in row]
    assert [row["op"] for row in changes] == ["insert", "insert", "update", "delete"]
    assert dict(changes[0]["after"]) == {
        "id": b"1", "e": b"a", "s": b"x,y", "b": b"\0\n", "d": b"1.50", "f": b"1.1", "r": b"2.5",
        "ts": b"2024-01-02 03:04:05.678000", "dt": b"2024-01-02 03:04:05.000006", "da": b"2024-01-02",
        "ti": b"10:11:12.130000", "y": b"2024", "v": "grün".encode(), "bin": b"\x00\xff",
        "u": b"18446744073709551615", "j": b'{"k": [1, null]}',
    }  # fmt: skip
    assert {name: value for name, value in changes[1]["after"] if value is not None} == {"id": b"2", "s": b""}
    assert dict(changes[2]["before"])["e"] == b"a"
    assert (dict(changes[2]["after"])["e"], dict(changes[2]["after"])["ts"]) == (b"b", b"1970-01-01 00:00:01")
    assert changes[3]["after"] is None
    assert [(row["commit_ts"] - changes[2]["commit_ts"], row["seq"]) for row in changes[2:]] == [
        (0, 1),
        (0, 2),
    ]
    assert len({row["commit_ts"] for row in rows}) == len(rows) - 1


def test_the_origin_of_a_row_is_the_start_of_its_event() -> None:
    content = TYPES.read_bytes()
    for row in stored_rows(content):
        file, _, start = row["origin"].partition(":")
        assert file == "types.binlog"
        kind = content[int(start) + 4]
        assert kind in ({2} if "statement" in row else {23, 24, 25})  # a query; rows of version 1


def recorded(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Write the recording of rows of a binlog; return its scenario."""
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in BINLOG_ROWS]
    write_rows(folder, [pa.RecordBatch.from_arrays(columns, schema=BINLOG_ROWS)], BINLOG_ROWS)
    changefeed = resolve("kafka:///t?protocol=open-protocol")
    return write_scenario(
        folder, "types", changefeed, has_resolved=False, force_replicate=False, canonical=False
    )


def test_a_recording_of_a_binlog_file_is_a_topic(tmp_path: Path) -> None:
    file = recorded(tmp_path, stored_rows(TYPES.read_bytes()))
    check_replay(file)
    assert run(file, out=tmp_path / "topic", engine="local").ok


def test_only_what_may_be_before_the_binlog_has_the_hint_of_its_beginning(tmp_path: Path) -> None:
    rows = stored_rows(TYPES.read_bytes())
    at = next(number for number, row in enumerate(rows) if "op" in row)
    bad = {**rows[at], "after": [(name, b"" if name == "e" else value) for name, value in rows[at]["after"]]}
    for others, what, is_absent in (
        (rows[:at] + rows[at + 1 :], "a row that does not exist", True),
        (rows[1:], "Unknown database", True),
        ([row for row in rows if "CREATE TABLE" not in row.get("statement", "")], "doesn't exist", True),
        ([*rows[:at], bad, *rows[at + 1 :]], "no such ENUM member", False),
    ):
        with pytest.raises(RecordingError, match=what) as refused:
            check_replay(recorded(tmp_path, others))
        assert ("RESET MASTER" in str(refused.value)) == is_absent
        assert "types.binlog:" in str(refused.value)


def rows_of(state: BinlogRows, query: str, database: str = "shop", seconds: int = 10) -> list[str]:
    return [str(row["statement"]) for row in state.statement(query, database, seconds, "b.000001:4")]


def test_statements_that_ticdc_does_not_send_are_left_out() -> None:
    state = BinlogRows(accepts=everything)
    for query in (
        "BEGIN", "COMMIT", "GRANT SELECT ON *.* TO u", "CREATE USER u IDENTIFIED BY 'x'", "FLUSH TABLES",
        "CREATE DEFINER=`a`@`b` PROCEDURE p() SELECT 1", "DROP TEMPORARY TABLE `t` /* TABLE */", "# none",
        "CREATE DEFINER=`a`@`b` TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @a = 1", "SAVEPOINT s",
    ):  # fmt: skip
        assert rows_of(state, query) == []
    assert rows_of(state, "CREATE DATABASE shop") == ["CREATE DATABASE shop"]
    assert rows_of(state, "/* app */ TRUNCATE t") == ["USE `shop`", "/* app */ TRUNCATE t"]
    assert rows_of(state, "CREATE OR REPLACE DEFINER=`a`@`b` SQL SECURITY INVOKER VIEW v AS SELECT 1")
    assert rows_of(state, "DROP TABLE t", database="mysql") == []
    with pytest.raises(RecordingError, match=r"b\.000001:4.* UPDATE, and not the rows"):
        rows_of(state, "UPDATE t SET a = 1")


def test_commits_keep_their_order_and_their_second() -> None:
    state = BinlogRows(accepts=everything, until=tso.compose(11_000))
    insert = BinlogChange(before=None, after={"a": 1})
    columns = [BinlogColumn(name="a", type=MySQLType.LONG)]

    def committed(seconds: int, changes: int) -> list[tuple[int, int]]:
        rows = [*state.changes(("shop", "t"), columns, [insert] * changes, seconds, "b.000001:4")]
        state.commit()
        return [(int(str(row["commit_ts"])) >> tso.LOGICAL_BITS, int(str(row["seq"]))) for row in rows]

    assert committed(10, 2) == [(10_000, 1), (10_000, 2)]
    assert committed(10, 1) == [(10_001, 1)]
    assert committed(9, 1) == [(10_002, 1)]
    assert committed(11, 1) == [(11_000, 1)]
    assert not state.ended
    assert committed(11, 1) == [(11_001, 1)]
    assert state.ended


def test_values_that_the_binlog_does_not_show_are_refused() -> None:
    state, columns = BinlogRows(accepts=everything), [BinlogColumn(name="d", type=MySQLType.DATE)]
    zero = BinlogChange(before=None, after={"d": None}, unread={"d": "out of date range"})
    with pytest.raises(
        RecordingError, match=r"b\.1:4: the value of shop\.t\.d cannot be read: out of date range"
    ):
        [*state.changes(("shop", "t"), columns, [zero], 1, "b.1:4")]
    time = BinlogChange(before=None, after={"d": timedelta(seconds=-1.5)})
    columns = [BinlogColumn(name="d", type=MySQLType.DURATION, digits=2)]
    with pytest.raises(RecordingError, match="a negative TIME with a fraction"):
        [*state.changes(("shop", "t"), columns, [time], 1, "b.1:4")]
    for reason, setting in (
        ("cols bitmap", "binlog_row_image"),
        ("same with before values", "_value_options"),
    ):
        partial = BinlogChange(before=None, after={"d": None}, unread={"d": reason})
        with pytest.raises(RecordingError, match=rf"lacks the value of shop\.t\.d.*{setting}"):
            [*state.changes(("shop", "t"), columns, [partial], 1, "b.1:4")]
    number = Decimal("0.10000000000000000001")
    columns = [BinlogColumn(name="d", type=MySQLType.JSON)]
    for document in (number, [number], {b"a": [number]}):
        decimal = BinlogChange(before=None, after={"d": document})
        with pytest.raises(RecordingError, match=r"has the DECIMAL 0\.10000000000000000001, which no DOUBLE"):
            [*state.changes(("shop", "t"), columns, [decimal], 1, "b.1:4")]
    unnamed = [BinlogColumn(name="UNKNOWN_COL0", type=MySQLType.LONG)]
    with pytest.raises(RecordingError, match="does not have the names of the columns"):
        [
            *state.changes(
                ("shop", "t"), unnamed, [BinlogChange(before=None, after={"UNKNOWN_COL0": 1})], 1, "b.1:4"
            )
        ]
    assert [*state.changes(("mysql", "user"), unnamed, [zero], 1, "b.1:4")] == []


def everything(_schema: str, _table: str) -> bool:
    return True
