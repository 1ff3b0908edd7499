"""The page: its files and their headers, and the rules of the service for them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import ticdc_producer.page
from tests.serve.service_app import App, application
from ticdc_producer.page.page_files import page_files
from ticdc_producer.serve.settings import ServeSettings

FOLDER = Path(ticdc_producer.page.__file__).parent / "files"
TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with application(ServeSettings(token=TOKEN)) as started:
        yield started


def test_the_page_and_its_files_need_no_token_and_the_service_does(app: App) -> None:
    assert app("GET", "/").headers["content-type"].startswith("text/html")
    assert app("GET", "/page/main.js").headers["content-type"].startswith("text/javascript")
    assert app("GET", "/v1/choices").status == 401
    assert app("POST", "/v1/previews", content={"sql": "SELECT 1"}).status == 401


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/page/style.css"])
def test_the_policy_allows_nothing_but_the_files_of_the_page(app: App, path: str) -> None:
    headers = app("GET", path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"


def test_no_other_file_is_served(app: App) -> None:
    for name in ("nothing.js", "..%2f__init__.py", "%2e%2e/app.py", "../static_page.py"):
        assert app("GET", f"/page/{name}").status in (404, 401), name


def test_other_pages_may_link_to_the_page_and_do_nothing_else(app: App) -> None:
    link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]
    assert app("GET", "/", headers=link).status == 200
    assert app("GET", "/", headers=[link[0], ("Sec-Fetch-Mode", "cors")]).status == 403
    assert app("GET", "/page/main.js", headers=link).status == 403
    assert app("GET", "/", headers=[*link, ("Origin", "http://evil.example")]).status == 403
    assert app("GET", "/", host="evil.example").status == 403
    assert app("POST", "/v1/previews", headers=link, content={"sql": "SELECT 1"}).status == 403


def test_the_files_load_nothing_from_elsewhere_and_make_no_markup_of_text() -> None:
    for name, (content, _) in page_files().items():
        text = content.decode()
        outside = set(re.findall(r"https?://[^\s'\"`)]+", text)) - {"http://www.w3.org/2000/svg"}
        assert not outside, name
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|DOMParser", text
        )
    page = page_files()["index.html"][0].decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", page)
    for name in re.findall(r'"/page/([^"]+)"', page):
        assert name in page_files()


def test_each_module_is_imported() -> None:
    imported = {
        name
        for content, _ in page_files().values()
        for name in re.findall(r"(?:from|import\()\s*['\"]\./([\w.]+)['\"]", content.decode())
    }
    assert {name for name in page_files() if name.endswith(".js")} - imported == {"main.js", "report.js"}


EDITOR = Path(__file__).parents[2] / "tools" / "editor"
BUNDLE = "codemirror.js"


def test_the_bundle_names_its_packages_as_they_are_locked_and_their_licences() -> None:
    packages = json.loads((EDITOR / "package-lock.json").read_text("utf-8"))["packages"]
    header = page_files()[BUNDLE][0].decode().partition("*/")[0]
    named = dict(re.findall(r"^(\S+) (\d+\.\d+\.\d+) \(MIT\)$", header, re.MULTILINE))
    assert {"@codemirror/view", "@codemirror/lang-sql", "@codemirror/lang-yaml", "style-mod"} <= named.keys()
    assert named == {name: packages[f"node_modules/{name}"]["version"] for name in named}
    assert "Permission is hereby granted, free of charge" in header
    assert "Copyright (C)" in header


@pytest.fixture(scope="session")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that makes the editor's bundle, with its packages."""
    if shutil.which("npm") is None:
        pytest.skip("not run: no npm on the PATH")
    folder = tmp_path_factory.mktemp("npm") / "editor"
    shutil.copytree(EDITOR, folder, ignore=shutil.ignore_patterns("node_modules"))
    fetched = _run("npm", "ci", "--no-audit", "--no-fund", cwd=folder)
    if fetched.returncode:
        pytest.skip(f"not run: npm does not get the packages: {fetched.stderr[-200:]}")
    return folder


def _run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=cwd)


@pytest.mark.slow
def test_the_bundle_is_what_its_build_makes(editor: Path, tmp_path: Path) -> None:
    built = _run("npm", "run", "build", "--", str(tmp_path / BUNDLE), cwd=editor)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / BUNDLE).read_bytes() == page_files()[BUNDLE][0]


@pytest.mark.slow
def test_the_types_of_the_modules(editor: Path) -> None:
    """Instead of the bundle they import its source, which has CodeMirror's types."""
    for module in FOLDER.glob("*.js"):
        if module.name != BUNDLE:
            shutil.copy(module, editor)
    options = [
        "--allowJs", "--checkJs", "--noEmit", "--strict", "--target", "es2022", "--module", "es2022",
        "--moduleResolution", "bundler", "--lib", "es2023,dom,dom.iterable",
    ]  # fmt: skip
    modules = [module.name for module in sorted(FOLDER.glob("*.js"))]
    done = _run(str(Path("node_modules", ".bin", "tsc")), *options, *modules, cwd=editor)
    assert done.returncode == 0, done.stdout
