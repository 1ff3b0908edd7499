"""Words of messages: hints about names that are not known, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

MAX_LISTED = 24
"""Allowed names that a hint lists, and errors of a file; longer lists would hide the message before them."""


SUGGESTION = "did you mean "
"""The beginning of a hint with the closest name."""


def closest(name: str, allowed: Iterable[str]) -> str:
    """Return a hint with the closest allowed name; empty if none is close."""
    by_lower = {choice.lower(): choice for choice in sorted(allowed)}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f"{SUGGESTION}{by_lower[close[0]]!r}?" if close else ""


def nearest(name: str, allowed: Iterable[str], *, listed: str = "") -> str:
    """Return a hint with the closest allowed name, or with a list of the allowed names.

    :param listed: a function or page that lists all names, if they are too many for one line.
    """
    choices = sorted(allowed)
    if close := closest(name, choices):
        return close
    if len(choices) <= MAX_LISTED:
        return "allowed: " + ", ".join(choices) if choices else ""
    if listed:
        return f"{listed} prints the {len(choices)} allowed ones"
    return f"allowed: {', '.join(choices[:MAX_LISTED])}, and {len(choices) - MAX_LISTED} more"


def first_lines(errors: Sequence[object]) -> Iterator[str]:
    """Yield the texts of the first errors, and how many more there are."""
    yield from map(str, errors[:MAX_LISTED])
    if len(errors) > MAX_LISTED:
        yield f"… and {counted(len(errors) - MAX_LISTED, 'more error')}"


def shortened(text: str, most: int) -> str:
    """Return the first characters of a text that is longer than a message may quote.

    >>> shortened("shop.orders", 4), shortened("shop", 4)
    ('shop…', 'shop')
    """
    return text if len(text) <= most else f"{text[:most]}…"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "row change"), counted(2000, "row change")
    ('1 row change', '2,000 row changes')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
