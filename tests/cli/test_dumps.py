"""``decode`` and ``verify`` read what kcat and Kafka's console consumer wrote, in place of the topic."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

import ticdc_producer
from tests.targets.test_dump import kcat_line
from ticdc_producer.cli import main

URI = "kafka:///t?protocol={}&partition-num=2"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Golden folders of one scenario in protocols of text and of bytes."""
    folders = {name: tmp_path_factory.mktemp("golden") / name for name in ("canal-json", "open-protocol")}
    for name, folder in folders.items():
        extension = "&enable-tidb-extension=true" if name == "canal-json" else ""
        ticdc_producer.run("seed_t1", sink_uri=URI.format(name) + extension, out=folder, verify_output=False)
    return folders


def _messages(folder: Path) -> Iterator[tuple[int, int, bytes | None, bytes | None]]:
    """Yield the messages in turn from both partitions, as a tool reads them."""
    lines = [json.loads(line) for line in (folder / "messages.jsonl").read_text("utf-8").splitlines()]
    for line in sorted(lines, key=lambda line: (line["offset"], -line["partition"])):
        key, value = (
            None if line[part] is None else base64.b64decode(line[part]) for part in ("key", "value")
        )
        yield line["partition"], line["offset"], key, value


def _kcat(folder: Path, path: Path) -> Path:
    lines = [
        kcat_line(key, value, offset).replace(b'"partition":1', b'"partition":%d' % partition)
        for partition, offset, key, value in _messages(folder)
    ]
    path.write_bytes(b"".join(lines))
    return path


def _console(folder: Path, path: Path) -> Path:
    lines = [
        b"CreateTime:5\tPartition:%d\tOffset:%d\tnull\t%b\n" % (partition, offset, value or b"null")
        for partition, offset, _, value in _messages(folder)
    ]
    path.write_bytes(b"".join(lines))
    return path


Dump: TypeAlias = Callable[[Path, Path], Path]
"""Writes the messages of a golden folder as a tool prints them."""
DUMPS: list[tuple[str, Dump]] = [("canal-json", _kcat), ("open-protocol", _kcat), ("canal-json", _console)]


@pytest.mark.parametrize(("protocol", "dump"), DUMPS)
def test_a_dump_has_the_events_of_its_topic(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, folders: dict[str, Path], protocol: str, dump: Dump
) -> None:
    path = dump(folders[protocol], tmp_path / "t.txt")
    assert main(["decode", str(folders[protocol] / "messages.jsonl")]) == 0
    expected = sorted(capsys.readouterr().out.splitlines())
    assert main(["decode", str(path)]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == expected
    assert any(" insert test.t1 " in line for line in expected)


@pytest.mark.parametrize(("protocol", "dump"), DUMPS)
def test_a_dump_is_verified_as_its_topic_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, folders: dict[str, Path], protocol: str, dump: Dump
) -> None:
    path = dump(folders[protocol], tmp_path / "dump.txt")
    uri = URI.format(protocol) + ("&enable-tidb-extension=true" if protocol == "canal-json" else "")
    command = ["verify", "--messages", str(path), "--sink-uri", uri]
    assert main([*command, "--scenario", "seed_t1", "--from-beginning"]) == 0
    assert "verified" in capsys.readouterr().out
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for number, line in enumerate(lines) if number != 4))
    assert main([*command, "--scenario", "seed_t1"]) == 1
    assert "1 missing" in capsys.readouterr().out


def test_bytes_that_became_a_replacement_character_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, folders: dict[str, Path]
) -> None:
    path = _kcat(folders["open-protocol"], tmp_path / "t.txt")
    path.write_text(path.read_bytes().decode("utf-8", "replace"), "utf-8")
    assert "\ufffd" in path.read_text("utf-8")
    assert main(["decode", str(path), "--protocol", "open-protocol"]) == 1
    assert "the bytes have U+FFFD, with which programs such as jq replace" in capsys.readouterr().out
    assert main(["verify", "--messages", str(path), "--sink-uri", URI.format("open-protocol")]) == 1
    assert "the bytes have U+FFFD" in capsys.readouterr().out


def test_a_dump_requires_the_sink_uri_of_its_topic(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, folders: dict[str, Path]
) -> None:
    path = str(_kcat(folders["canal-json"], tmp_path / "t.txt"))
    for arguments, complaint in (
        (["--messages", path], "--messages requires --sink-uri"),
        (["--messages", path, "--in", str(tmp_path)], "--messages cannot be combined with --in"),
        (
            ["--messages", path, "--sink-uri", "file:///x?protocol=csv"],
            "--messages cannot be combined with a",
        ),
        (["--messages", "/dev/null", "--sink-uri", URI.format("craft")], "the file has no messages"),
        (["--messages", str(tmp_path / "no"), "--sink-uri", URI.format("craft")], "cannot be read"),
    ):
        assert main(["verify", *arguments]) == 2
        assert complaint in capsys.readouterr().err


def test_a_pipe_is_not_verified(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, folders: dict[str, Path]
) -> None:
    """It is empty when it is read again."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert main(["verify", "--messages", str(path), "--sink-uri", URI.format("canal-json")]) == 2
    assert "it cannot be a pipe" in capsys.readouterr().err


def test_a_partition_that_no_topic_has_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, folders: dict[str, Path]
) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(kcat_line(None, b"{}").replace(b'"partition":1', b'"partition":2147483647'))
    assert main(["verify", "--messages", str(path), "--sink-uri", URI.format("canal-json")]) == 2
    assert "a topic has at most 10,000 partitions here" in capsys.readouterr().err


def _line(offset: int, key: bytes | None, value: bytes | None) -> str:
    texts = {name: None if part is None else base64.b64encode(part).decode() for name, part in
             (("key", key), ("value", value))}  # fmt: skip
    return json.dumps({"topic": "t", "partition": 0, "offset": offset, **texts}) + "\n"


@pytest.mark.parametrize("has_key", [True, False])
def test_tombstones_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path, has_key: bool) -> None:
    uri = "kafka:///t?protocol=debezium&partition-num=1"
    ticdc_producer.run("seed_t1", sink_uri=uri, out=tmp_path / "golden", verify_output=False)
    key, row = next((key, value) for *_, key, value in _messages(tmp_path / "golden"))
    capsys.readouterr()
    path = tmp_path / "messages.jsonl"
    path.write_text(_line(0, key, row) + _line(1, key if has_key else None, None))
    assert main(["decode", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "t/0@1[0] tombstone"
    assert main(["decode", str(path), "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[1])["kind"] == "tombstone"
    assert main(["verify", "--messages", str(path), "--sink-uri", uri, "--json"]) == 0
    kinds = json.loads(capsys.readouterr().out)["kinds"]
    assert (kinds["row"], kinds["tombstone"], kinds["error"]) == (1, 1, 0)
    assert main(["verify", "--messages", str(path), "--sink-uri", uri]) == 0
    assert "1 row, 1 tombstone" in capsys.readouterr().out


def test_a_null_value_of_another_protocol_is_damage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "messages.jsonl"
    path.write_text(_line(0, None, None))
    assert main(["decode", str(path), "--protocol", "canal-json"]) == 1
    assert "t/0@0[0] ERROR CANAL-JSON" in capsys.readouterr().out
