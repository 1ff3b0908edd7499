"""The examples in docstrings are true, and functions on columns have one."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import pyspark_ticdc
import ticdc_producer
import tools
from ticdc_producer.targets import decoded_events

MODULES = sorted(
    ".".join(path.relative_to(Path(str(package.__file__)).parents[1]).with_suffix("").parts)
    for package in (pyspark_ticdc, ticdc_producer, tools)
    for path in Path(str(package.__file__)).parent.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    module, runner = import_module(name.removesuffix(".__init__")), doctest.DocTestRunner()
    for test in examples_of(module):
        runner.run(test)
    assert runner.tries
    assert not runner.failures


def examples_of(module: ModuleType) -> list[doctest.DocTest]:
    """Return the examples of a module, also those of cached properties, which Python 3.11 does not find."""
    finder = doctest.DocTestFinder()
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
    cached = [
        value.func
        for kind in kinds
        if kind.__module__ == module.__name__
        for value in vars(kind).values()
        if isinstance(value, cached_property)
    ]
    return [test for part in (module, *cached) for test in finder.find(part, module=module)]


def test_the_examples_of_a_cached_property_are_run() -> None:
    names = {test.name for test in examples_of(decoded_events) if test.examples}
    assert "layout_numbers" in names


CALLS_OF_A_KERNEL = 3
"""Calls of numpy's functions from which on a function on columns needs an example."""
CALLS_OF_A_LARGE_KERNEL = 5
"""Calls of numpy's functions from which on any function needs an example, also a method."""
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
        and _lacks_example(function, CALLS_OF_A_KERNEL)
    ]


def large_kernels_without_example(tree: ast.Module) -> list[str]:
    """Return the functions and methods with many calls of numpy's functions."""
    return [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and _lacks_example(function, CALLS_OF_A_LARGE_KERNEL)
    ]


def _lacks_example(function: ast.FunctionDef, calls: int) -> bool:
    """Return whether a function with at least some number of calls of numpy's functions has no example."""
    has_example = ">>> " in (ast.get_docstring(function) or "")
    return not has_example and sum(map(_calls_numpy, ast.walk(function))) >= calls


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
    names = _names_by_file(kernels_without_example)
    assert not names, "\n".join(names)


def test_each_large_kernel_has_an_example() -> None:
    names = _names_by_file(large_kernels_without_example)
    assert not names, "\n".join(names)


def _names_by_file(kernels: Callable[[ast.Module], list[str]]) -> list[str]:
    """Return the files and names of kernels without example."""
    return [
        f"{path}: {name}"
        for package in (pyspark_ticdc, ticdc_producer)
        for path in sorted(Path(str(package.__file__)).parent.rglob("*.py"))
        if "np." in (text := path.read_text("utf-8"))
        for name in kernels(ast.parse(text))
    ]


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


@pytest.mark.parametrize(
    ("calls", "docstring", "kernels"),
    [(5, "Add.", ["added"]), (4, "Add.", []), (5, "Add.\n\n        >>> 1\n        1\n        ", [])],
)
def test_a_large_kernel_may_be_a_method(calls: int, docstring: str, kernels: list[str]) -> None:
    body = f"return np.add.reduce([{', '.join(['np.ones(3)'] * (calls - 1))}])"
    text = f'class Sum:\n    def added(self):\n        """{docstring}"""\n        {body}\n'
    assert large_kernels_without_example(ast.parse(text)) == kernels
