"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import ticdc_producer

SOURCE = Path(ticdc_producer.__file__).parent
MODULES = sorted(
    ".".join(("ticdc_producer", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    failures, examples = doctest.testmod(import_module(name.removesuffix(".__init__")))
    assert examples
    assert not failures
