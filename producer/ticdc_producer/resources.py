"""Files bundled with the package: ready scenarios, published schemas, the examples of the pages."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal


def bundled_dir(name: Literal["examples", "scenarios", "schemas"]) -> Traversable:
    """The folder in the installed package, or in the checkout if the package runs from there."""
    installed = files("ticdc_producer") / "_shipped" / name
    return installed if installed.is_dir() else Path(__file__).parents[2] / name
