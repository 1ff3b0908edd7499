"""``ticdc-producer coverage``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from ticdc_producer.cli.options import Config, EngineName, Folder, Json, KafkaProperties, SinkURI
from ticdc_producer.cli.terminal.progress import ProgressDisplay

if TYPE_CHECKING:
    from ticdc_producer.runs.coverage import Coverage


def coverage(
    sink_uri: SinkURI = None,
    folder: Folder = None,
    config: Config = None,
    kafka_properties: KafkaProperties = None,
    engine: EngineName = "auto",
    as_json: Json = False,
) -> int:
    """Show which traps of the catalogue a topic or folder exercises, and which it misses."""
    from ticdc_producer.runs.coverage import coverage as covered

    with ProgressDisplay() as progress:
        report = covered(
            sink_uri=sink_uri,
            folder=folder,
            config=config,
            kafka_properties=kafka_properties or (),
            engine=engine,
            on_status=progress.on_status,
        )
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        _show(report)
    return 0


def _show(report: Coverage) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("trap", "", "count"):
        table.add_column(title, no_wrap=True, justify="right" if title == "count" else "left")
    table.add_column("first, or what it requires")
    for entry in report.traps:
        table.add_row(
            entry.trap, entry.status, f"{entry.count:,}" if entry.count else "", entry.first or entry.note
        )
    console = Console(highlight=False, markup=False)
    console.print(table)
    exercised, absent = len(report.of_status("exercised")), len(report.of_status("not_exercised"))
    console.print(
        f"{exercised} exercised, {absent} not exercised, of {len(report.traps)} in {report.protocol}"
    )
