"""A golden folder replaces an empty folder, or on request another golden folder; nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.errors import FolderError, StorageError
from ticdc_producer.targets.golden.write import MANIFEST, golden_folder


def _write(path: Path, text: str, *, replace: bool = False) -> None:
    with golden_folder(path, replace=replace) as folder:
        (folder / MANIFEST).write_text(text)


def _fail(path: Path) -> None:
    with golden_folder(path, replace=True):
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
