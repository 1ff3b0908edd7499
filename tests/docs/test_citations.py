"""Pages and sections that the code cites exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.generated_tables import DOCS
from tests.docs.markdown import anchors

ROOT = DOCS.parent
CITING = ("producer", "tests", "benchmarks", "examples", "schemas")
SUFFIXES = {".py", ".yaml", ".jinja"}
SECTION = re.compile(r"^#+ (\d+(?:\.\d+)?)\.? ", re.MULTILINE)
PAGE = re.compile(r"docs/((?:decisions/)?[\w.-]+\.md)(?:#([\w-]+)| §(\d+(?:\.\d+)?))?")
WITHOUT_PAGE = re.compile(r"\bDESIGN\b|(?<!docs/)\bstream-semantics(?!\.md|/)\b|stream-semantics §")


def _sources() -> Iterator[tuple[str, str]]:
    for folder in CITING:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in SUFFIXES and "golden" not in path.parts and path != Path(__file__):
                yield name, path.read_text("utf-8")


def _dead(page: str, anchor: str, section: str) -> bool:
    path = DOCS / page
    if not path.is_file():
        return True
    sections = SECTION.findall(path.read_text("utf-8"))
    return bool((anchor and anchor not in anchors(path)) or (section and section not in sections))


def test_cited_pages_and_their_sections_exist() -> None:
    dead = [
        f"{name}: docs/{page}#{anchor or section}"
        for name, text in _sources()
        for page, anchor, section in PAGE.findall(text)
        if _dead(page, anchor, section)
    ]
    assert dead == []


def test_no_citation_names_a_document_without_its_page() -> None:
    citations = [f"{name}: {cited}" for name, text in _sources() for cited in WITHOUT_PAGE.findall(text)]
    assert citations == []


def test_citations_are_found() -> None:
    cited = [page for _, text in _sources() for page, _, section in PAGE.findall(text) if section]
    assert cited.count("stream-semantics.md") >= 15
