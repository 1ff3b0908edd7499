"""The corpus as files: written reproducibly, and all kinds of changes are reported."""

from __future__ import annotations

import json
import shutil
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.seed_topic import CASE, ROWS, own_cache
from ticdc_producer.cli import main
from ticdc_producer.cli.options import AnyProtocol
from ticdc_producer.conformance.corpus import corpus_diff
from ticdc_producer.errors import FolderError
from ticdc_producer.model.parameter import PROTOCOLS
from ticdc_producer.targets.golden.write import write_manifest

INSERT = "required.open-protocol.rows.insert"
DAMAGED = "required.open-protocol.damaged.garbage"
FILTERS = ("--filter", "required.open-protocol.rows.*", "--filter", DAMAGED, "--filter", CASE)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("corpus")
    with own_cache(folder / "cache"):
        yield written(folder / "original")


@pytest.fixture
def corpus(original: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(original, tmp_path / "a"))


def written(folder: Path, *filters: str) -> Path:
    assert main(["golden", "--protocol", "all", "--out", str(folder), *(filters or FILTERS)]) == 0
    return folder


def diff(old: Path, new: Path, *options: str) -> int:
    return main(["golden", "diff", str(old), str(new), *options])


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_case_has_its_message_its_events_and_its_request(corpus: Path) -> None:
    (message,) = lines(corpus / INSERT / "messages.jsonl")
    (event,) = lines(corpus / INSERT / "events.jsonl")
    assert (message["topic"], message["partition"], message["offset"], message["type"]) == (
        event["topic"], event["partition"], event["offset"], event["kind"],
    )  # fmt: skip
    request = json.loads((corpus / INSERT / "manifest.json").read_text("utf-8"))["case"]
    assert (request["case"], request["level"], request["protocol"]) == (INSERT, "decode", "open-protocol")
    assert not (corpus / DAMAGED / "events.jsonl").exists()
    assert lines(corpus / CASE / "state" / "test.t1.jsonl") == ROWS


def test_the_manifest_lists_every_file(corpus: Path) -> None:
    content = json.loads((corpus / "manifest.json").read_text("utf-8"))
    existing = {path.relative_to(corpus).as_posix() for path in corpus.rglob("*") if path.is_file()}
    assert set(content["files"]) == existing - {"manifest.json"}
    assert {INSERT, DAMAGED, CASE} <= set(content["cases"])


def test_the_same_corpus_again_is_the_same(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = written(tmp_path / "b")
    assert diff(corpus, again) == 0
    assert "0 added, 0 removed, 0 changed" in capsys.readouterr().out
    assert (corpus / "manifest.json").read_bytes() == (again / "manifest.json").read_bytes()


def test_added_and_removed_cases_are_named(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fewer = written(tmp_path / "b", "--filter", INSERT)
    capsys.readouterr()
    assert diff(corpus, fewer) == 1
    out = capsys.readouterr().out
    assert f"removed: {DAMAGED}" in out
    assert INSERT not in out
    assert diff(fewer, corpus, "--json") == 1
    assert DAMAGED in json.loads(capsys.readouterr().out)["added"]


def changed(corpus: Path, case: str, file: str, old: str, new: str) -> Path:
    """A copy of a corpus with a changed file in one case."""
    copy = corpus.with_name("changed")
    shutil.copytree(corpus, copy)
    path = copy / case / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    for folder in (copy / case, copy):
        content = json.loads((folder / "manifest.json").read_text("utf-8"))
        (folder / "manifest.json").unlink()
        write_manifest(folder, {key: part for key, part in content.items() if key != "files"})
    return copy


def test_changed_bytes_are_named_with_the_first_message_and_byte(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (message,) = lines(corpus / INSERT / "messages.jsonl")
    value = str(message["value"])
    other = b64encode(b64decode(value).replace(b"bob", b"bab")).decode()
    assert diff(corpus, changed(corpus, INSERT, "messages.jsonl", value, other)) == 1
    out = capsys.readouterr().out
    assert f"changed: {INSERT}\n  Wire bytes changed: the value of conformance/0@0\n" in out
    old, new = (line for line in out.splitlines() if " from byte " in line)
    assert "bob" in old
    assert "bab" in new
    assert out.count("changed:") == 2
    assert "1 changed" in out


@pytest.mark.parametrize(
    ("case", "file", "old", "new", "message"),
    [
        (INSERT, "events.jsonl", '"bob"', '"bab"', "events.jsonl changed"),
        (CASE, "state/test.t1.jsonl", '"dd"', '"xx"', "state/test.t1.jsonl changed"),
        (INSERT, "manifest.json", '"level": "decode"', '"level": "x"', "manifest.json: case changed"),
        (INSERT, "messages.jsonl", '"type": "row"', '"type": "ddl"', "messages.jsonl: position, type"),
    ],
)
def test_other_changes_are_not_changes_of_bytes(
    corpus: Path, case: str, file: str, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(corpus, changed(corpus, case, file, old, new)) == 1
    out = capsys.readouterr().out
    assert f"changed: {case}\n  {message}" in out
    assert "Wire bytes" not in out


def test_bad_input_is_named(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(corpus, tmp_path / "nowhere") == 2
    assert diff(corpus, corpus / INSERT) == 2
    err = capsys.readouterr().err
    assert "not a corpus (ticdc-producer golden --out writes one; " in err
    assert "ticdc-producer verify with --in and --scenario compares a folder of ticdc-producer run" in err
    with pytest.raises(FolderError, match="`verify` with `folder` and `scenario` compares a folder of `run`"):
        corpus_diff(corpus, corpus / INSERT)
    (corpus / INSERT / "events.jsonl").write_text("{}", "utf-8")
    assert diff(corpus, corpus) == 2
    assert "differs from what the manifest lists" in capsys.readouterr().err
    assert main(["golden", "--out", str(corpus)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["golden"]) == 2
    assert "--out" in capsys.readouterr().err
    assert main(["golden", "--out", str(tmp_path / "new"), "--filter", "nothing"]) == 2
    assert not (tmp_path / "new").exists()


def test_cases_of_every_protocol_can_be_written_alone() -> None:
    assert {protocol.value for protocol in AnyProtocol} - {"all"} == {*PROTOCOLS}
