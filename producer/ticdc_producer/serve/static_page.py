"""The paths of the page and its files, and the headers with which they are served.

The page loads nothing from other servers. Its policy forbids inline scripts and styles, and with trusted
types each way by which text could become markup.
"""

from __future__ import annotations

PAGE_PATH = "/"
FILES_PATH = "/page/"
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


def is_of_page(path: str) -> bool:
    """Return whether a path is that of the page or of one of its files, which are the same for everyone."""
    return path == PAGE_PATH or path.startswith(FILES_PATH)
