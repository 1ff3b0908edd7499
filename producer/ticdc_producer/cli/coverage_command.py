"""``ticdc-producer coverage``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ticdc_producer.cli.options import Client, Config, Json, SinkURI
from ticdc_producer.cli.progress import Progress

if TYPE_CHECKING:
    from ticdc_producer.runs.coverage import Coverage


def coverage(
    sink_uri: SinkURI = None,
    folder: Annotated[Path | None, typer.Option("--in", metavar="DIR", help="A golden folder.")] = None,
    config: Config = None,
    client: Client = None,
    as_json: Json = False,
) -> int:
    """Tell which traps of the catalogue a topic or folder exercises, and which it misses."""
    from ticdc_producer.runs.coverage import coverage as covered

    with Progress() as progress:
        found = covered(
            sink_uri=sink_uri, folder=folder, config=config, client=client or (), say=progress.say
        )
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=2))
    else:
        _show(found)
    return 0


def _show(found: Coverage) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("trap", "", "count"):
        table.add_column(title, no_wrap=True, justify="right" if title == "count" else "left")
    table.add_column("first, or what it needs")
    for one in found.traps:
        table.add_row(one.trap, one.status, f"{one.count:,}" if one.count else "", one.first or one.note)
    console = Console(highlight=False, markup=False)
    console.print(table)
    exercised, missed = len(found.of_status("exercised")), len(found.of_status("missed"))
    console.print(f"{exercised} exercised, {missed} missed, of {len(found.traps)} in {found.protocol}")
