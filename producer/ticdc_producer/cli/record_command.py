"""``ticdc-producer record``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ticdc_producer.cli.options import with_options, with_registry
from ticdc_producer.cli.terminal.progress import ProgressDisplay
from ticdc_producer.runs.options import RECORD, check_options


@with_options(RECORD)
def record(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The scenario to write; must not exist, or be empty.")
    ],
    **given: object,
) -> int:
    """Record a topic, a golden folder or a file of messages as a scenario, which `run` replays.

    The scenario is a folder: scenario.yaml has the changefeed, and changes.parquet has the DDLs, row changes
    and resolved events.
    """
    options: dict[str, Any] = given
    check_options("record", options)
    arguments = {option.name: options[option.name] for option in RECORD if "record" in option.functions}
    arguments["sink_uri"] = with_registry(options["sink_uri"], options["schema_registry"])
    from ticdc_producer import api

    with ProgressDisplay(quiet=options["quiet"]) as progress:
        recording = api.record(out=out, **arguments, on_status=progress.on_status)
    if options["as_json"]:
        typer.echo(json.dumps(recording.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in recording.lines():
            typer.echo(line)
    return 0
