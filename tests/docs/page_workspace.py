"""A folder in which the commands of a page run, with the files that the page presupposes."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.command_run import Outcome, run
from tests.docs.command_tables import not_run, replaced
from tests.docs.consumer_tables import in_server, in_sqlite
from tests.docs.page_commands import ROOT, Command, blocks, commands
from ticdc_producer.runs.targets.run_topics import prepare_topics
from ticdc_producer.simulate.prepare import prepare

_SERVER = re.compile(r"(mysql|postgresql)://tester:")


class PageWorkspace:
    """The folder and the outcomes of a page's commands."""

    def __init__(self, page: str, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.known = {"folder": str(folder), "page": Path(page).stem, "python": sys.executable}
        self._outcomes: dict[int, Outcome] = {}
        self._given: set[Given] = set()
        for name, text in _files().items():
            (folder / name).write_text(text, "utf-8")
        shutil.copytree(ROOT / "examples", folder / "examples")

    def outcome(self, wanted: Command) -> Outcome:
        """The outcome of a command, which runs after all commands above it on the page.

        :raises pytest.skip.Exception: if a program that it needs is missing.
        """
        for command in commands(self.page)[: wanted.position]:
            if not_run(command) is None:
                with suppress(pytest.skip.Exception):
                    self._once(command)
        return self._once(wanted)

    def run(self, text: str) -> Outcome:
        """Run a command of the page with its replacements."""
        return run(replaced(text, self.known))

    def _once(self, command: Command) -> Outcome:
        if command.position not in self._outcomes:
            self._outcomes[command.position] = self._run(command)
        return self._outcomes[command.position]

    def _run(self, command: Command) -> Outcome:
        for given in GIVEN:
            if given.page == self.page and given.part in command.text and given not in self._given:
                self._given.add(given)
                given.make(self)
        scheme = _SERVER.search(command.text)
        with in_server(scheme[1]) if scheme else nullcontext("") as server:
            self.known["server"] = server
            return self.run(command.text)


@contextmanager
def working_directory(folder: Path) -> Iterator[None]:
    """Make the folder the current one inside of the block."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        yield


def _files() -> dict[str, str]:
    """Files that several pages use; one of the pages has the content."""
    (sql,) = (block for block in blocks("testing.md", "sql") if block.startswith("-- orders.sql\n"))
    return {
        "orders.sql": sql,
        "orders.yaml": blocks("scenarios.md", "yaml")[0],
        "changefeed.toml": blocks("large-messages.md", "toml")[0],
    }


class Given(NamedTuple):
    """A preparation for the first command of a page whose text contains ``part``."""

    page: str
    part: str
    make: Callable[[PageWorkspace], None]


def _as_the_readme(workspace: PageWorkspace) -> None:
    """A topic and a folder ``orders``, as the commands of the README make them."""
    makers = [
        command.text for command in commands("README.md") if "ticdc-producer run orders.sql" in command.text
    ]
    assert len(makers) == 2
    for text in makers:
        assert workspace.run(text).exit_code == 0


def _interrupted_run(workspace: PageWorkspace) -> None:
    """A run whose driver was killed before its first message."""
    job = prepare("sysbench", sink_uri=replaced("kafka://localhost:9092/sysbench", workspace.known))
    prepare_topics(job, workspace.known["bootstrap"], append=False, resume=False)


def _consumer(workspace: PageWorkspace) -> None:
    in_sqlite(workspace.folder / "orders.db")


def _messages(workspace: PageWorkspace) -> None:
    shutil.copy(workspace.folder / "golden/orders/messages.jsonl", workspace.folder)


def _next_version(workspace: PageWorkspace) -> None:
    shutil.copytree(workspace.folder / "corpus", workspace.folder / "corpus-of-the-next-version")


def _worse(workspace: PageWorkspace) -> None:
    (text,) = (block for block in blocks("real-topics.md", "yaml") if "recording:" in block)
    (workspace.folder / "worse.yaml").write_text(text, "utf-8")


GIVEN = (
    Given("runs.md", "--resume", _interrupted_run),
    Given("conformance.md", "golden diff", _next_version),
    Given("open-protocol.md", "decode", _as_the_readme),
    Given("traps.md", "coverage", _as_the_readme),
    Given("real-topics.md", "worse.yaml", _worse),
    Given("verifying.md", "", _as_the_readme),
    Given("verifying.md", "sqlite", _consumer),
    Given("verifying.md", "cat messages.jsonl", _messages),
)
