"""The page on verifying a consumer: its commands, and its fix as an edit of the example."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "verifying-your-consumer.md"
EXAMPLE = ROOT / "examples" / "sqlite_consumer.py"
_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    """The page's code blocks in a language, in order."""
    return [text for name, text in _FENCED.findall(PAGE.read_text("utf-8")) if name == language]


def commands() -> list[str]:
    """The command lines of the page, in order."""
    return [line for block in blocks("bash") for line in block.replace("\\\n", "").splitlines()]


def fixed(source: str) -> str:
    """The example with the page's fix.

    :raises AssertionError: if the page shows lines that are not in the example.
    """
    (shown,) = blocks("diff")
    lines = shown.splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+")
    assert source.count(old) == 1
    return source.replace(old, new)
