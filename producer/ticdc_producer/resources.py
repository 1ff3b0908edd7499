"""Files of the package, and the cache folder of what it downloads and makes."""

from __future__ import annotations

import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path


def bundled_dir(name: Literal["examples", "scenarios", "schemas"]) -> Traversable:
    """The folder in the installed package, or in the checkout if the package runs from there."""
    installed = files("ticdc_producer") / "_shipped" / name
    return installed if installed.is_dir() else Path(__file__).parents[2] / name


def cache_folder() -> Path:
    """``TICDC_PRODUCER_CACHE`` if set, else ``ticdc-producer`` in the user's cache; may not exist yet."""
    chosen = os.environ.get("TICDC_PRODUCER_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else user_cache_path("ticdc-producer")
