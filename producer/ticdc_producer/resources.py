"""Files of the package, and the cache folder for downloaded and generated files."""

from __future__ import annotations

import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal


def bundled_dir(name: Literal["examples", "scenarios", "schemas"]) -> Traversable:
    """Return the folder in the installed package, or in the checkout if the package runs from there."""
    installed = files("ticdc_producer") / "_shipped" / name
    return installed if installed.is_dir() else Path(__file__).parents[2] / name


def cache_folder() -> Path:
    """Return ``TICDC_PRODUCER_CACHE``, else ``ticdc-producer`` in the user's cache; it may not exist."""
    folder = os.environ.get("TICDC_PRODUCER_CACHE")
    if folder:
        return Path(folder).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("ticdc-producer")
