"""The cache folder: downloaded jars, the Java shim and class archives."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """``TICDC_PRODUCER_CACHE`` if set, else ``ticdc-producer`` in the user's cache; may not exist yet."""
    chosen = os.environ.get("TICDC_PRODUCER_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else user_cache_path("ticdc-producer")
