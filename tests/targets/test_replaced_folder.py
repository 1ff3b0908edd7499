"""A golden folder replaces an empty folder, or on request another golden folder; nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ticdc_producer.errors import FolderError, StorageError
from ticdc_producer.targets.golden.folder import MANIFEST, new_folder


def _write(path: Path, text: str, *, replace: bool = False) -> None:
    with new_folder(path, replace=replace) as folder:
        (folder / MANIFEST).write_text(text)


def _fail(path: Path) -> None:
    with new_folder(path, replace=True):
        assert (path / MANIFEST).read_text() == "old"
        raise OSError("full")


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "golden").mkdir()
    _write(tmp_path / "golden", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["golden"]
    assert (tmp_path / "golden" / MANIFEST).read_text() == "new"


def test_a_golden_folder_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "golden"
    _write(path, "old")
    (path / "more.jsonl").write_text("old")
    with pytest.raises(StorageError, match="full"):
        _fail(path)
    assert (path / MANIFEST).read_text() == "old"
    _write(path, "new", replace=True)
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == [
        "golden",
        f"golden/{MANIFEST}",
    ]
    assert (path / MANIFEST).read_text() == "new"


def test_a_golden_folder_is_not_replaced_without_request(tmp_path: Path) -> None:
    _write(tmp_path / "golden", "old")
    with pytest.raises(FolderError, match="exists already"):
        _write(tmp_path / "golden", "new")


@pytest.mark.parametrize("replace", [False, True])
def test_a_link_to_nothing_is_no_new_folder(tmp_path: Path, replace: bool) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(FolderError, match=r"exists already|not a golden folder"):
        _write(tmp_path / "link", "new", replace=replace)
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


_WRITER = """
import sys
from pathlib import Path
from ticdc_producer.targets.golden.folder import new_folder
with new_folder(Path(sys.argv[1])) as folder:
    (folder / "sub").mkdir()
    (folder / "sub" / "messages.jsonl").write_text("of the first")
    print("writes", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def first(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that writes a folder until its input ends."""
    command = [sys.executable, "-c", _WRITER, str(tmp_path / "golden")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "writes\n"
        yield process
        process.kill()


@pytest.mark.parametrize("replace", [False, True])
def test_one_of_two_processes_writes_a_folder(
    tmp_path: Path, first: subprocess.Popen[str], replace: bool
) -> None:
    path = tmp_path / "golden"
    with pytest.raises(FolderError) as caught:
        _write(path, "of the second", replace=replace)
    assert str(caught.value) == (
        f"{path}: another process writes this folder (wait for its end, or name another folder)"
    )
    first.communicate()
    assert first.returncode == 0
    assert _files(tmp_path) == {"golden/sub/messages.jsonl": "of the first"}


def test_a_process_that_was_killed_holds_no_folder(tmp_path: Path, first: subprocess.Popen[str]) -> None:
    first.kill()
    first.wait()
    assert _files(tmp_path) == {"golden.partial/sub/messages.jsonl": "of the first"}
    _write(tmp_path / "golden", "of the second")
    assert _files(tmp_path) == {f"golden/{MANIFEST}": "of the second"}


def _files(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_a_link_with_the_name_of_an_incomplete_folder_is_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "other" / "thesis.txt"
    mine.parent.mkdir()
    mine.write_text("three years")
    (tmp_path / "golden.partial").symlink_to(mine.parent)
    with pytest.raises(FolderError, match="cannot be created"):
        _write(tmp_path / "golden", "new")
    assert mine.read_text() == "three years"


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_nothing_else_is_removed(tmp_path: Path, kind: str) -> None:
    path, mine = tmp_path / "mine", tmp_path / "other" / "thesis.txt"
    if kind == "folder":
        mine = path / "thesis.txt"
    mine.parent.mkdir()
    mine.write_text("three years")
    if kind == "file":
        path.write_text("three years")
    if kind == "link":
        (mine.parent / MANIFEST).write_text("{}")
        path.symlink_to(mine.parent)
    with pytest.raises(FolderError, match="not a golden folder"):
        _write(path, "new", replace=True)
    assert mine.read_text() == "three years"


def test_a_refused_run_removes_no_incomplete_folder(tmp_path: Path) -> None:
    path, partial = tmp_path / "golden", tmp_path / "golden.partial"
    path.mkdir()
    (path / "file").write_text("own")
    partial.mkdir()
    (partial / "thesis").write_text("own")
    for replace in (False, True):
        with pytest.raises(FolderError):
            _write(path, "new", replace=replace)
    assert (partial / "thesis").read_text() == "own"
