"""Packages of vectors: each language loads them, as docs/vectors.md says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.page_commands import page_text
from ticdc_producer.cli import main
from tools.vectors.__main__ import PACK
from tools.vectors.__main__ import main as packages

PROGRAMS = {"go": "go", "java": "mvn", "node": "npm", "python": sys.executable, "rust": "cargo"}


def commands(language: str) -> str:
    """The commands of the page."""
    (block,) = re.findall(
        rf"### {language.title()}\n[^`]*```bash\n(.*?)```", page_text("vectors.md"), re.DOTALL
    )
    return str(block)


def loads_every_vector(language: str, out: Path, folder: Path) -> None:
    folder.mkdir()
    done = subprocess.run(
        ["bash", "-e", "-c", commands(language)],
        cwd=folder,
        env={**os.environ, "PACKAGES": str(out)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors") / "tree"
    assert main(["golden", "--format", "vectors", "--out", str(folder), "--filter", "*.rows.insert"]) == 0
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors") / "tree"
    assert main(["golden", "--format", "vectors", "--out", str(folder)]) == 0
    return folder


def test_the_sources_have_the_vectors_the_licence_and_the_version(tree: Path, tmp_path: Path) -> None:
    assert packages([str(tree), "--out", str(tmp_path / "packages")]) == 0
    for language in PACK:
        folder = tmp_path / "packages" / language
        assert {path.name for path in (folder / "data").iterdir()} == {
            path.name for path in tree.iterdir() if path.name != "README.md"
        }
        assert {"LICENSE", "NOTICE", "README.md"} <= {path.name for path in folder.iterdir()}
    package = json.loads((tmp_path / "packages" / "node" / "package.json").read_text("utf-8"))
    tool = json.loads((tree / "manifest.json").read_text("utf-8"))["tool"]
    assert package["version"] in tool
    with pytest.raises(SystemExit, match="exists already"):
        packages([str(tree), "--out", str(tmp_path / "packages")])
    with pytest.raises(SystemExit, match="has no vectors"):
        packages([str(tmp_path), "--out", str(tmp_path / "others")])


def test_the_loaders_of_two_languages_load_every_vector(tree: Path, tmp_path: Path) -> None:
    """In the sources of the packages: nothing is built or installed."""
    packages([str(tree), "--out", str(tmp_path)])
    python = tmp_path / "python"
    shutil.move(python / "data", python / "ticdc_vectors" / "data")
    tests = {python: [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_vectors.py"]}
    if shutil.which("node"):
        tests[tmp_path / "node"] = ["node", "--test"]
    for folder, command in tests.items():
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("language", PACK)
def test_the_commands_of_the_page(whole: Path, tmp_path: Path, language: str) -> None:
    """From an empty folder to a test that loads every vector; the vectors are those of the page."""
    if shutil.which(PROGRAMS[language]) is None:
        pytest.skip(f"not run: {PROGRAMS[language]} is not on the PATH")
    # The cargo of rustup is on the PATH without a toolchain, too.
    if language == "rust" and subprocess.run(["cargo", "--version"], capture_output=True).returncode:
        pytest.skip("not run: cargo has no toolchain")
    counts = json.loads((whole / "manifest.json").read_text("utf-8"))["protocols"].values()
    for part in ("vectors", "messages"):
        assert f"{sum(count[part] for count in counts):,}" in page_text("vectors.md")
    packages([str(whole), "--out", str(tmp_path / "packages"), "--pack", language])
    assert len(commands(language).splitlines()) <= 5
    loads_every_vector(language, tmp_path / "packages", tmp_path / "empty")
