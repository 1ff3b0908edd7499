"""The documentation agrees with the code: links, generated tables, commands, names, examples."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer

import ticdc_producer
from tests.docs.generated_tables import DOCS, PAGES, TABLES, names, regenerated
from tests.docs.markdown import LINK, anchors, prose
from tests.docs.page_commands import blocks, joined
from ticdc_producer.cli.app import app
from ticdc_producer.config import parse_sink_uri
from ticdc_producer.scenario.load import load_scenario, shipped
from ticdc_producer.scenario.parse import parse_scenario

ROOT = DOCS.parent
TEXTS = [*PAGES, ROOT / "README.md"]
IDS = [page.name for page in TEXTS]
_COMMAND = re.compile(r"(?:^|/bin/|[|&$] )ticdc-producer (.+)")


def commands(page: Path) -> Iterator[list[str]]:
    """Arguments of every ``ticdc-producer`` command, whether in a block or between backquotes."""
    lines = [line for block in blocks(page.name, "bash") for line in joined(block)]
    lines += re.findall(r"`(ticdc-producer [^`]+)`", prose(page))
    for line in lines:
        if command := _COMMAND.search(line):
            yield _simple(shlex.split(command[1], comments=True))


def _simple(words: list[str]) -> list[str]:
    """The words up to a pipe or a redirection."""
    ends = [position for position, word in enumerate(words) if word in ("|", ">", "&&", ";", "2>")]
    return words[: ends[0]] if ends else words


@pytest.mark.parametrize("page", TEXTS, ids=IDS)
def test_relative_links_resolve(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = unquote(target).partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name}: {target}"
        if fragment and linked.suffix == ".md":
            assert fragment in anchors(linked), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_tables_are_current(page: Path) -> None:
    text = page.read_text("utf-8")
    assert regenerated(text) == text, "python -m tests.docs.generated_tables"


def test_every_generated_table_is_in_one_page() -> None:
    in_pages = [name for page in PAGES for name in names(page.read_text("utf-8"))]
    assert sorted(in_pages) == sorted(TABLES)


@pytest.mark.parametrize("page", TEXTS, ids=IDS)
def test_commands_parse(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", "secret")
    recordings: set[str] = set()
    for arguments in commands(page):
        _parse(arguments, recordings)
        if arguments[0] == "record":
            recordings.add(arguments[arguments.index("--out") + 1])


def _parse(arguments: list[str], recordings: Collection[str] = ()) -> None:
    """Parse like the program, including subcommands, but run nothing.

    :param recordings: scenarios that commands before it write.
    """
    group = typer.main.get_command(app)
    context = group.make_context("ticdc-producer", list(arguments), resilient_parsing=False)
    while subcommand := getattr(group, "resolve_command", None):
        rest = [*context._protected_args, *context.args]
        if not rest:
            break
        name, group, rest = subcommand(context, rest)
        context = group.make_context(name, rest, parent=context)
    _check_values(context.params, recordings)


def _check_values(params: dict[str, object], recordings: Collection[str]) -> None:
    """Check that sink URI parameters, scenarios and keys in a command line exist."""
    uri, scenario, overrides = params.get("sink_uri"), params.get("scenario"), params.get("overrides")
    if isinstance(uri, str) and "HOST:PORT" not in uri:
        parse_sink_uri(uri)
    if isinstance(scenario, str) and not scenario.endswith((".yaml", ".sql")) and scenario != "SCENARIO":
        if scenario in recordings:
            return
        assert scenario in shipped()
        load_scenario(scenario, overrides if isinstance(overrides, list) else [])


@pytest.mark.parametrize("page", TEXTS, ids=IDS)
def test_scenarios_in_the_docs_are_valid(page: Path) -> None:
    for number, block in enumerate(blocks(page.name, "yaml")):
        if "steps:" in block:
            parse_scenario(block.encode(), f"{number}.yaml")


@pytest.mark.parametrize("page", TEXTS, ids=IDS)
def test_python_in_the_docs_compiles_and_uses_existing_names(page: Path) -> None:
    for block in blocks(page.name, "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.value.id != "ticdc_producer" or node.attr in ticdc_producer.__all__, node.attr


def test_all_public_names_are_described() -> None:
    """Each has a row of its own in a table."""
    page = (DOCS / "python.md").read_text("utf-8")
    described = re.findall(r"^\|[^|]*?`(?:ticdc_producer\.)?(\w+)[`(]", page, re.MULTILINE)
    assert [name for name in ticdc_producer.__all__ if name not in described] == []


_FUNCTIONS = [name for name in ticdc_producer.__all__ if inspect.isfunction(getattr(ticdc_producer, name))]


def _signature(name: str) -> list[str]:
    """Names of a public function's parameters, with ``*`` before those that are keyword-only."""
    listed: list[str] = []
    for parameter in inspect.signature(getattr(ticdc_producer, name)).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in listed:
            listed.append("*")
        listed.append(parameter.name)
    return listed


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_all_parameters_of_public_functions_are_listed(name: str) -> None:
    page = (DOCS / "python.md").read_text("utf-8")
    rows = re.findall(rf"^\| `ticdc_producer\.{name}\((.*?)\)` \|", page, re.MULTILINE)
    assert [row.split(", ") for row in rows] == [_signature(name)]


def test_every_decode_error_is_described() -> None:
    sources = "".join(
        path.read_text("utf-8")
        for path in (ROOT / "producer/ticdc_producer/protocols/open_protocol").glob("*.py")
    )
    raised = {f"OPEN-{part}-TRUNCATED" for part in ("KEY", "VALUE")}
    raised.update(re.findall(r'"(OPEN-[A-Z0-9-]+)"', sources))
    page = (DOCS / "open-protocol.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(OPEN-[A-Z0-9-]+)`", page, re.MULTILINE)) == raised


def test_every_page_is_linked() -> None:
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in TEXTS
        for target in LINK.findall(prose(page))
        if not re.match(r"[a-z]+:", target)
    }
    assert [page.name for page in PAGES if page.resolve() not in linked] == []


@pytest.mark.parametrize("page", TEXTS, ids=IDS)
def test_a_page_that_needs_a_kafka_has_a_path_without_docker(page: Path) -> None:
    """A command of the page starts one: it is the whole command, in a block or between backquotes."""
    needed = any("kafka://localhost:9092" in block for block in blocks(page.name, "bash"))
    assert not needed or ["broker", "start"] in list(commands(page))


@pytest.mark.parametrize("page", TEXTS, ids=IDS)
def test_the_examples_of_a_page_are_in_the_wheel(page: Path) -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    wheel = build["targets"]["wheel"]["force-include"]
    for used in re.findall(r"examples/[\w./-]*\w", page.read_text("utf-8")):
        if (ROOT / used).exists() and "/target/" not in used:
            folders = [used, *map(str, Path(used).parents)]
            assert any(folder in wheel for folder in folders) or any(
                path.startswith(f"{used}/") for path in wheel
            )
