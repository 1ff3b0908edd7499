"""Reading the expectations of a folder from anywhere: the error, and its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ticdc_producer.cli.options import error_text
from ticdc_producer.errors import FolderError
from ticdc_producer.model.event import Value
from ticdc_producer.targets.golden.expectations import event_batches, fault_lines, row_batches
from ticdc_producer.targets.golden.json_lines import event_lines

ROW = {
    "topic": "t", "partition": 0, "offset": 3, "index": 1, "kind": "row", "commit_ts": 5, "schema": "s",
    "table": "a", "table_id": 7, "op": "update", "columns": [["id", "int", 11], ["v", "varbinary", 65]],
    "before": {"id": "1", "v": None}, "after": {"id": "1", "v": {"b64": "/w=="}},
    "query": None, "ddl_type": None,
}  # fmt: skip
DDL = {
    "topic": "t", "partition": 0, "offset": 0, "index": 0, "kind": "ddl", "commit_ts": 4, "schema": "s",
    "table": "a", "table_id": None, "op": None, "columns": None, "before": None, "after": None,
    "query": "CREATE TABLE a (id INT)", "ddl_type": 3,
}  # fmt: skip
RESOLVED = {**DDL, "kind": "resolved", "schema": None, "table": None, "query": None, "ddl_type": None}
FAULT = {"trap": "lost-row", "topic": "t", "partition": 0, "offset": None, "until": None, "commit_ts": 5}


def file_of(tmp_path: Path, *lines: dict[str, Any] | bytes) -> Path:
    path = tmp_path / "lines.jsonl"
    texts = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    path.write_bytes(b"".join(text + b"\n" for text in texts))
    return path


def as_it_is(value: Value) -> Value:
    """The projection of a protocol that carries a value unchanged."""
    return value


def test_events_are_those_that_were_written(tmp_path: Path) -> None:
    path = file_of(tmp_path, DDL, ROW, {**ROW, "handle_key_only": True}, RESOLVED)
    (batch,) = event_batches(path)
    assert batch.column("after").to_pylist()[1] == [("id", b"1"), ("v", b"\xff")]
    assert batch.column("handle_key_only").to_pylist() == [None, 0, 1, None]
    again = [json.loads(line) for line in event_lines(batch).splitlines()]
    assert again == [DDL, ROW, {**ROW, "handle_key_only": True}, RESOLVED]


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"\xff",
        b"[1]",
        b"{}",
        b"[" * 100_000,
        {**ROW, "topic": ""},
        {**ROW, "topic": "\ud800"},
        {**ROW, "kind": "error"},
        {**ROW, "partition": -1},
        {**ROW, "partition": 1 << 31},
        {**ROW, "offset": 1 << 43},
        {**ROW, "index": 1 << 20},
        {**ROW, "table_id": 1 << 63},
        {**ROW, "columns": [["id", "int"]]},
        {**ROW, "columns": [["id", "int", 1 << 31]]},
        {**ROW, "columns": None},
        {**ROW, "op": "upsert"},
        {**ROW, "after": None},
        {**ROW, "op": "delete", "before": None},
        {**ROW, "after": {"id": 5}},
        {**ROW, "after": {"id": {"b64": "!"}}},
        {**ROW, "after": {"id": {"b64": "AA==", "more": 1}}},
        {**DDL, "query": None},
    ],
)
def test_a_line_that_is_no_event(tmp_path: Path, line: dict[str, Any] | bytes) -> None:
    path = file_of(tmp_path, DDL, line)
    with pytest.raises(FolderError) as rejected:
        list(event_batches(path))
    assert str(rejected.value).startswith(f"{path}:2: this line is not an event: ")
    assert str(rejected.value).endswith("(write the folder again: `run` with `out`)")
    assert "again: ticdc-producer run with --out)" in error_text(rejected.value)


@pytest.mark.parametrize("line", [b"5", {"id": "1"}, {"id": "1", "v": "x", "w": "y"}, {"id": 1, "v": None}])
def test_a_line_that_is_no_row_of_its_table(tmp_path: Path, line: dict[str, Any] | bytes) -> None:
    path = file_of(tmp_path, {"v": None, "id": "1"}, line)
    with pytest.raises(FolderError) as rejected:
        list(row_batches(path, {"id": as_it_is, "v": as_it_is}))
    assert str(rejected.value).startswith(f"{path}:2: this line is not a row of the table: ")


def test_a_value_that_the_protocol_cannot_carry(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"v": "1"}, {"v": "x"})
    with pytest.raises(FolderError, match=":2: this line is not a row of the table: "):
        list(row_batches(path, {"v": lambda value: b"%d" % int(value or b"")}))


def test_rows_have_the_order_of_the_columns(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"v": None, "id": "1"}, {"id": "2", "v": {"b64": "/w=="}})
    assert list(row_batches(path, {"id": as_it_is, "v": as_it_is})) == [[(b"1", None), (b"2", b"\xff")]]


def test_a_line_that_is_no_fault(tmp_path: Path) -> None:
    path = file_of(tmp_path, FAULT, {**FAULT, "partition": "x"})
    with pytest.raises(FolderError, match=":2: this line is not a fault: "):
        list(fault_lines(path))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="cannot be read"):
        list(event_batches(tmp_path))
