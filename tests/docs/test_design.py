"""The tables of docs/design.md list the packages, the folders and the commands that exist."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tests.docs.generated_tables import DOCS
from tests.test_architecture import EVERYWHERE, MAY_IMPORT, SOURCE
from ticdc_producer.cli.app import COMMANDS, load_command

PAGE = (DOCS / "design.md").read_text("utf-8")
_CODE = re.compile(r"`([^`]+)`")


def _rows(section: str) -> list[list[str]]:
    """The cells of the tables of a section, without their heads."""
    (text,) = re.findall(rf"^#+ {section}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    lines = re.findall(r"^\| (`.+) \|$", text, re.MULTILINE)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]


def test_the_layout_is_the_table_of_imports() -> None:
    """A name with a slash is a folder inside of a package, which the table does not distinguish."""
    rows = [row for row in _rows("Layout") if len(row) == 3]
    listed = {
        re.sub(r"/$|\.py$", "", module): {name for name in _CODE.findall(imports) if not name.endswith("/")}
        for modules, _, imports in rows
        for module in _CODE.findall(modules)
    }
    (of_source,) = re.findall(rf"`{SOURCE}`, .*?\bIt imports (.*?), and nothing imports it", PAGE, re.DOTALL)
    assert {*listed} >= EVERYWHERE
    assert {**listed, SOURCE: {*_CODE.findall(of_source)}} == MAY_IMPORT


def test_the_folders_are_those_of_the_repository() -> None:
    """Other folders are what .gitignore names, or have nothing but Python's caches."""
    ignored = {line.strip("/") for line in (DOCS.parent / ".gitignore").read_text("utf-8").splitlines()}
    present = {
        folder.name
        for folder in DOCS.parent.glob("[!.]*/")
        if folder.name not in ignored and any(path.name != "__pycache__" for path in folder.iterdir())
    }
    listed = {row[0].strip("`/") for row in _rows("Layout") if len(row) == 2}
    assert listed == present - {"producer"}


def test_the_commands_are_those_of_the_program() -> None:
    """Arguments in capitals and options follow a command."""
    listed = {
        re.split(r" [A-Z\[-]", command)[0]
        for row in _rows("Commands and files")
        if len(row) == 3
        for command in _CODE.findall(row[0])
    }
    assert listed == {*_commands()}


def _commands() -> Iterator[str]:
    """The commands and subcommands; a group is one if it can be called itself."""
    for name in COMMANDS:
        command = load_command(name)
        subcommands: Collection[str] = getattr(command, "commands", ())
        if not subcommands or getattr(command, "invoke_without_command", False):
            yield name
        yield from (f"{name} {subcommand}" for subcommand in subcommands)
