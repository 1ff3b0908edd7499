"""Names and sentences use the field's words (docs/glossary.md), not the private ones that we once had."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ticdc_producer.verifier.invariants.registry import INVARIANTS

ROOT = Path(__file__).parents[1]
CODE = ("producer", "benchmarks", "examples", "scoreboard", "tests", "tools")
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
    r"|the new program|the classic program|the seed's log|anew|as far as|likewise|hangs? on)\b"
    r"|(?<!-)\bbeside\b(?!-))|(?:^|[.|] )(?:\W*)Of (?!course)",
    re.MULTILINE,
)
"""The worst of our old English, in docstrings, comments, messages and pages."""

RESULTS = frozenset({"data2", "found", "got", "made", "one", "stuff", "thing"})
"""Names of nothing: a result is named after what it is."""

NO_VERB = re.compile(r"(?:A|All|An|As|Each|Every|How|Its|No|The|What|Where|Whether|Which|Who)\b|[a-z`*]")
"""Beginnings of a docstring that is no sentence with a verb."""

NO_NOUN = re.compile(
    r"(?:Everything|How|No|Something|What|When|Where|Whether|Which|Who|Why)\b"
    r"|(?:At|By|For|From|In|Of|On|To|With)\b"
    r"|[A-Z]\w+s (?:an?|all|each|every|how|the|what|whether)\b"
    r"|[a-z]"
)
"""Beginnings of a docstring that does not name its class; see also ``_predicate``."""

AFTER_A_NOUN = r"(?=,| (?:in|of|over|that|to|with)\b)"
"""What follows a noun that is also a verb: *changes of rows*, but *changes rows*."""

OF_LIBRARIES = {
    ("tests/model/test_coerce.py", "places"),  # hypothesis: decimals(places=…)
    ("tests/model/test_row_key.py", "places"),
    ("producer/ticdc_producer/simulate/fault_counts.py", "places"),  # a key of the report's JSON
    ("tests/reports/test_html.py", "feed"),  # HTMLParser.feed
    ("tests/scoreboard/test_scoreboard.py", "feed"),
}
"""(path, word): names that other libraries chose."""


@cache
def _parts(name: str) -> set[str]:
    return {part.lower() for part in re.findall(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


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


@cache
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


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
"""Packages whose public names are made of words of the glossary, and of ordinary ones."""

PLAIN_WORDS = frozenset({
    "actual", "broadcast", "checked", "choice", "compared", "content", "data", "database", "delivered",
    "described", "descriptions", "divided", "encoded", "few", "files", "followed",
    "grouped", "injected", "keyed", "known", "limit", "local", "marked", "memory", "moved",
    "observed", "observer", "options", "order", "ordered", "pair", "ref", "requested", "runs",
    "simulated", "spark", "stored", "strictness", "summary", "suspected", "uncovered", "unmet",
    "value", "verify", "visibility", "visible",
})  # fmt: skip
"""English words that need no definition, and participles that say what happened to a noun."""

WORDS_OF_LIBRARIES = frozenset({
    "attempt", "bit", "buckets", "byte", "cached", "clock", "constant", "conversion", "dataframe",
    "date", "datetime", "decimal", "decode", "default", "draw", "drawn", "duration", "encode", "encoder",
    "error", "file", "float", "function", "gap", "hash", "html", "int", "integer", "item", "joined",
    "label", "lags", "map", "match", "max", "merge", "mixed", "ms", "name", "nbytes",
    "normalized", "null", "number", "op", "operand", "operation", "option", "packed", "parallelism",
    "parquet", "patterns", "prefix", "qualified", "query", "range", "rank", "read", "record", "reduced",
    "reencoded", "registered", "replay", "replica", "restore", "result", "sequence", "settings", "sort",
    "stamp", "statement", "status", "strict", "strings", "t", "tagged", "ticks", "total",
    "translate", "trimmed", "type", "union", "unit", "unpacked", "upserts", "vector", "virtual", "worker",
    "zone",
})  # fmt: skip
"""Words of Python, Arrow, NumPy, Spark, Kafka and MySQL."""

WORDS_OF_MEMBERS = frozenset({
    "a", "and", "accepts", "across", "add", "again", "any", "applied", "are", "away", "b", "beginning", "by",
    "cause", "certain", "choose", "clears", "comparable", "compare", "computed", "concerned", "contain",
    "copy", "correct", "covered", "create", "detail", "detected", "different", "discarded", "divide",
    "dropped", "empty", "enabled", "equal", "exact", "execute", "exercised", "extra", "final", "find",
    "fitted", "fitting", "fixed", "from", "grows", "has", "have", "hint", "ignored", "in", "includes",
    "incomplete", "interrupted", "is", "keeps", "keyless", "lacks", "last", "late", "later", "lines",
    "locate", "may", "missing", "most", "moves", "nearest", "needs", "never", "newest", "no", "none", "not",
    "nothing", "observe", "ok", "older", "on", "one", "other", "out", "own", "partners",
    "places", "planned", "prepare", "previous", "reached", "readable", "reason", "receives", "rejected",
    "repaired", "repeated", "reported", "requirement", "requires", "reused", "run", "see", "seen", "select",
    "sent", "simulate", "since", "small", "stale", "stop", "summarize", "swapped", "take", "to", "tracked",
    "uncounted", "undecoded", "unexpected", "uninjected", "unknown", "unmatched", "unnoticed", "unordered",
    "unreadable", "until", "varies", "whole", "with", "within", "without", "wrong",
})  # fmt: skip
"""Verbs, prepositions and adjectives of functions and fields."""


@cache
def _glossary() -> frozenset[str]:
    """The words of the headwords."""
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    headwords = re.findall(r"^- \*\*(.+?)\*\*", text, re.MULTILINE)
    return frozenset(word.lower() for head in headwords for word in re.findall(r"[A-Za-z]+", head))


@cache
def _public_names() -> tuple[tuple[str, str, bool], ...]:
    """The path and the name of each public class, function and field, and whether it is a class."""
    held = tuple(f"producer/ticdc_producer/{package}/" for package in HELD)
    return tuple(
        (path, *name)
        for path, text in _modules()
        if path.startswith(held)
        for name in _names(_tree(text).body)
        if not name[0].startswith("_")
    )


def _names(body: Iterable[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """Yield what modules and public classes define."""
    for node in body:
        match node:
            case ast.ClassDef(name=name):
                yield name, True
                if not name.startswith("_"):
                    yield from _names(node.body)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, False
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name, False


ENDINGS = {
    "ies": ("y",), "es": ("", "e"), "s": ("",), "ied": ("y",), "ed": ("", "e"), "ing": ("", "e"),
    "ged": ("",), "med": ("",), "ped": ("",), "ted": ("",),
}  # fmt: skip
"""Endings of plurals and of verbs, and what is there without them."""


def _forms(word: str) -> set[str]:
    """Return a word and what it can be a form of."""
    stems = {
        word[: -len(end)] + rest for end, rests in ENDINGS.items() if word.endswith(end) for rest in rests
    }
    return {word} | stems


def _unknown(known: frozenset[str], *, classes: bool) -> list[tuple[str, str, str]]:
    """Return the public names with a word that is not known, nor a form of one."""
    return sorted(
        (path, name, part)
        for path, name, is_class in _public_names()
        if is_class == classes
        for part in _parts(name)
        if not _forms(part) & known
    )


def test_public_classes_are_named_with_words_of_the_glossary() -> None:
    assert _unknown(_glossary() | PLAIN_WORDS, classes=True) == []


def test_public_functions_and_fields_are_named_with_words_of_the_glossary() -> None:
    """Constants of invariants have the words of their ids."""
    ids = {word.lower() for invariant in INVARIANTS for word in invariant.id.split("-")}
    known = _glossary() | PLAIN_WORDS | WORDS_OF_LIBRARIES | WORDS_OF_MEMBERS | ids
    assert _unknown(known, classes=False) == []


def test_no_word_is_listed_without_need() -> None:
    parts = [form for _, name, _ in _public_names() for part in _parts(name) for form in _forms(part)]
    listed = PLAIN_WORDS | WORDS_OF_LIBRARIES | WORDS_OF_MEMBERS
    assert listed - set(parts) == set()
    assert listed & _glossary() == set()


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
        for node in _definitions(_tree(text).body)
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
    assert all(map(NO_NOUN.match, ("Unpacks the rows.", "For each row, its key.", "true or false.")))
    assert not any(map(NO_NOUN.match, ("Rows that are unpacked.", "Forms of rows.")))
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
    [
        ("toldNames", {"told", "names"}),
        ("as_planted", {"as", "planted"}),
        ("DDLPlace", {"ddl", "place"}),
        ("DDLs", {"ddls"}),
    ],
)
def test_parts_of_a_name(name: str, parts: set[str]) -> None:
    assert _parts(name) == parts
