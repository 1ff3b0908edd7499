"""Names and sentences use the field's words (docs/glossary.md), not the private ones that we once had."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
CODE = ("producer", "benchmarks", "examples", "tests", "tools")
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

RESULTS = frozenset({"found", "made", "one"})
"""Names of nothing: a result is named after what it is."""

NO_VERB = re.compile(r"(?:A|All|An|As|Each|Every|How|Its|No|The|What|Where|Whether|Which|Who)\b|[a-z`*]")
"""Beginnings of a docstring that is no sentence with a verb."""

NO_NOUN = re.compile(r"(?:How|No|Something|What|When|Where|Whether|Which|Who|Why)\b")
"""Beginnings of a docstring that does not name its class; see also ``_predicate``."""

AFTER_A_NOUN = r"(?=,| (?:in|of|over|that|to|with)\b)"
"""What follows a noun that is also a verb: *changes of rows*, but *changes rows*."""

OF_LIBRARIES = {
    ("tests/model/test_coerce.py", "places"),  # hypothesis: decimals(places=…)
    ("tests/model/test_row_key.py", "places"),
    ("producer/ticdc_producer/simulate/counts.py", "places"),  # a key of the report's JSON
    ("tests/reports/test_html.py", "feed"),  # HTMLParser.feed
}
"""(path, word): names that other libraries chose."""


def _parts(name: str) -> set[str]:
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


@cache
def _modules() -> tuple[tuple[str, str], ...]:
    """The path and the text of each module."""
    return tuple(_read_modules())


def _read_modules() -> Iterator[tuple[str, str]]:
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path == Path(__file__) or "golden" in path.parts:
                continue
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


_LEXEME = re.compile(
    r"""(?P<string>[rRbBuUfF]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))|(?P<comment>\#[^\n]*)|(?P<name>[^\W\d]\w*)|\d\w*""",
    re.DOTALL,
)
"""Strings, comments and names of Python; its own tokenizer takes five times as long."""


@cache
def _tokens(text: str, *kinds: str) -> frozenset[str]:
    """The different tokens of some kinds in a module."""
    by_kind = _tokens_by_kind(text)
    return frozenset().union(*(by_kind.get(kind, ()) for kind in kinds))


@cache
def _tokens_by_kind(text: str) -> dict[str | None, set[str]]:
    by_kind: dict[str | None, set[str]] = {}
    for token in _LEXEME.finditer(text):
        by_kind.setdefault(token.lastgroup, set()).add(token[0])
    return by_kind


def banned_names() -> set[tuple[str, str]]:
    """Each file with each banned word that is part of one of its identifiers, or of its own path."""
    banned = set()
    for path, text in _modules():
        names = _tokens(text, "name")
        parts = {part for name in (*names, *Path(path).with_suffix("").parts) for part in _parts(name)}
        banned |= {(path, word) for word in parts & NAMES}
    return banned


def banned_sentences() -> set[tuple[str, str]]:
    """Each file with each banned expression of its comments and strings, or of its text if it is a page."""
    banned = set()
    for path, text in _modules():
        prose = _tokens(text, "comment", "string")
        banned |= {(path, hit[0].lower().strip()) for part in prose for hit in SENTENCES.finditer(part)}
    for page in PAGES:
        paths = sorted((ROOT / page).glob("**/*.md")) if (ROOT / page).is_dir() else [ROOT / page]
        for path in paths:
            hits = SENTENCES.finditer(path.read_text("utf-8"))
            banned |= {(path.relative_to(ROOT).as_posix(), hit[0].lower().strip()) for hit in hits}
    return banned


def test_no_private_words_in_names() -> None:
    """Also fails for a word that ``OF_LIBRARIES`` lists without need."""
    assert sorted(banned_names() ^ OF_LIBRARIES) == []


def test_no_private_words_in_sentences() -> None:
    assert sorted(banned_sentences()) == []


HELD = ("engine", "simulate", "oracle", "verifier")
"""Packages whose public classes are named with words of the glossary."""

PLAIN_WORDS = frozenset({
    "actual", "broadcast", "checked", "choice", "compared", "content", "data", "database", "delivered",
    "described", "descriptions", "divided", "encoded", "expected", "few", "files", "followed", "generated",
    "grouped", "injected", "keyed", "known", "limit", "lists", "local", "marked", "memory", "moved",
    "observed", "observer", "options", "order", "ordered", "pair", "ref", "requested", "runs",
    "simulated", "spark", "start", "stored", "strictness", "summary", "suspected", "uncovered", "unmet",
    "value", "verify", "visibility", "visible",
})  # fmt: skip
"""English words that need no definition, and participles that say what happened to a noun."""


def test_public_classes_are_named_with_words_of_the_glossary() -> None:
    headwords = re.findall(
        r"^- \*\*(.+?)\*\*", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.MULTILINE
    )
    known = {word.lower() for head in headwords for word in re.findall(r"[A-Za-z]+", head)} | PLAIN_WORDS
    classes = {
        (path, node.name)
        for path, text in _modules()
        if path.startswith(tuple(f"producer/ticdc_producer/{package}/" for package in HELD))
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }
    unknown = {
        (path, name, part)
        for path, name in classes
        for part in _parts(name)
        if not {part, part.removesuffix("s"), part.removesuffix("d"), part.removesuffix("ped")} & known
    }
    assert sorted(unknown) == [], sorted({part for *_, part in unknown})


def test_results_are_named_after_what_they_are() -> None:
    names = {(path, name) for path, text in _modules() for name in _tokens(text, "name")}
    assert sorted((path, name) for path, name in names if name in RESULTS) == []


class Documented(NamedTuple):
    """A class, or a function that is no property, with its docstring."""

    position: str
    is_class: bool
    docstring: str


@cache
def _documented() -> tuple[Documented, ...]:
    return tuple(
        Documented(f"{path}:{node.lineno}", isinstance(node, ast.ClassDef), ast.get_docstring(node) or "")
        for path, text in _modules()
        if path.startswith("producer/")
        for node in _definitions(ast.parse(text).body)
        if not any(map(_is_property, node.decorator_list))
    )


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    """Ruff's D401 knows the verbs; those of properties name what they return."""
    functions = [entry for entry in _documented() if not entry.is_class]
    assert [entry for entry in functions if NO_VERB.match(entry.docstring)] == []


def _predicate() -> re.Pattern[str]:
    """Beginnings with one of the verbs of our functions, as in *Reads rows*."""
    texts = (entry.docstring for entry in _documented() if not entry.is_class)
    verbs = {word[0] for text in texts if (word := re.match(r"[A-Z][a-z]+", text))}
    return re.compile(rf"(?:{'|'.join(map(_third_person, sorted(verbs)))})\b(?!{AFTER_A_NOUN})")


def _third_person(verb: str) -> str:
    stem = re.sub(r"(?<=[^aeiou])y$", "i", verb)
    return f"{stem}es" if re.search(r"(?:s|sh|ch|x|z|o|i)$", stem) else f"{stem}s"


def test_docstrings_of_classes_name_what_they_are() -> None:
    """A class is a thing: *A reader of rows*, neither *Reads rows* nor *Which rows are read*."""
    predicate = _predicate()
    classes = [entry for entry in _documented() if entry.is_class]
    nameless = [
        entry for entry in classes if any(start.match(entry.docstring) for start in (NO_NOUN, predicate))
    ]
    assert nameless == []
    assert predicate.match("Reads rows.")
    assert predicate.match("Copies a row.")
    assert not predicate.match("Copies of rows.")


def _definitions(body: Iterable[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the classes and functions of modules, classes and functions."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        for part in ("body", "orelse", "handlers", "finalbody"):
            yield from _definitions(getattr(node, part, ()))


def _is_property(decorator: ast.expr) -> bool:
    return "property" in ast.unparse(decorator)


@pytest.mark.parametrize(
    ("name", "parts"),
    [("toldNames", {"told", "names"}), ("as_planted", {"as", "planted"}), ("DDLPlace", {"ddl", "place"})],
)
def test_parts_of_a_name(name: str, parts: set[str]) -> None:
    assert _parts(name) == parts
