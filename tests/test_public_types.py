"""Public functions, methods and fields have types that say what they take and return: none is ``Any``."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import pyspark_ticdc
import ticdc_producer

SOURCES = [Path(package.__file__).parent for package in (pyspark_ticdc, ticdc_producer)]


def untyped(tree: ast.Module) -> list[str]:
    """The public names of a module with ``Any`` in their types, also by an alias of the module."""
    aliases = {"Any"}
    for node in tree.body:
        for name, value in _assigned(node):
            if _names(value) & aliases:
                aliases.add(name)
    public = [name for name in aliases - {"Any"} if not name.startswith("_")]
    return sorted([*public, *_of_body(tree.body, aliases)])


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """A name of a module that is an alias of a type, and the type."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        if _names(node.annotation) & {"TypeAlias"}:
            yield node.target.id, node.value
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
        yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))


def _names(node: ast.AST | None) -> set[str]:
    """The names in a type, also in one that is a string."""
    if node is None:
        return set()
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    names |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            with suppress(SyntaxError):  # a text of Literal or Annotated
                names |= _names(ast.parse(part.value, mode="eval"))
    return names


def _of_body(body: list[ast.stmt], aliases: set[str], prefix: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _of_body(node.body + node.orelse, aliases, prefix)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _of_body(node.body, aliases, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_public(node.name):
            parameters = [part for part in ast.walk(node.args) if isinstance(part, ast.arg)]
            types = [*(part.annotation for part in parameters), node.returns]
            if any(_names(kind) & aliases for kind in types):
                yield f"{prefix}{node.name}"
        elif (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and _is_public(node.target.id)
            and _names(node.annotation) & aliases
        ):
            yield f"{prefix}{node.target.id}"


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name.endswith("__")


def test_the_types_of_public_names_are_known() -> None:
    unknown = {
        str(file.relative_to(source.parent)): names
        for source in SOURCES
        for file in source.rglob("*.py")
        if (names := untyped(ast.parse(file.read_text("utf-8"))))
    }
    assert unknown == {}


def test_any_is_found_wherever_a_user_meets_it() -> None:
    text = """
Row: TypeAlias = "dict[str, Any]"
_Hidden: TypeAlias = list[Row]

class Report:
    content: Any
    _own: Any

    def __init__(self, *arguments: Any) -> None: ...
    def rows(self) -> _Hidden: ...
    def _help(self) -> Any: ...

class _Private:
    content: Any

if TYPE_CHECKING:
    def read(text: str) -> typing.Any: ...

def write(content: object) -> Mapping[str, object]: ...
"""
    assert untyped(ast.parse(text)) == ["Report.__init__", "Report.content", "Report.rows", "Row", "read"]


CONFUSED = """
from ticdc_producer.model.shapes import CarriedBatch, EventBatch, MutationBatch, TableRowsBatch
from ticdc_producer.pipeline.mutations import collapse
from ticdc_producer.targets.message_rows import at_positions
from ticdc_producer.verifier.events import without_tombstones
from ticdc_producer.verifier.table_state import expected_state

def call(mutations: MutationBatch, events: EventBatch, carried: CarriedBatch, rows: TableRowsBatch) -> None:
    collapse(mutations)
    without_tombstones(events)
    at_positions(carried, rows)
    expected_state(rows, 0)
"""
REJECTED = [
    ("collapse", "MutationBatch", "ChangeBatch"),
    ("without_tombstones", "EventBatch", "DecodedBatch"),
    ("at_positions", "CarriedBatch", "EventBatch"),
    ("at_positions", "TableRowsBatch", "EventOffsetBatch"),
    ("expected_state", "TableRowsBatch", "StateBatch"),
]


@pytest.mark.slow
def test_a_batch_of_another_shape_is_rejected(tmp_path: Path) -> None:
    """Mypy rejects it, although all batches are one type of pyarrow."""
    module = tmp_path / "confused.py"
    module.write_text(CONFUSED)
    checked = subprocess.run([sys.executable, "-m", "mypy", module], capture_output=True, text=True)
    pattern = r'Argument \d to "(\w+)" has incompatible type "(\w+)"; expected "(\w+)"'
    assert re.findall(pattern, checked.stdout) == REJECTED
