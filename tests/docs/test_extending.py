"""The lists of modules on the pages of docs/extending are those that the code gives."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pytest

from tests.docs.generated_tables import DOCS
from tests.docs.markdown import LINK
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.parameter import Parameter, own_parameter
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.protocols.spec import ProtocolSpec
from ticdc_producer.scenario.sql.functions import MODULES
from ticdc_producer.scenario.sql.functions.function import Function
from ticdc_producer.verifier.events import Events
from ticdc_producer.verifier.invariants.registry import INVARIANTS

ROOT = DOCS.parent
PACKAGE = "producer/ticdc_producer"
_CODE = re.compile(r"`([^`]+)`")
_PATH = re.compile(r"(?:producer|docs|schemas|tests|scenarios)/[\w./*-]+")
_FILE = re.compile(r"[\w/.-]+\.\w+")


def _rows(page: str, section: str = "") -> Iterator[str]:
    """The rows of the tables of a page, or of one of its sections."""
    text = (DOCS / "extending" / page).read_text("utf-8")
    if section:
        text = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        assert text
    return (line for line in text.splitlines() if line.startswith("|"))


def _listed(page: str, *sections: str) -> list[str]:
    """The paths in the tables of a page; files after a folder with a colon are in this folder."""
    return [path for section in sections or ("",) for row in _rows(page, section) for path in _paths(row)]


def _paths(row: str) -> Iterator[str]:
    folder = ""
    for cell in row.split("|"):
        for code in _CODE.finditer(cell):
            path, follows = code[1], cell[code.end() :][:1]
            if _PATH.fullmatch(path) and follows == ":":
                folder = path
            elif _PATH.fullmatch(path):
                yield path
            elif folder and _FILE.fullmatch(path):
                yield folder + path
        folder = ""


def _modules(page: str, *sections: str) -> set[str]:
    """The modules of the package in the tables of a page."""
    return {path for path in _listed(page, *sections) if path.startswith(PACKAGE) and path.endswith(".py")}


@cache
def _texts() -> dict[str, str]:
    files = sorted((ROOT / PACKAGE).rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): file.read_text("utf-8") for file in files}


def _mentioning(texts: Iterable[str]) -> Iterator[str]:
    """The modules that contain one of the texts: only these are parsed."""
    return (path for path, content in _texts().items() if any(text in content for text in texts))


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse(_texts()[path])


def _with(condition: Callable[[ast.Module], bool], *texts: str) -> set[str]:
    """The modules of the package for which a condition holds.

    :param texts: each of these modules contains one of them.
    """
    return {path for path in _mentioning(texts) if condition(_tree(path))}


def _words_of_modules(texts: Iterable[str]) -> dict[str, frozenset[str]]:
    """Path → attributes, fields and strings of the module, without docstrings.

    :param texts: each of these modules contains one of them.
    """
    return {path: _words_of(path) for path in _mentioning(texts)}


@cache
def _words_of(path: str) -> frozenset[str]:
    return frozenset(_words(_tree(path)))


def _words(module: ast.Module) -> Iterator[str]:
    documentation = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                yield name
            case ast.FunctionDef(name=name) | ast.alias(name=name):
                yield name
            case ast.Constant(value=str(text)) if id(node) not in documentation:
                yield text


@pytest.mark.parametrize("page", sorted(file.name for file in DOCS.glob("extending/*.md")))
def test_the_listed_files_exist(page: str) -> None:
    paths = _listed(page)
    assert paths or page == "protocol.md"
    for path in paths:
        assert list(ROOT.glob(path.replace("NAME", "*"))), path


def test_contributing_links_every_page() -> None:
    linked = set(LINK.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    assert {f"docs/extending/{file.name}" for file in DOCS.glob("extending/*.md")} <= linked


OTHER_VECTORS = {
    *("java.py", "cli/conformance_command.py", "conformance/vector.py", "conformance/vectors.py"),
    "scenario/sql/functions/encryption.py",
}
"""Modules with other vectors: instructions of the CPU, cases as files, the first block of AES."""


def test_a_column_type_is_in_the_modules_of_its_page() -> None:
    """VECTOR was added last: its code, and every name and text with the word."""
    modules = {
        path
        for path, words in _words_of_modules(["vector", "Vector", "VECTOR"]).items()
        if any("vector" in word.lower() and "vectoris" not in word.lower() for word in words)
    }
    modules -= {f"{PACKAGE}/{name}" for name in OTHER_VECTORS}
    assert modules == _modules("column-type.md", "Every type", "What a type may need besides")


def test_a_type_with_numbers_is_in_the_modules_of_its_page() -> None:
    """YEAR is a number in SQL and in protocols: its code, and the set that it is in."""

    def mentions_year(module: ast.Module) -> bool:
        return any(
            (isinstance(node, ast.Name) and node.id == "NUMBERED")
            or (isinstance(node, ast.Attribute) and node.attr == "YEAR" and _is_mysql_type(node.value))
            for node in ast.walk(module)
        )

    first = _modules("column-type.md", "Every type", "What a type may need besides")
    assert _with(mentions_year, "YEAR", "NUMBERED") - first == _modules(
        "column-type.md", "A type whose values are numbers"
    )


def _is_mysql_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("T", "_T", MySQLType.__name__)


def test_a_dispatch_rule_is_in_the_modules_of_its_page() -> None:
    """Names of rules, numbers of rules, and comparisons with a rule; parameters of a rule name none."""
    modules = _with(_names_a_rule, "index-value", "Rule", "rule") - {
        f"{PACKAGE}/serve/submission.py"
    }  # an example in a description
    listed = _modules("dispatch-rule.md", "Every rule", "By what the rule depends on")
    assert modules == listed - {f"{PACKAGE}/config/changefeed_file.py"}


def _names_a_rule(module: ast.Module) -> bool:
    documentation = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        match node:
            case ast.Constant(value="index-value") if id(node) not in documentation:
                return True
            case ast.Attribute(value=ast.Name(id="Rule"), attr=name) if name.isupper() and name != "UNKNOWN":
                return True
            case ast.ClassDef(name="Rule"):
                return True
            case ast.Compare(left=ast.Attribute(attr="rule"), comparators=[ast.Constant(value=str())]):
                return True
    return False


def test_a_report_section_is_in_the_modules_of_its_page() -> None:
    """What the reports show of the rows: the verdict's field, from its value to all four reports."""
    returned = ("CheckedMessages", "Verdict")
    makers = _with(lambda module: any(_calls(module, name) for name in returned), *returned)
    makers |= _with(lambda module: any(_defines(module, name) for name in returned), *returned)
    fields = {"not_looked_at", "why_not_compared"}
    readers = {
        path
        for path, words in _words_of_modules(fields).items()
        if fields & words and path.split("/")[2] in ("reports", "cli")
    }
    names = {"Timeline", "PartitionCount"}
    data = {path for path, words in _words_of_modules(names).items() if names & words}
    listed = _modules("report-section.md", "A section of all reports", "Further files")
    assert makers | readers | data == listed


def _defines(module: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.ClassDef) and node.name == name for node in module.body)


def _calls(module: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.Call) and ast.unparse(node.func) == name for node in ast.walk(module))


def test_a_verifier_column_is_declared_in_the_modules_of_its_page() -> None:
    """Classes of columns of events, and where the columns of ``Events`` are computed."""
    bases = ("EventColumns", "KeyedEvents")

    def declares_columns(module: ast.Module) -> bool:
        classes = (node for node in ast.walk(module) if isinstance(node, ast.ClassDef))
        return any(ast.unparse(base) in bases for node in classes for base in node.bases)

    constants = {"ROW_COLUMNS", "_MARKS"}
    computing = {path for path, words in _words_of_modules(constants).items() if constants & words}
    computing |= _with(lambda module: _calls(module, Events.__name__), f"{Events.__name__}(")
    rows_of_tables = {f"{PACKAGE}/verifier/table_state.py"}
    modules = (_with(declares_columns, *bases) | computing) - rows_of_tables
    assert modules == _modules("verifier-column.md", "Where a column comes from")


def test_an_sql_function_is_in_the_modules_of_its_page() -> None:
    """Names of functions without an underscore are common words; the clock's are defaults of columns, too."""
    functions = {name for module in MODULES for name in module.FUNCTIONS if "_" in name}
    functions = {name for name in functions if not name.startswith("CURRENT_")}
    folder = f"{PACKAGE}/scenario/sql/"
    listed, own = _modules("sql-function.md"), f"{folder}functions/"
    named = {path for path, words in _words_of_modules(functions).items() if functions & _parts(words)}
    assert own in _listed("sql-function.md")
    # The list of modules, and other functions.
    unnamed = {own + name for name in ("__init__.py", "accumulator.py", "aggregate.py")}
    unnamed |= {f"{folder}expression/{name}.py" for name in ("call_value", "comparison", "operators")}
    grammar = {f"{folder}text/{name}.py" for name in ("reserved_words", "tidb_grammar")}  # of all words
    assert {path for path in named - grammar if not path.startswith(own)} == listed - unnamed


def _parts(words: frozenset[str]) -> set[str]:
    return {part for word in words for part in word.split()}


@pytest.mark.parametrize(("page", "kind"), [("protocol.md", ProtocolSpec), ("sql-function.md", Function)])
def test_the_fields_are_on_the_page(page: str, kind: type) -> None:
    codes = _CODE.findall("\n".join(_rows(page)))
    words = {word for code in codes for word in re.findall(r"\w+", code)}
    fields = {field.name for field in dataclasses.fields(kind)}
    assert fields - words == {"min_arguments", "max_arguments"} & fields  # without a name in a call


def test_an_invariant_is_one_definition_with_a_line_in_the_registry() -> None:
    listed = _listed("invariant.md")
    folder = f"{PACKAGE}/verifier/invariants/"
    assert f"{folder}registry.py" in listed
    modules = _words_of_modules(["INV-"])
    for invariant in INVARIANTS:
        homes = [
            path
            for path, words in modules.items()
            if path.startswith(f"{PACKAGE}/verifier/") and invariant.id in words
        ]
        assert len(homes) == 1
        assert homes[0].startswith(folder)
        for page in ("docs/stream-semantics.md", "docs/verifying.md"):
            assert page in listed
            assert f"`{invariant.id}`" in (ROOT / page).read_text("utf-8")


OTHER_PARAMETERS = {"model/parameter.py", "cli/options.py"}
"""Modules that make no parameter of a table: ``own_parameter`` itself, and Python's parameters."""


def test_a_parameter_is_in_the_files_of_its_page() -> None:
    """What makes parameters, and what names one that only one protocol has, outside of the codecs."""
    own = {
        parameter.name
        for spec in BUILT_IN.values()
        for parameter in spec.parameters
        if not parameter.of_client
    }
    own = {name for name in own if "-" in name} - {"cluster-id", "invalid-utf8"}  # others are common words
    spellings = {spelling for name in own for spelling in (name, name.replace("-", "_"))}
    listed = {path for path in _listed("parameter.md") if path.startswith(PACKAGE)}
    modules = {path for path, words in _words_of_modules(spellings).items() if spellings & words}
    makers = (Parameter.__name__, own_parameter.__name__)
    declaring = _with(lambda module: any(_calls(module, maker) for maker in makers), *makers)
    modules |= declaring - {f"{PACKAGE}/{name}" for name in OTHER_PARAMETERS}
    modules = {path for path in modules if path.split("/")[2] not in ("protocols", "conformance", "bench")}
    assert own
    assert modules == listed - {f"{PACKAGE}/protocols/NAME/spec.py"}
