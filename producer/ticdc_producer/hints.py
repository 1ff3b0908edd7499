"""Words of messages: hints about names that are not known, and counts."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MAX_LISTED = 24
"""Allowed names that a hint lists; longer lists would hide the message before them."""


def nearest(name: str, allowed: Iterable[str], *, listed: str = "") -> str:
    """Return a hint with the closest allowed name, or with a list of the allowed names.

    :param listed: a function or page that lists all names, if they are too many for one line.
    """
    choices = sorted(allowed)
    by_lower = {choice.lower(): choice for choice in choices}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_lower[close[0]]!r}?"
    if len(choices) <= MAX_LISTED:
        return "allowed: " + ", ".join(choices) if choices else ""
    if listed:
        return f"{listed} prints the {len(choices)} allowed ones"
    return f"allowed: {', '.join(choices[:MAX_LISTED])}, and {len(choices) - MAX_LISTED} more"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "row change"), counted(2000, "row change")
    ('1 row change', '2,000 row changes')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
