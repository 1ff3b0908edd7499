"""``ticdc-producer scenario validate|list|schema``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ticdc_producer.cli.options import fail
from ticdc_producer.errors import ProducerError

app = typer.Typer(
    help="Check scenario files, list the shipped ones, print their JSON Schema.", no_args_is_help=True
)


@app.command()
def validate(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help=".yaml or .sql files, or shipped names.")
    ],
) -> int:
    """Read scenarios, run their SQL and report all errors; nothing is written."""
    from ticdc_producer.runs.validate import validate_scenario

    worst = 0
    for file in files:
        try:
            history = validate_scenario(file)
        except ProducerError as error:
            worst = max(worst, fail(error))
        else:
            typer.echo(f"{file}: ok, {history.commits} commits, {history.row_changes} row changes")
    return worst


@app.command("list")
def list_shipped() -> int:
    """List the scenarios that come with the package."""
    from ticdc_producer.scenario.library import descriptions

    listed = descriptions()
    width = max(map(len, listed), default=0)
    for name, description in listed.items():
        typer.echo(f"{name:{width}}  {description}")
    return 0


@app.command()
def schema() -> int:
    """Print the JSON Schema of scenario files."""
    from ticdc_producer.scenario.spec import scenario_schema

    typer.echo(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    return 0
