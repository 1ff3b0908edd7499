"""Transcoding: what ``record`` and ``run`` would write, in one call that leaves nothing else behind."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kafka_topic import read_topic
from tests.recording.test_properties import PROTOCOLS, recorded, sent
from tests.recording.test_record import URI, golden, messages, scenario
from ticdc_producer import ProducerError, record, run, transcode, verify
from ticdc_producer.cli import main
from ticdc_producer.conformance.fuzz.example import script
from ticdc_producer.conformance.fuzz.random_example import random_history
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.simulate.prepare import prepare

OPEN = "kafka:///other?protocol=open-protocol&partition-num=2"
TARGETS = [
    OPEN,
    "kafka:///other?protocol=canal-json&partition-num=1",
    "kafka:///other?protocol=avro&schema-registry=mock://r",
]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, which is empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("target", [None, *TARGETS])
def test_a_folder_is_that_of_record_and_run(tmp_path: Path, target: str | None) -> None:
    source = golden(tmp_path / "golden", "simple")
    result = transcode(folder=source, to_sink_uri=target, out=tmp_path / "folder")
    assert result.ok
    assert result.recording.events["row"] == 15
    record(folder=source, out=tmp_path / "recording")
    run(tmp_path / "recording", sink_uri=target, out=tmp_path / "replayed")
    assert files(tmp_path / "folder") == files(tmp_path / "replayed")


@settings(max_examples=5)
@given(st.integers(0, 1 << 32), st.sampled_from(PROTOCOLS), st.sampled_from(PROTOCOLS), st.integers(1, 3))
def test_random_histories_are_those_of_record_and_run(
    seed: int, protocol: str, target: str, partitions: int
) -> None:
    uri = f"kafka:///t?partition-num=2&protocol={protocol}"
    to_uri = f"kafka:///u?partition-num={partitions}&protocol={target}"
    statements = random_history(Random(seed), frozenset(), ddl=0.25, length=8).statements
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "s.sql").write_text(script(statements), "utf-8")
        job = prepare(folder / "s.sql", sink_uri=uri)
        assume(any(ddl.sent for ddl in job.history.catalog.ddls))
        recorded(sent(job), uri, folder / "source")
        run(folder / "source" / "recording", sink_uri=to_uri, out=folder / "replayed", engine="local")
        file = folder / "source" / "messages.jsonl"
        transcode(sink_uri=uri, messages=file, to_sink_uri=to_uri, out=folder / "folder", engine="local")
        assert files(folder / "folder") == files(folder / "replayed")


def test_a_part_is_dispatched_by_other_rules(tmp_path: Path) -> None:
    source = golden(tmp_path / "golden", "simple")
    rules = {"sink": {"dispatchers": [{"matcher": ["*.*"], "topic": "{schema}_{table}"}]}}
    transcode(folder=source, table=["shop.notes"], to_sink_uri=OPEN, to_config=rules, out=tmp_path / "folder")
    assert (
        {"shop_notes"}
        <= {line["topic"] for line in messages(tmp_path / "folder")}
        <= {
            "shop_notes",
            "other",
        }
    )
    assert verify(folder=tmp_path / "folder").ok


def test_a_storage_is_written(tmp_path: Path) -> None:
    source = golden(tmp_path / "golden", "simple")
    target = f"file://{tmp_path}/storage?protocol=csv"
    assert transcode(folder=source, to_sink_uri=target, engine="local").ok
    assert verify(sink_uri=target).ok


@pytest.mark.usefixtures("temporary")
def test_a_topic_is_transcoded_into_another(tmp_path: Path, kafka: EmbeddedKafka) -> None:
    uri = f"kafka://{kafka.bootstrap}/transcoded_{{}}?protocol={{}}&partition-num={{}}"
    source, target = uri.format("a", "simple", 3), uri.format("b", "open-protocol", 2)
    run(scenario(), sink_uri=source, engine="local")
    assert transcode(sink_uri=source, to_sink_uri=target, engine="local").ok
    record(sink_uri=source, out=tmp_path / "recording")
    run(tmp_path / "recording", sink_uri=uri.format("c", "open-protocol", 2), engine="local")
    before, written, replayed = (read_topic(kafka.bootstrap, f"transcoded_{name}") for name in "abc")
    assert written == replayed
    for options in ({"replace": True}, {"append": True}, {}):
        with pytest.raises(ProducerError, match="transcoded_a, which is the topic that is read"):
            transcode(sink_uri=source, to_sink_uri=uri.format("a", "craft", 1), **options)
    host, _, port = kafka.bootstrap.partition(":")
    other = f"{'localhost' if host != 'localhost' else '127.0.0.1'}:{port}"
    other_name = uri.format("a", "craft", 1).replace(kafka.bootstrap, other)
    with pytest.raises(ProducerError, match="transcoded_a, which is the topic that is read"):
        transcode(sink_uri=source, to_sink_uri=other_name)
    with pytest.raises(ProducerError, match="the topic already holds messages"):
        transcode(sink_uri=source, to_sink_uri=target)
    assert read_topic(kafka.bootstrap, "transcoded_a") == before
    assert read_topic(kafka.bootstrap, "transcoded_b") == written


def _damaged(folder: Path, lines: list[dict[str, Any]]) -> Path:
    """A file of these messages and one that does not decode."""
    file = folder / "damaged.jsonl"
    more = {**lines[-1], "offset": len(lines), "value": base64.b64encode(b"x").decode()}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, more]))
    return file


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("target", [OPEN, "file://FOLDER?protocol=csv"])
def test_damaged_messages_leave_no_target(tmp_path: Path, target: str) -> None:
    uri = f"{URI}simple".replace("partition-num=3", "partition-num=1")
    run(scenario(), sink_uri=uri, out=tmp_path / "golden", engine="local")
    file, folder = _damaged(tmp_path, messages(tmp_path / "golden")), tmp_path / "folder"
    options: dict[str, Any] = {"to_sink_uri": target.replace("FOLDER", str(folder)), "engine": "local"}
    options |= {} if "FOLDER" in target else {"out": folder}
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ProducerError, match="shop/0@"):
        transcode(sink_uri=uri, messages=file, **options)
    assert sorted(tmp_path.iterdir()) == before
    result = transcode(sink_uri=uri, messages=file, skip_damaged=True, **options)
    assert result.recording.damaged == 1
    assert folder.is_dir()


@pytest.mark.usefixtures("temporary")
def test_a_row_that_the_target_rejects_leaves_no_target(tmp_path: Path) -> None:
    sql = "CREATE TABLE t (id INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, REPEAT('x', 5000))"
    source = golden(tmp_path / "golden", "simple", sql)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ProducerError, match="ErrMessageTooLarge") as caught:
        transcode(folder=source, to_sink_uri=f"{OPEN}&max-message-bytes=2000", out=tmp_path / "folder")
    assert str(tempfile.gettempdir()) not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"out": "x"}, "give exactly one source: `sink_uri` or `folder`"),
        ({"folder": "x"}, "give a target: `to_sink_uri`, `out` or both"),
        ({"folder": "x", "to_sink_uri": OPEN}, "`to_sink_uri` names no broker"),
        ({"folder": "x", "out": "y", "to_sink_uri": "kafka:///a b"}, "the target: "),
        ({"folder": "x", "out": "y", "to_config": {"sink": {"nope": 1}}}, "the target: "),
        ({"folder": "x", "to_sink_uri": "file:///x?protocol=csv", "replace": True}, "`replace` cannot be"),
        ({"sink_uri": "file:///x?protocol=csv", "out": "y"}, "there is no such folder"),
        ({"folder": "x", "out": "s3://a/b"}, "it is a URI, not a file or folder"),
    ],
)
@pytest.mark.usefixtures("temporary")
def test_bad_arguments_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProducerError) as caught:
        transcode(**options)
    assert what in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


def test_a_protocol_that_is_none_of_the_target_is_refused(tmp_path: Path) -> None:
    source = golden(tmp_path / "golden", "simple")
    with pytest.raises(ProducerError, match=r"^the target: "):
        transcode(folder=source, to_sink_uri="kafka:///t?protocol=csv", out=tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_the_command_prints_what_was_read_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = golden(tmp_path / "golden", "canal-json")
    capsys.readouterr()
    command = ["transcode", "--in", str(source), "--to-sink-uri", OPEN]
    assert main([*command, "--out", str(tmp_path / "a")]) == 0
    printed = capsys.readouterr().out
    assert "read 15 row, 6 ddl, 0 resolved events of 3 partitions in canal-json" in printed
    assert "canal-json has no commit-ts but milliseconds" in printed
    assert "are as expected" in printed
    assert main([*command, "--out", str(tmp_path / "b"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["ok"]
    assert result["recording"]["events"] == {"row": 15, "ddl": 6}
    assert result["run"]["target"] == str(tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert main(command) == 2
    assert "--to-sink-uri names no broker" in capsys.readouterr().err
