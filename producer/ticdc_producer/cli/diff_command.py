"""``ticdc-producer diff``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from ticdc_producer.cli.options import with_options
from ticdc_producer.cli.terminal.progress import ProgressDisplay
from ticdc_producer.runs.options import DIFF

_SOURCE = "A sink URI, a golden folder or a storage folder."


@with_options(DIFF)
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=_SOURCE)],
    b: Annotated[str, typer.Argument(metavar="B", help=_SOURCE)],
    **given: object,
) -> int:
    """Compare two topics, folders or dumps as histories, whatever their protocols.

    Per table and row key the changes are compared by commit-ts, without duplicates, as far as both protocols
    carry them. Exit code 1 if they differ.
    """
    from ticdc_producer import api
    from ticdc_producer.reports.diff_text import diff_lines

    options: dict[str, Any] = given
    quiet = options["quiet"]
    arguments = {option.name: options[option.name] for option in DIFF if "diff" in option.functions}
    with ProgressDisplay(quiet=quiet) as progress:
        result = api.diff(a, b, **arguments, on_status=progress.on_status)
    if options["as_json"]:
        typer.echo(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in diff_lines(result, quiet=quiet):
            typer.echo(line)
    return 0 if result.equal else 1
