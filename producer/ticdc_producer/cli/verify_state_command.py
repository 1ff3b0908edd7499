"""``ticdc-producer verify state``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ticdc_producer.cli.options import Json, Quiet
from ticdc_producer.cli.progress import ProgressDisplay
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
            help="The consumer's tables: mysql://…, mariadb://…, postgresql://…, sqlite:///FILE; a folder "
            "or file of parquet, CSV or JSON lines; spark:FORMAT:PATH with {schema} and {table}.",
        ),
    ],
    at_ts: Annotated[
        int | None,
        typer.Option("--at", metavar="TS", help="Compare the state at this TSO; the folder must contain it."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            metavar="SCHEMA.TABLE",
            help="Compare this table; * matches any characters; may be repeated.",
        ),
    ] = None,
    table_map: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="SCHEMA.TABLE=NAME", help="The consumer's name of a table; may be repeated."
        ),
    ] = None,
    ignore_columns: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore-column",
            metavar="[SCHEMA.TABLE.]COLUMN",
            help="Do not compare this column; may be repeated.",
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            metavar="P",
            help="Allow for what this protocol does not carry. Default: the folder's protocol.",
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option("--examples", min=0, metavar="N", help="Rows to print per kind and table.")
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
    with ProgressDisplay(quiet=quiet) as progress:
        outcome = api.verify_state(
            expected,
            actual,
            at_ts=at_ts,
            tables=table or (),
            table_map=_parse_table_map(table_map or ()),
            ignore_columns=ignore_columns or (),
            protocol=protocol,
            examples=examples,
            on_status=progress.on_status,
        )
    if as_json:
        typer.echo(json.dumps(outcome.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in state_lines(outcome, quiet=quiet):
            typer.echo(line)
    if junit_xml is not None:
        from ticdc_producer.reports.junit import write_state_junit

        write_state_junit(junit_xml, expected.absolute().name, outcome)
    return 0 if outcome.ok else 1


def _parse_table_map(pairs: list[str] | tuple[()]) -> dict[str, str]:
    from ticdc_producer.errors import StateError

    found = {}
    for pair in pairs:
        name, equals, actual = pair.partition("=")
        if not (name and equals and actual):
            raise StateError(
                f"{pair!r} is not a table mapping", source="--map", hint="--map SCHEMA.TABLE=NAME"
            )
        found[name] = actual
    return found
