"""The pages of docs/extending list the files that a column type, an invariant and a parameter have."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.docs.generated_tables import DOCS
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.verifier.invariants.registry import INVARIANTS

ROOT = DOCS.parent
PACKAGE = "producer/ticdc_producer"
_PATH = re.compile(r"`((?:producer|docs|schemas|tests)/[^`]+)`")


def _listed(page: str) -> list[str]:
    """The paths in the tables of a page."""
    lines = (DOCS / "extending" / page).read_text("utf-8").splitlines()
    return [path for line in lines if line.startswith("|") for path in _PATH.findall(line)]


@cache
def _words_of_modules(folder: str = PACKAGE) -> dict[str, frozenset[str]]:
    """Path → attributes, fields and strings of the module."""
    files = sorted((ROOT / folder).rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): _words(ast.parse(file.read_text("utf-8"))) for file in files}


def _words(module: ast.Module) -> frozenset[str]:
    nodes = list(ast.walk(module))
    return frozenset({
        *(node.attr for node in nodes if isinstance(node, ast.Attribute)),
        *(node.id for node in nodes if isinstance(node, ast.Name)),
        *(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)),
    })  # fmt: skip


@pytest.mark.parametrize("page", sorted(file.name for file in DOCS.glob("extending/*.md")))
def test_the_listed_files_exist(page: str) -> None:
    for path in _listed(page):
        assert list(ROOT.glob(path.replace("NAME", "*"))), path


def test_a_column_type_is_in_the_files_of_its_page() -> None:
    """VECTOR was added last and needs them all."""
    found = {path for path, words in _words_of_modules().items() if "VECTOR_FLOAT32" in words}
    assert found == set(_listed("column-type.md"))


def test_an_invariant_is_one_definition_with_a_line_in_the_registry() -> None:
    listed = _listed("invariant.md")
    folder = f"{PACKAGE}/verifier/invariants/"
    assert f"{folder}registry.py" in listed
    modules = _words_of_modules(f"{PACKAGE}/verifier")
    for invariant in INVARIANTS:
        homes = [path for path, words in modules.items() if invariant.id in words]
        assert len(homes) == 1
        assert homes[0].startswith(folder)
        for page in ("docs/stream-semantics.md", "docs/verifying.md"):
            assert page in listed
            assert f"`{invariant.id}`" in (ROOT / page).read_text("utf-8")


def test_a_parameter_is_in_the_files_of_its_page() -> None:
    """Outside of the codecs no other module names a parameter that only one protocol has."""
    own = {one.name for spec in BUILT_IN.values() for one in spec.parameters if not one.of_client}
    own = {name for name in own if "-" in name} - {"cluster-id", "invalid-utf8"}  # others are common words
    spellings = {spelling for name in own for spelling in (name, name.replace("-", "_"))}
    listed = {path for path in _listed("parameter.md") if path.startswith(PACKAGE)}
    named = {
        path
        for path, words in _words_of_modules().items()
        if path.split("/")[2] not in ("protocols", "conformance", "bench") and spellings & words
    }
    assert own
    assert named <= listed
