"""The commands of the documentation: every line of a ``bash`` block, page by page, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PROGRAM = re.compile(r"^(?:\S+/)?ticdc-producer (.+)|^cat (\S+) \| ticdc-producer (.+)")
_EXIT_CODE = re.compile(r"# exit code (\d+)$")


@dataclass(frozen=True)
class Command:
    """A command as a reader types it."""

    page: str
    place: int
    """Its number on the page, from 0."""
    text: str

    @property
    def ours(self) -> bool:
        """Whether it starts this tool, and nothing else that does any work."""
        return _PROGRAM.match(self.text) is not None

    @property
    def exit_code(self) -> int:
        """The one that the page's comment names, else that of success."""
        told = _EXIT_CODE.search(self.text)
        return int(told[1]) if told else 0

    @property
    def needs_spark(self) -> bool:
        """Whether it works with Spark, or reads what only a command with Spark can have made."""
        return re.search(r"ticdc-producer (traps|scenario) ", self.text) is None

    def __str__(self) -> str:
        return f"{Path(self.page).stem}-{self.place}"


def blocks(page: str, *languages: str) -> list[str]:
    """Code blocks of a page in one of the languages; the empty language is that of unmarked blocks."""
    return [text for language, text in FENCED.findall(_text(page)) if language in languages]


def _text(page: str) -> str:
    (path,) = (path for path in PAGES if path.name == page)
    return path.read_text("utf-8")


@cache
def commands(page: str) -> tuple[Command, ...]:
    """The commands of a page in their order; a backslash at a line's end joins the next one to it."""
    lines = [line for block in blocks(page, "bash") for line in joined(block)]
    return tuple(Command(page, place, line) for place, line in enumerate(lines))


def all_commands() -> Iterator[Command]:
    """Those of all pages."""
    for page in PAGES:
        yield from commands(page.name)


def elsewhere() -> Iterator[str]:
    """Lines that begin like a command of ours and stand in another block than those for commands."""
    for page in PAGES:
        languages = {language for language, _ in FENCED.findall(_text(page.name))} - {"bash"}
        for block in blocks(page.name, *languages):
            yield from (line for line in joined(block) if _PROGRAM.match(line.removeprefix("$ ")))


def joined(block: str) -> list[str]:
    """The lines of a block as a shell takes them."""
    return [re.sub(r" +", " ", line) for line in block.replace("\\\n", " ").splitlines() if line.strip()]
