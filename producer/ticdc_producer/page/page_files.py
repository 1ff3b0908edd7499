"""The files of the page, which browsers load as they are."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_FOLDER = files("ticdc_producer.page") / "files"
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@cache
def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the media type of each file by its name."""
    return {
        entry.name: (entry.read_bytes(), f"{_TYPES[entry.name.rpartition('.')[2]]}; charset=utf-8")
        for entry in _FOLDER.iterdir()
        if entry.name.rpartition(".")[2] in _TYPES
    }
