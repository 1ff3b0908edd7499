"""``ticdc-producer traps list|show``, and ``coverage``: which traps exist, and which a stream exercises."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ticdc_producer.cli.options import Json, arguments_of, with_options
from ticdc_producer.cli.terminal.progress import ProgressDisplay
from ticdc_producer.runs.options.commands import COVERAGE

if TYPE_CHECKING:
    from ticdc_producer.faults.trap import Trap, TrapEntry
    from ticdc_producer.runs.coverage import Coverage


traps_app = typer.Typer(
    help="List the events that break consumers of TiCDC's topics: legal and illegal ones.",
    no_args_is_help=True,
)


@traps_app.command("list")
def list_traps(
    legal: Annotated[
        bool | None,
        typer.Option(
            "--legal/--illegal", help="Only traps that TiCDC may produce, or only those it never does."
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """List the traps of the catalogue. Without --legal or --illegal: all of them."""
    from ticdc_producer.faults.catalogue import catalogue
    from ticdc_producer.faults.trap import TrapEntry

    traps = [entry for entry in catalogue().values() if legal is None or entry.legal is legal]
    if as_json:
        typer.echo(
            json.dumps(
                [TrapEntry.of(entry).model_dump(mode="json") for entry in traps], ensure_ascii=False, indent=2
            )
        )
    else:
        _print_table(traps)
    return 0


@traps_app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of a trap in the list.")],
    as_json: Json = False,
) -> int:
    """Show the catalogue's entry of one trap."""
    from ticdc_producer.faults.catalogue import trap
    from ticdc_producer.faults.trap import TrapEntry

    entry = TrapEntry.of(trap(name))
    if as_json:
        typer.echo(entry.model_dump_json(indent=2))
    else:
        _print_fields(entry)
    return 0


def _print_table(traps: Iterable[Trap]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("trap", "", "mechanism"):
        table.add_column(title, no_wrap=True)
    table.add_column("what happens")
    for trap in traps:
        table.add_row(trap.id, "legal" if trap.legal else "illegal", trap.mechanism, trap.summary)
    Console(highlight=False, markup=False).print(table)


def _print_fields(entry: TrapEntry) -> None:
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, show_header=False)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, value in entry.model_dump(mode="json").items():
        if value not in ("", [], {}):
            grid.add_row(name, _as_text(value))
    Console(highlight=False, markup=False).print(grid)


def _as_text(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(str, value))
        case dict():
            return ", ".join(f"{key} = {json.dumps(entry)}" for key, entry in value.items())
    return str(value)


@with_options(COVERAGE)
def coverage(**given: object) -> int:
    """Show which traps of the catalogue a topic or folder exercises, and which it misses."""
    from ticdc_producer.runs.coverage import coverage as covered

    options: dict[str, Any] = given
    arguments: dict[str, Any] = arguments_of("coverage", COVERAGE, options)
    with ProgressDisplay() as progress:
        report = covered(**arguments, on_status=progress.on_status)
    if options["as_json"]:
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
