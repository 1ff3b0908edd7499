"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
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
