"""Reading a golden folder that somebody changed: what is wrong, and on which line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.config import resolve
from ticdc_producer.errors import FolderError
from ticdc_producer.targets.decoding.dataframes import frame
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
    ("change", "told"),
    [
        ({"partition": "0"}, "'partition' is no whole number from 0 to 2147483647"),
        ({"partition": 1 << 31}, "'partition' is no whole number from 0 to 2147483647"),
        ({"offset": 1.5}, "'offset' is no whole number"),
        ({"offset": True}, "'offset' is no whole number"),
        ({"offset": 1 << 63}, "'offset' is no whole number"),
        ({"timestamp": 10**30}, "'timestamp' is no whole number"),
        ({"key": "AAA!"}, "'key' is neither null nor Base64"),
        ({"value": 5}, "'value' is neither null nor Base64"),
        ({"topic": ""}, "'topic' is no text"),
        ({"topic": "\ud800"}, "'topic' is no text"),
        ({"headers": 5}, "'headers' is no list of pairs"),
        ({"headers": [["n"]]}, "'headers' is no list of pairs"),
    ],
)
def test_a_member_that_no_message_has(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    path = _line(tmp_path, json.dumps({**GOOD, **change}))
    with pytest.raises(FolderError) as refused:
        list(records(path))
    assert str(refused.value).startswith(f"{path}:2: this line is no message: {told}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nonsense", "it is not JSON"),
        ("", "it is not JSON"),
        (b"\xff", "it is not JSON"),
        ("[1]", "it is no JSON object"),
        ("{}", "it has no 'topic'"),
    ],
)
def test_a_line_that_is_no_message(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(FolderError, match=f":2: this line is no message: {told}"):
        list(records(_line(tmp_path, text)))


@pytest.mark.parametrize("content", [{}, *({"files": files} for files in (5, [], "x", None))])
def test_a_manifest_that_does_not_list_the_files(tmp_path: Path, content: dict[str, Any]) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(FolderError, match=r"manifest\.json: its files are no mapping"):
        manifest(tmp_path)


WRITTEN = resolve("kafka:///t?protocol=canal-json").as_manifest()


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ({}, "it has no 'dispatchers'"),
        (5, "it is not of the form that a run writes"),
        ({**WRITTEN, "dispatchers": 5}, "it is not of the form that a run writes"),
        ({**WRITTEN, "partition-num": "x"}, "partition-num: input should be a valid integer"),
        ({**WRITTEN, "sink-uri": "t"}, "it does not start with kafka://"),
    ],
)
def test_a_changefeed_that_cannot_be_read(tmp_path: Path, told: object, what: str) -> None:
    with pytest.raises(FolderError) as refused:
        changefeed(tmp_path, {"changefeed": told})
    assert str(refused.value).startswith(
        f"{tmp_path / 'manifest.json'}: its changefeed cannot be read: {what}"
    )


def test_a_folder_without_messages_is_a_frame_without_rows(spark: SparkSession) -> None:
    assert frame(spark, []).count() == 0
