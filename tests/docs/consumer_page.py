"""The page on verifying a consumer: its code blocks and commands, and its fix of the example."""

from __future__ import annotations

from tests.docs import page_commands
from tests.docs.page_commands import ROOT

PAGE = "verifying-your-consumer.md"
EXAMPLE = ROOT / "examples" / "sqlite_consumer.py"


def blocks(language: str) -> list[str]:
    """The page's code blocks in a language, in order."""
    return page_commands.blocks(PAGE, language)


def commands() -> list[str]:
    """The command lines of the page, in order."""
    return [command.text for command in page_commands.commands(PAGE)]


def fixed(source: str) -> str:
    """The example with the page's fix.

    :raises AssertionError: if the page shows lines that are not in the example.
    """
    (diff,) = blocks("diff")
    lines = diff.splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+")
    assert source.count(old) == 1
    return source.replace(old, new)
