"""Names and sentences use the field's words (docs/glossary.md), not the private ones that we once had."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = ("producer", "benchmarks", "examples", "tests")
PAGES = ("README.md", "CONTRIBUTING.md", "docs")

NAMES = frozenset({
    "aside", "asked", "asks", "barred", "begun", "census", "feed", "judge", "judged", "judges", "kept",
    "piece", "pieces", "place", "placed", "places", "planted", "played", "said", "say", "says", "shown",
    "stretch", "stretches", "suspect", "suspects", "telling", "tellings", "tells", "there", "told", "truth",
    "untold", "witness", "witnesses", "worded", "wording", "woven",
})  # fmt: skip
"""Words that are no part of an identifier or of a module's name."""

SENTENCES = re.compile(
    r"(?i:\b(?:told|tells|untold|whoever|judged?|judges|planted|asked for|stands|stand there|so many"
    r"|the new program|the classic program|the seed's log)\b)|(?:^|[.|] )(?:\W*)Of (?!course)",
    re.MULTILINE,
)
"""The worst of our old English, in docstrings, comments, messages and pages."""

OF_LIBRARIES = {
    ("tests/model/test_coerce.py", "places"),  # hypothesis: decimals(places=…)
    ("tests/model/test_row_key.py", "places"),
    ("tests/reports/test_html.py", "feed"),  # HTMLParser.feed
}
"""(path, word): names that other libraries chose."""


def _parts(name: str) -> set[str]:
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def _modules() -> Iterator[tuple[str, str]]:
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path == Path(__file__) or "golden" in path.parts:
                continue
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


def banned_names() -> set[tuple[str, str]]:
    """Each file with each banned word that is part of one of its identifiers, or of its own path."""
    found = set()
    for path, text in _modules():
        names = {token.string for token in _tokens(text) if token.type == tokenize.NAME}
        parts = {part for name in (*names, *Path(path).with_suffix("").parts) for part in _parts(name)}
        found |= {(path, word) for word in parts & NAMES}
    return found


def banned_sentences() -> set[tuple[str, str]]:
    """Each file with each banned expression of its comments and strings, or of its text if it is a page."""
    found = set()
    for path, text in _modules():
        prose = [token.string for token in _tokens(text) if token.type in (tokenize.COMMENT, tokenize.STRING)]
        found |= {(path, hit[0].lower().strip()) for part in prose for hit in SENTENCES.finditer(part)}
    for page in PAGES:
        paths = sorted((ROOT / page).glob("**/*.md")) if (ROOT / page).is_dir() else [ROOT / page]
        for path in paths:
            hits = SENTENCES.finditer(path.read_text("utf-8"))
            found |= {(path.relative_to(ROOT).as_posix(), hit[0].lower().strip()) for hit in hits}
    return found


def test_no_private_words_in_names() -> None:
    """Also fails for a word that ``OF_LIBRARIES`` lists without need."""
    assert sorted(banned_names() ^ OF_LIBRARIES) == []


def test_no_private_words_in_sentences() -> None:
    assert sorted(banned_sentences()) == []


@pytest.mark.parametrize(
    ("name", "parts"),
    [("toldNames", {"told", "names"}), ("as_planted", {"as", "planted"}), ("DDLPlace", {"ddl", "place"})],
)
def test_parts_of_a_name(name: str, parts: set[str]) -> None:
    assert _parts(name) == parts
