"""``ticdc-producer mask``: masks an SQL dump, or proposes rules for a dump or a topic."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ticdc_producer.cli.options import arguments_of, with_options
from ticdc_producer.runs.options.commands import MASK
from ticdc_producer.runs.options.rules import check_options


@with_options(MASK)
def mask(
    dump: Annotated[
        Path | None, typer.Argument(metavar="DUMP.sql", help="A dump of mysqldump or Dumpling.")
    ] = None,
    **given: object,
) -> int:
    """Mask an SQL dump by the rules of `record --mask`, or propose rules.

    Equal values of a dump and a topic stay equal. The key comes from an environment variable or a file.
    """
    from ticdc_producer import api

    options: dict[str, Any] = {"dump": dump, **given}
    check_options("mask", options)
    function = "suggest_rules" if options["suggest"] else "mask"
    arguments: dict[str, Any] = arguments_of(function, MASK, options)
    if options["suggest"]:
        text = api.suggest_rules(dump, **arguments, on_status=partial(typer.echo, err=True))
        typer.echo(text, nl=False)
        return 0
    for line in api.mask(options["dump"], **arguments).lines():
        typer.echo(line)
    return 0
