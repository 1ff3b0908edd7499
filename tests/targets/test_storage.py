"""Reading the folder of a storage sink: replay order, and inconsistencies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.errors import DecodeError, FolderError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.storage_files import metadata, schema_file, schema_path
from ticdc_producer.runs.decode import decode
from ticdc_producer.targets.storage.read import Listing, list_storage, reading_options, records

TABLE = TableInfo(
    schema="d",
    name="t",
    table_id=1,
    columns=(
        ColumnInfo(name="id", type=MySQLType.LONG, nullable=False),
        ColumnInfo(name="v", type=MySQLType.VARCHAR, length=9, charset="utf8mb4"),
    ),
)
OLD, NEW = schema_file(TABLE, 100, "CREATE TABLE t", 3), schema_file(TABLE, 2000, "ALTER TABLE t", 5)
DAY = "2021-12-20"


def _row(number: int, text: str = "a") -> bytes:
    return b'"I","t","d",%d,"%b"\r\n' % (number, text.encode())


FILES = {
    "metadata": metadata(2000),
    schema_path(OLD): OLD.content,
    schema_path(NEW): NEW.content,
    f"d/t/100/{DAY}/CDC000001.csv": _row(1) + _row(2, "x\r\ny"),
    f"d/t/100/{DAY}/CDC000002.csv": _row(3),
    f"d/t/100/{DAY}/meta/CDC.index": b"CDC000002.csv\n",
    "d/t/100/2021-12-21/CDC000001.csv": _row(4),
    "d/t/100/2021-12-21/meta/CDC.index": b"CDC000001.csv\n",
    f"d/t/2000/{DAY}/CDC000001.csv": _row(5),
    f"d/t/2000/{DAY}/meta/CDC.index": b"CDC000001.csv\n",
}


def _folder(tmp_path: Path, files: dict[str, bytes]) -> Changefeed:
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    return resolve(f"file://{tmp_path}?protocol=csv")


def _listing(changefeed: Changefeed) -> Listing:
    return list_storage(changefeed.sink_uri.path, changefeed.protocol)


def test_rows_come_in_replay_order(tmp_path: Path) -> None:
    changefeed = _folder(tmp_path, FILES)
    listing = _listing(changefeed)
    assert (listing.problems, len(listing.tables)) == ((), 2)
    decoder = registry.decoder("csv", reading_options(listing, changefeed.codec_options()))
    messages = list(records(listing, "csv", changefeed.codec_options()))
    events = [event for message in messages for event in decoder.events(message.key, message.value)]
    images = [dict(event.after or {}) for event in events if isinstance(event, RowEvent)]
    assert [image["id"] for image in images] == [b"1", b"2", b"3", b"4", b"5"]
    assert images[1]["v"] == b"x\r\ny"
    assert messages[2].offset > messages[1].offset
    lines = list(decode(sink_uri=f"file://{tmp_path}?protocol=csv"))
    assert [line["kind"] for line in lines] == ["row"] * 5


def _without(path: str) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.__delitem__(path)


def _with(path: str, content: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.__setitem__(path, content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without("metadata"), "metadata: it is missing"),
        (_with("metadata", b'{"checkpoint-ts":-1}'), "metadata: it is not"),
        (_with("metadata", b"[" * 100_000), "metadata: it is not"),
        (_without(schema_path(OLD)), "d/t/100: no schema file describes the rows"),
        (_with(schema_path(OLD), NEW.content), "its TableVersion is 2000"),
        (_with(schema_path(OLD), OLD.content.replace(b"VARCHAR", b"TEXT")), "its content has the checksum"),
        (_with(schema_path(OLD), OLD.content[:-1]), "SCHEMA-FILE"),
        (_with(schema_path(NEW), NEW.content.replace(b'"d"', b'"e"')), "does not match its path"),
        (_without(f"d/t/100/{DAY}/CDC000001.csv"), "files are missing or duplicated: [1]"),
        (_without(f"d/t/100/{DAY}/meta/CDC.index"), "CDC.index: it is missing"),
        (
            _with(f"d/t/100/{DAY}/meta/CDC.index", b"CDC000001.csv\n"),
            "does not name the last file, CDC000002.csv",
        ),
        (_with(f"d/t/100/{DAY}/CDC000003.json", b"{}"), "not a data file of csv"),
        (_with("d/CDC000001.csv", b""), "not a data file of csv"),
        (_with(f"d/t/100/{DAY}/CDC4000000000.csv", b""), "not a data file of csv"),
        (_with(f"d/t/100/{DAY}/CDC2000000000.csv", b""), "files are missing or duplicated: [3, 4, 5]"),
    ],
)
def test_inconsistencies_are_reported(
    tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    files = dict(FILES)
    change(files)
    problems = [f"{problem.path}: {problem.what}" for problem in _listing(_folder(tmp_path, files)).problems]
    assert any(message in problem for problem in problems), problems


def _of_dispatchers(*dispatchers: str) -> dict[str, bytes]:
    """The metadata and schema files, and two files of each dispatcher in one directory."""
    files = {path: FILES[path] for path in ("metadata", schema_path(OLD), schema_path(NEW))}
    for number, name in enumerate(dispatchers):
        for index in (1, 2):
            files[f"d/t/100/{DAY}/CDC_{name}_{index:06}.csv"] = _row(10 * number + index)
        files[f"d/t/100/{DAY}/meta/CDC_{name}.index"] = f"CDC_{name}_000002.csv\n".encode()
    return files


def test_files_of_dispatchers_are_read(tmp_path: Path) -> None:
    """With ``enable-table-across-nodes`` names contain the id of the dispatcher."""
    _folder(tmp_path, _of_dispatchers("42", "9c-1_x"))
    lines = [*decode(sink_uri=f"file://{tmp_path}?protocol=csv")]
    assert [line["after"]["id"] for line in lines] == [b"1", b"2", b"11", b"12"]
    assert [line["offset"] >> 32 for line in lines] == [1, 2, 3, 4]
    assert not list_storage(f"file://{tmp_path}", "csv").problems


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without(f"d/t/100/{DAY}/CDC_42_000001.csv"), "files are missing or duplicated: [1]"),
        (_without(f"d/t/100/{DAY}/meta/CDC_7.index"), "meta/CDC_7.index: it is missing"),
        (_with(f"d/t/100/{DAY}/meta/CDC_7.index", b"CDC000002.csv\n"), "the last file, CDC_7_000002.csv"),
    ],
)
def test_files_are_counted_by_dispatcher(
    tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    files = _of_dispatchers("42", "7")
    change(files)
    problems = [f"{problem.path}: {problem.what}" for problem in _listing(_folder(tmp_path, files)).problems]
    assert len(problems) == 1
    assert message in problems[0]


def test_files_of_which_none_can_be_read_are_an_error(tmp_path: Path) -> None:
    _folder(tmp_path, {"118/100/CDC000001.csv": _row(1)})
    with pytest.raises(FolderError, match=r"118/100/CDC000001\.csv: not a data file"):
        list(decode(sink_uri=f"file://{tmp_path}?protocol=csv"))


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="no such folder"):
        list_storage(f"file://{tmp_path}/nowhere", "csv")


@pytest.mark.parametrize("content", [_row(3)[:-1], _row(3) + b"garbage", b'"I","t","d",3\r\n'])
def test_a_damaged_file_is_an_error_where_it_is_damaged(tmp_path: Path, content: bytes) -> None:
    _folder(tmp_path, {**FILES, f"d/t/100/{DAY}/CDC000002.csv": content})
    kinds = [line["kind"] for line in decode(sink_uri=f"file://{tmp_path}?protocol=csv")]
    assert kinds == ["row"] * (kinds.index("error")) + ["error", "row", "row"]


def test_rows_of_canal_json_are_split_by_any_terminator(tmp_path: Path) -> None:
    row = {
        "id": 0, "database": "d", "table": "t", "pkNames": ["id"], "isDdl": False, "type": "INSERT", "es": 1,
        "ts": 1, "sql": "", "sqlType": {"id": 4}, "mysqlType": {"id": "int"}, "old": None,
        "data": [{"id": "1"}],
    }  # fmt: skip
    text = json.dumps(row, separators=(",", ":")).encode()
    files = {f"d/t/100/{DAY}/CDC000001.json": (text + b"1") * 3}
    changefeed = _folder(tmp_path, {**FILES, **files})
    listing, options = list_storage(changefeed.sink_uri.path, "canal-json"), {"row_end": "1"}
    messages = [
        message for message in records(listing, "canal-json", options) if message.topic.startswith("d/t/100")
    ]
    assert [message.value for message in messages] == [text] * 3


def test_a_line_of_an_unknown_version_does_not_read(tmp_path: Path) -> None:
    changefeed = _folder(tmp_path, FILES)
    decoder = registry.decoder("csv", reading_options(_listing(changefeed), changefeed.codec_options()))
    with pytest.raises(DecodeError, match="CSV-TABLE"):
        list(decoder.events(b"d/t/3", _row(1)))
