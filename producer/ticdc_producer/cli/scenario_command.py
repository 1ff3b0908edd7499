"""``ticdc-producer scenario validate|new|list|show|schema``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ticdc_producer.cli.options import fail
from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import MAX_LISTED, counted, nearest

if TYPE_CHECKING:
    from ticdc_producer.runs.validate import Validation


scenario_app = typer.Typer(
    help="Check scenario files, start new ones, list and print the shipped ones, print their JSON Schema.",
    no_args_is_help=True,
)


@scenario_app.command()
def validate(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help=".yaml or .sql files, or shipped names.")
    ],
    json_output: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> int:
    """Read scenarios, run their SQL and report all errors; nothing is written."""
    from ticdc_producer.runs.validate import validate_scenario

    results = [validate_scenario(file) for file in files]
    for result in results:
        for problem in result.problems[:MAX_LISTED]:
            fail(problem)
        if not json_output:
            _print(result)
    if json_output:
        typer.echo(json.dumps([result.to_json() for result in results], indent=2, ensure_ascii=False))
    return max(result.exit_code for result in results)


def _print(result: Validation) -> None:
    """Print the result of one scenario, without its errors."""
    for note in result.ignored_statements.notes:
        typer.echo(f"{note.file}:{note.line}: note: {note.text}", err=True)
    for warning in result.warnings:
        typer.echo(f"{result.scenario}: warning: {warning}", err=True)
    if result.discarded:
        from ticdc_producer.cli.report_text import not_sent

        for entry in result.discarded:
            typer.echo(f"{result.scenario}: {not_sent(entry)}", err=True)
    if not result.ok:
        errors = counted(len(result.problems), "error")
        if len(result.problems) > MAX_LISTED:
            errors += f", of which the first {MAX_LISTED} are listed; --json lists all"
        unchecked = f"; {counted(result.unchecked, 'statement')} not checked" if result.unchecked else ""
        typer.echo(f"{result.scenario}: {errors}{unchecked}", err=True)
        return
    counts = ", ".join(f"{count} {word}" for word, count in sorted(result.ignored_statements.counts.items()))
    ignored = f", ignored: {counts}" if counts else ""
    changed = f"{counted(result.commits, 'commit')}, {counted(result.row_changes, 'row change')}"
    typer.echo(f"{result.scenario}: ok, {changed}{ignored}")


@scenario_app.command("list")
def list_shipped() -> int:
    """List the scenarios that come with the package."""
    from ticdc_producer.scenario.load import descriptions

    listed = descriptions()
    width = max(map(len, listed), default=0)
    for name, description in listed.items():
        typer.echo(f"{name:{width}}  {description}")
    return 0


@scenario_app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `scenario list` prints.")],
) -> int:
    """Print a shipped scenario."""
    typer.echo(shipped_text(name), nl=False)
    return 0


@scenario_app.command()
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the scenario, its file and its topic.")
    ],
    template: Annotated[
        str,
        typer.Option("--from", metavar="TEMPLATE", help="A name of `scenario list`, such as seed_t1."),
    ],
) -> int:
    """Write NAME.yaml, a copy of a shipped scenario to edit, into the current folder."""
    path = write_from_template(name, template, Path())
    typer.echo(f"wrote {path}")
    typer.echo(f"next: edit it; `ticdc-producer run {path} --watch` runs it after each save", err=True)
    return 0


@scenario_app.command()
def schema() -> int:
    """Print the JSON Schema of scenario files."""
    from ticdc_producer.scenario.spec import scenario_schema

    typer.echo(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    return 0


_ENDING = ".yaml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
"""Names that are also names of topics."""
_SCHEMA = re.compile(r"# yaml-language-server:.*\n(#\n)?")
"""The first line of a shipped scenario; its path is relative to the scenario's folder."""


def shipped_text(name: str) -> str:
    """Return the text of a shipped scenario.

    :raises ScenarioError: if there is none of this name.
    """
    from ticdc_producer.scenario.load import shipped

    library = shipped()
    if name not in library:
        raise ScenarioError(f"there is no shipped scenario {name!r}", hint=nearest(name, library))
    return library[name].read_text(encoding="utf-8")


def write_from_template(name: str, template: str, folder: Path) -> Path:
    """Write a new scenario with the content of a shipped one, under its own name and topic.

    :param name: with or without ``.yaml``.
    :param template: name of a shipped scenario.
    :raises ScenarioError: for a name that no topic can have, an unknown template, and if the file exists or
        cannot be written.
    """
    text = shipped_text(template)
    stem = name.removesuffix(_ENDING)
    if stem.endswith((".sql", ".yml")):
        what, hint = "a template is YAML", f"name it {Path(stem).stem}"
        raise ScenarioError(what, file=name, hint=hint)
    if not _NAME.fullmatch(stem):
        hint = "letters, digits, '.', '_' and '-'; the file is written to the current folder"
        raise ScenarioError("this cannot be the name of a scenario and of its topic", file=name, hint=hint)
    path = folder / f"{stem}{_ENDING}"
    own = _SCHEMA.sub("", text, count=1)
    own = re.sub(rf"^name: {re.escape(template)}$", f'name: "{stem}"', own, count=1, flags=re.MULTILINE)
    own = own.replace(f"kafka:///{template}?", f"kafka:///{stem}?", 1)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(own)
    except FileExistsError:
        raise ScenarioError("the file exists", file=str(path), hint="choose another name") from None
    except OSError as error:
        raise ScenarioError(f"cannot be written: {error.strerror}", file=str(path)) from None
    return path
