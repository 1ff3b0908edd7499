"""The binlog of a server as a recording: an application's statements become topics."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.consumer_state.servers import mariadb
from ticdc_producer import record, run, verify
from ticdc_producer.cli import main
from ticdc_producer.errors import ArgumentError, ProducerError, RecordingError
from ticdc_producer.model import tso
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.recording.binlog_rows import BinlogChange, BinlogColumn, BinlogRows
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
        ("mysql://u:secret@127.0.0.1:port", "is no URL"),
    ],
)
def test_servers_that_cannot_be_read(
    url: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
