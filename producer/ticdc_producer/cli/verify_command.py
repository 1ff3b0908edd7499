"""``ticdc-producer verify``, and ``verify state`` below it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ticdc_producer.cli.options import (
    Client,
    Config,
    Json,
    Quiet,
    SchemaRegistry,
    SinkURI,
    refuse_options,
    with_registry,
)
from ticdc_producer.cli.progress import Progress
from ticdc_producer.cli.reports import Html, JunitXml, Reports
from ticdc_producer.cli.verify_state_command import state

app = typer.Typer(invoke_without_command=True)
app.command("state")(state)


@app.callback()
def verify(
    context: typer.Context,
    sink_uri: SinkURI = None,
    folder: Annotated[Path | None, typer.Option("--in", metavar="DIR", help="A golden folder.")] = None,
    scenario: Annotated[
        str | None,
        typer.Option("--scenario", metavar="SCENARIO", help="Also compare with what this scenario gives."),
    ] = None,
    config: Config = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Set a key of the scenario.")
    ] = None,
    strict_seed: Annotated[
        bool, typer.Option("--strict-seed", help="Demand commit-ts order per table under every rule.")
    ] = False,
    inject: Annotated[
        list[str] | None,
        typer.Option(
            "--inject", metavar="TRAP[:rate=R]", help="A trap that the topic was made with; may be repeated."
        ),
    ] = None,
    state_at: Annotated[
        list[int] | None,
        typer.Option(
            "--state-at", metavar="TS", help="Compare the rows at this TSO, too; with --scenario; repeatable."
        ),
    ] = None,
    from_beginning: Annotated[
        bool,
        typer.Option(
            "--from-beginning",
            help="The stream starts where its tables were created and hides nothing: a row without its "
            "insert, a gap in its history or a missing DDL is an error.",
        ),
    ] = False,
    resolved_gap_ms: Annotated[
        int | None,
        typer.Option(
            "--resolved-gap-ms", min=0, metavar="MS", help="Tell of longer gaps between resolved-ts."
        ),
    ] = None,
    witnesses: Annotated[
        int, typer.Option("--witnesses", min=1, metavar="N", help="Examples of each violated invariant.")
    ] = 3,
    schema_registry: SchemaRegistry = None,
    client: Client = None,
    as_json: Json = False,
    junit_xml: JunitXml = None,
    html: Html = None,
    quiet: Quiet = False,
) -> int:
    """Check a topic or folder against TiCDC's guarantees, and against a scenario if one is given.

    Exit code 1 if something is violated. Below it: verify state, for the tables that a consumer filled.
    """
    if context.invoked_subcommand is not None:
        refuse_options(context, "verify state --expected DIR --actual URL")
        return 0
    from ticdc_producer import api
    from ticdc_producer.cli.verdict_text import show

    reports = Reports(junit_xml, html)
    with Progress(quiet=quiet) as progress:
        verdict = api.verify(
            sink_uri=with_registry(sink_uri, schema_registry),
            folder=folder,
            scenario=scenario,
            config=config,
            sets=sets or (),
            strict_seed=strict_seed,
            inject=inject or (),
            state_at=state_at or (),
            from_beginning=from_beginning,
            resolved_gap_ms=resolved_gap_ms,
            witnesses=witnesses,
            client=client or (),
            say=progress.say,
            observe=reports.observe,
        )
    if as_json:
        typer.echo(json.dumps(verdict.to_json(), ensure_ascii=False, indent=2))
    else:
        show(verdict, quiet=quiet)
    reports.write(verdict)
    return 0 if verdict.ok else 1
