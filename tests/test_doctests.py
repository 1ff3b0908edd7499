"""The examples in docstrings are true, and functions on columns have one."""

from __future__ import annotations

import ast
import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import pyspark_ticdc
import ticdc_producer
import tools

MODULES = sorted(
    ".".join(path.relative_to(Path(str(package.__file__)).parents[1]).with_suffix("").parts)
    for package in (pyspark_ticdc, ticdc_producer, tools)
    for path in Path(str(package.__file__)).parent.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    failures, examples = doctest.testmod(import_module(name.removesuffix(".__init__")))
    assert examples
    assert not failures


CALLS_OF_A_KERNEL = 3
"""Calls of numpy's functions from which on a function on columns needs an example."""
SCALARS = {"bool", "bytes", "float", "int", "str"}
COLUMNS = re.compile(
    r"(?:tuple\[)?(?:Flags|Hashes|Longs|Numbers|Reals|Words|npt?\.[Nn][Dd][Aa]rray(?:\[.*\])?|pa\.\w*Array"
    r"|pa\.RecordBatch|\w+Batch|(?:Marked)?Events|HistoryRows"
    r"|BatchGroups|KeyChecks|KeyGroups|Observation)(?:, \.\.\.\])?(?: \| None)?"
)


def kernels_without_example(tree: ast.Module) -> list[str]:
    """Functions that compute columns with numpy, from columns and scalars alone."""
    return [
        function.name
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        and _takes_columns(function)
        and sum(map(_calls_numpy, ast.walk(function))) >= CALLS_OF_A_KERNEL
        and ">>> " not in (ast.get_docstring(function) or "")
    ]


def _calls_numpy(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    names = [part.id for part in ast.walk(node.func) if isinstance(part, ast.Name)]
    return names == ["np"]


def _takes_columns(function: ast.FunctionDef) -> bool:
    arguments = [part for part in ast.walk(function.args) if isinstance(part, ast.arg)]
    types = [ast.unparse(argument.annotation or ast.Constant("")) for argument in arguments]
    columns = [kind for kind in types if COLUMNS.fullmatch(kind)]
    return bool(columns) and {*types} <= {*columns, *SCALARS}


def test_each_kernel_has_an_example() -> None:
    """Read one function, and see its input and output."""
    without = {
        str(path): names
        for package in (pyspark_ticdc, ticdc_producer)
        for path in Path(str(package.__file__)).parent.rglob("*.py")
        if (text := path.read_text("utf-8")).count("np.") >= CALLS_OF_A_KERNEL
        and (names := kernels_without_example(ast.parse(text)))
    }
    assert without == {}


@pytest.mark.parametrize(
    ("arguments", "docstring", "kernels"),
    [
        ("numbers: Numbers, size: int", "Add.", ["added"]),
        ("numbers: Numbers, size: int", "Add.\n\n    >>> 1\n    1\n    ", []),
        ("*columns: pa.Array", "Add.", ["added"]),
        ("texts: pa.StringArray, lists: pa.ListArray | None", "Add.", ["added"]),
        ("keys: tuple[Numbers, ...], events: EventBatch", "Add.", ["added"]),
        ("plan: Plan, numbers: Numbers", "Add.", []),
        ("size: int", "Add.", []),
    ],
)
def test_a_kernel_takes_columns(arguments: str, docstring: str, kernels: list[str]) -> None:
    body = "return np.add(np.ones(3), np.zeros(3))"
    text = f'def added({arguments}) -> Numbers:\n    """{docstring}"""\n    {body}\n'
    assert kernels_without_example(ast.parse(text)) == kernels
