"""Reading a changed golden folder: the error, and its line."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.errors import FolderError
from ticdc_producer.targets.golden.read import changefeed, manifest, records

GOOD = {"topic": "t", "partition": 0, "offset": 7, "key": "AAAA", "value": None, "headers": [["n", "AA=="]]}


def _line(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "messages.jsonl"
    first = json.dumps(GOOD).encode() + b"\n"
    path.write_bytes(first + (text if isinstance(text, bytes) else text.encode()) + b"\n")
    return path


def test_a_line_as_it_should_be(tmp_path: Path) -> None:
    assert [record.offset for record in records(_line(tmp_path, json.dumps(GOOD)))] == [7, 7]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partition": "0"}, "Expected `int`, got `str` - at `$.partition`"),
        ({"partition": 1 << 31}, "Expected `int` <= 2147483647 - at `$.partition`"),
        ({"offset": 1.5}, "Expected `int`, got `float` - at `$.offset`"),
        ({"offset": True}, "Expected `int`, got `bool` - at `$.offset`"),
        ({"offset": 1 << 63}, "Expected `int` <= 8796093022207 - at `$.offset`"),
        ({"timestamp": 10**30}, "Expected `int` <= 9223372036854775807 - at `$.timestamp`"),
        ({"key": "AAA!"}, "Invalid base64 encoded string - at `$.key`"),
        ({"value": 5}, "Expected `bytes | null`, got `int` - at `$.value`"),
        ({"topic": ""}, "Expected `str` of length >= 1 - at `$.topic`"),
        ({"topic": "\ud800"}, "JSON is malformed: unexpected end of escaped utf-16 surrogate pair"),
        ({"headers": 5}, "Expected `array | null`, got `int` - at `$.headers`"),
        ({"headers": [["n"]]}, "Expected `array` of length 2 - at `$.headers[0]`"),
    ],
)
def test_a_member_that_no_message_has(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = _line(tmp_path, json.dumps({**GOOD, **change}))
    with pytest.raises(FolderError) as rejected:
        list(records(path))
    assert str(rejected.value).startswith(f"{path}:2: this line is not a message: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "JSON is malformed"),
        ("", "Input data was truncated"),
        (b"\xff", "JSON is malformed"),
        ("[1]", "Expected `object`, got `array`"),
        ("{}", "Object missing required field `topic`"),
    ],
)
def test_a_line_that_is_not_a_message(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(FolderError, match=f":2: this line is not a message: {message}"):
        list(records(_line(tmp_path, text)))


@pytest.mark.parametrize("content", [{}, *({"files": files} for files in (5, [], "x", None))])
def test_a_manifest_that_does_not_list_the_files(tmp_path: Path, content: dict[str, Any]) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(FolderError, match=r"manifest\.json: its files are not a mapping"):
        manifest(tmp_path)


WRITTEN = resolve("kafka:///t?protocol=canal-json").as_manifest()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({}, "it has no 'dispatchers'"),
        (5, "it does not have the format that a run writes"),
        ({**WRITTEN, "dispatchers": 5}, "it does not have the format that a run writes"),
        ({**WRITTEN, "partition-num": "x"}, "partition-num: input should be a valid integer"),
        ({**WRITTEN, "sink-uri": "t"}, "it does not start with kafka://"),
    ],
)
def test_a_changefeed_that_cannot_be_read(tmp_path: Path, content: object, what: str) -> None:
    with pytest.raises(FolderError) as rejected:
        changefeed(tmp_path, {"changefeed": content})
    assert str(rejected.value).startswith(
        f"{tmp_path / 'manifest.json'}: its changefeed cannot be read: {what}"
    )


def _written_by(tool: str, folder: Path, changefeed_of_it: dict[str, Any]) -> Path:
    content = {"tool": tool, "files": {}, "changefeed": changefeed_of_it}
    (folder / "manifest.json").write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize("tool", ["ticdc-producer 0.0.9", f"ticdc-producer {version('ticdc-producer')}"])
def test_folders_of_earlier_versions_are_read(tmp_path: Path, tool: str) -> None:
    settings = resolve("kafka:///t?protocol=craft").as_manifest()
    folder = _written_by(tool, tmp_path, settings)
    assert changefeed(folder, manifest(folder)).protocol == "craft"


def test_a_folder_of_a_later_version_is_refused_by_version(tmp_path: Path) -> None:
    with pytest.raises(
        FolderError, match=r"it was written by ticdc-producer 999\.1, and this is "
    ) as refused:
        manifest(_written_by("ticdc-producer 999.1", tmp_path, {}))
    assert "update ticdc-producer" in str(refused.value)


def test_a_changefeed_that_this_version_cannot_read_names_the_version_that_wrote_it(tmp_path: Path) -> None:
    settings = {**resolve("kafka:///t?protocol=craft").as_manifest(), "no-longer": True}
    folder = _written_by("ticdc-producer 0.0.9", tmp_path, settings)
    with pytest.raises(FolderError, match=r"written by ticdc-producer 0\.0\.9, .*write the folder again"):
        changefeed(folder, manifest(folder))
