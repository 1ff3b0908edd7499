"""The pages and the API reference as a site: it builds without a warning, and the menu has every page."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.docs.generated_tables import DOCS
from ticdc_producer import api

ROOT = DOCS.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d"]
    done = subprocess.run(
        [*command, str(folder / "doctrees"), str(DOCS), str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.mark.slow
def test_it_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").is_file()


@pytest.mark.slow
def test_linked_files_are_downloads(site: Path) -> None:
    page = (site / "verifying-your-consumer.html").read_text("utf-8")
    match = re.search(r'href="(_downloads/[^"]+/sqlite_consumer\.py)"', page)
    assert match is not None
    assert (site / match[1]).read_bytes() == (ROOT / "examples/sqlite_consumer.py").read_bytes()


@pytest.mark.slow
def test_the_api_reference_has_every_public_name(site: Path) -> None:
    page = (site / "api.html").read_text("utf-8")
    for name in api.__all__:
        assert re.search(rf'id="ticdc_producer\.[a-z_.]*{name}"', page), name


def test_every_page_is_in_the_menu() -> None:
    spec = spec_from_file_location("site_configuration", DOCS / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    configuration = module_from_spec(spec)
    spec.loader.exec_module(configuration)
    listed = {page for pages in configuration.MENU.values() for page in pages}
    pages = [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]
    existing = {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages}
    assert existing == listed | {"index"}


def test_the_api_reference_names_modules_that_exist() -> None:
    named = re.findall(r"^\.\. automodule:: (\S+)$", (DOCS / "api.rst").read_text("utf-8"), re.MULTILINE)
    assert api.__name__ in named
    assert [name for name in named if find_spec(name) is None] == []
