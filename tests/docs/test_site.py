"""The pages as a site: the links work, and the menu has every page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.docs.generated_tables import DOCS

ROOT = DOCS.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_it_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").is_file()


def test_linked_files_exist(site: Path) -> None:
    assert (site / "examples/sqlite_consumer.py").read_bytes() == (
        ROOT / "examples/sqlite_consumer.py"
    ).read_bytes()
    assert "../examples/" in (site / "verifying-your-consumer/index.html").read_text("utf-8")


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[2]
    listed = {page for group in yaml.safe_load(menu) for entry in group.values() for page in _pages(entry)}
    existing = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert existing == listed - {"RESULTS.md"}


def _pages(entry: str | list[dict[str, str]]) -> list[str]:
    return [entry] if isinstance(entry, str) else [page for one in entry for page in one.values()]
