"""Pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(head), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join("| " + " | ".join(_cell(text) for text in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def code(text: object) -> str:
    return f"`{text}`"


def listed(words: Iterable[str]) -> str:
    """Words as code, with commas."""
    return ", ".join(code(word) for word in words)
