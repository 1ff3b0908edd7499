"""The commands of the documentation: every line of a ``bash`` block, page by page, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.docs.markdown import FENCED

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/extending").glob("*.md")),
)
_PROGRAM = re.compile(r"^(?:\S+/)?ticdc-producer (.+)|^cat (\S+) \| ticdc-producer (.+)")
_EXIT_CODE = re.compile(r"# exit code (\d+)$")


@dataclass(frozen=True)
class Command:
    """A command as a reader types it."""

    page: str
    position: int
    """Its number on the page, from 0."""
    text: str

    @property
    def ours(self) -> bool:
        """Whether it runs this tool and no other program (except ``cat``)."""
        return _PROGRAM.match(self.text) is not None

    @property
    def exit_code(self) -> int:
        """The exit code in the page's comment, else 0."""
        comment = _EXIT_CODE.search(self.text)
        return int(comment[1]) if comment else 0

    @property
    def needs_spark(self) -> bool:
        """Whether it starts Spark, or reads the output of a command that does."""
        return re.search(r"ticdc-producer (traps|scenario) ", self.text) is None

    def __str__(self) -> str:
        return f"{Path(self.page).stem}-{self.position}"


def blocks(page: str, *languages: str) -> list[str]:
    """Code blocks of a page in one of the languages; blocks without a language have the empty one."""
    return [text for language, text in FENCED.findall(page_text(page)) if language in languages]


def page_text(page: str) -> str:
    """The text of a page, by its file name."""
    (path,) = (path for path in PAGES if path.name == page)
    return path.read_text("utf-8")


@cache
def commands(page: str) -> tuple[Command, ...]:
    """The commands of a page in their order; a backslash at a line's end joins the next one to it."""
    lines = [line for block in blocks(page, "bash") for line in joined(block)]
    return tuple(Command(page, position, line) for position, line in enumerate(lines))


def all_commands() -> Iterator[Command]:
    """The commands of all pages."""
    for page in PAGES:
        yield from commands(page.name)


def elsewhere() -> Iterator[str]:
    """Lines that begin like a command of this tool, but are in a block of another language than ``bash``."""
    for page in PAGES:
        languages = {language for language, _ in FENCED.findall(page_text(page.name))} - {"bash"}
        for block in blocks(page.name, *languages):
            yield from (line for line in joined(block) if _PROGRAM.match(line.removeprefix("$ ")))


def joined(block: str) -> list[str]:
    """The lines of a block as a shell reads them."""
    return [re.sub(r" +", " ", line) for line in block.replace("\\\n", " ").splitlines() if line.strip()]
