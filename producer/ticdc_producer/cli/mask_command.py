"""``ticdc-producer mask``: masks an SQL dump, or proposes rules for a dump or a topic."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ticdc_producer.cli.options import with_options
from ticdc_producer.errors import ArgumentError
from ticdc_producer.runs.options.commands import MASK


@with_options(MASK)
def mask(
    dump: Annotated[
        Path | None, typer.Argument(metavar="DUMP.sql", help="A dump of mysqldump or Dumpling.")
    ] = None,
    rules: Annotated[
        Path | None, typer.Option("--rules", metavar="YAML", help="The rules file, as for record --mask.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The dump to write; must not exist.")
    ] = None,
    suggest: Annotated[
        bool,
        typer.Option("--suggest", help="Print a rules file instead: of the dump, or of a topic."),
    ] = False,
    **given: object,
) -> int:
    """Mask an SQL dump by the rules of `record --mask`, or propose rules.

    Equal values of a dump and a topic stay equal. The key comes from an environment variable or a file.
    """
    from ticdc_producer import api

    if suggest:
        status = partial(typer.echo, err=True)
        options: dict[str, Any] = given
        text = api.suggest_rules(dump, **options, on_status=status)
        typer.echo(text, nl=False)
        return 0
    if dump is None or rules is None or out is None:
        raise ArgumentError("mask needs a dump, `rules` and `out`", argument="rules").about("rules", "out")
    for line in api.mask(dump, rules=rules, out=out).lines():
        typer.echo(line)
    return 0
