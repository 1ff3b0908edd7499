"""The files of the page, and the headers with which they are served.

The page loads nothing from other servers. Its policy forbids inline scripts and styles, and with trusted
types each way by which text could become markup.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

PAGE_PATH = "/"
FILES_PATH = "/page/"
_FOLDER = files("ticdc_producer.serve") / "page"
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_POLICY = "; ".join((
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
))  # fmt: skip
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


@cache
def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the media type of each file by its name."""
    return {
        entry.name: (entry.read_bytes(), f"{_TYPES[entry.name.rpartition('.')[2]]}; charset=utf-8")
        for entry in _FOLDER.iterdir()
        if entry.name.rpartition(".")[2] in _TYPES
    }


def is_of_page(path: str) -> bool:
    """Return whether a path is that of the page or of one of its files, which are the same for everyone."""
    return path == PAGE_PATH or path.startswith(FILES_PATH)
