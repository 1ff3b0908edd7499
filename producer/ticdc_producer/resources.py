"""Files that come with the package: ready scenarios and published schemas."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal


def shipped_folder(name: Literal["scenarios", "schemas"]) -> Traversable:
    """The folder of an installed package, or of the checkout that is run in place."""
    installed = files("ticdc_producer") / "_shipped" / name
    return installed if installed.is_dir() else Path(__file__).parents[2] / name
