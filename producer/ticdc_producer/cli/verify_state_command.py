"""``ticdc-producer verify state``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ticdc_producer.cli.options import Json, Quiet
from ticdc_producer.cli.progress import Progress
from ticdc_producer.cli.reports import JunitXml


def state(
    expected: Annotated[
        Path, typer.Option("--expected", metavar="DIR", help="A golden folder, as run --out writes it.")
    ],
    actual: Annotated[
        str,
        typer.Option(
            "--actual",
            metavar="URL",
            help="What the consumer filled: mysql://…, mariadb://…, postgresql://…, sqlite:///FILE; a folder "
            "or file of parquet, CSV or JSON lines; spark:FORMAT:PATH with {schema} and {table}.",
        ),
    ],
    at: Annotated[
        int | None,
        typer.Option("--at", metavar="TS", help="The state at this TSO, which the folder must have."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table", metavar="SCHEMA.TABLE", help="Compare this table; * may stand in it; repeatable."
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="SCHEMA.TABLE=NAME", help="What the consumer calls a table; repeatable."
        ),
    ] = None,
    ignore_column: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore-column", metavar="[SCHEMA.TABLE.]COLUMN", help="Do not compare this column; repeatable."
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", metavar="P", help="Whose losses to allow for, if not the folder's."),
    ] = None,
    examples: Annotated[
        int, typer.Option("--examples", min=0, metavar="N", help="Rows to show of each kind and table.")
    ] = 10,
    as_json: Json = False,
    junit_xml: JunitXml = None,
    quiet: Quiet = False,
) -> int:
    """Compare the tables that a consumer filled with the rows that a golden folder expects.

    Exit code 1 if they differ.
    """
    from ticdc_producer import api
    from ticdc_producer.reports.state_text import state_lines
    from ticdc_producer.reports.target import check_target

    if junit_xml is not None:
        check_target(junit_xml)
    with Progress(quiet=quiet) as progress:
        outcome = api.verify_state(
            expected,
            actual,
            at=at,
            tables=table or (),
            names=_mapped(names or ()),
            ignored=ignore_column or (),
            protocol=protocol,
            examples=examples,
            say=progress.say,
        )
    if as_json:
        typer.echo(json.dumps(outcome.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in state_lines(outcome, quiet=quiet):
            typer.echo(line)
    if junit_xml is not None:
        from ticdc_producer.reports.state_junit import write_state_junit

        write_state_junit(junit_xml, expected.absolute().name, outcome)
    return 0 if outcome.ok else 1


def _mapped(pairs: list[str] | tuple[()]) -> dict[str, str]:
    from ticdc_producer.errors import StateError

    found = {}
    for pair in pairs:
        name, equals, actual = pair.partition("=")
        if not (name and equals and actual):
            raise StateError(f"{pair!r} names no table", source="--map", hint="--map SCHEMA.TABLE=NAME")
        found[name] = actual
    return found
