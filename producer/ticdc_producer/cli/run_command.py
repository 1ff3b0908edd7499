"""``ticdc-producer run``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ticdc_producer.cli.options import Client, Config, Json, Quiet, SchemaRegistry, SinkURI, with_registry
from ticdc_producer.cli.progress import Progress
from ticdc_producer.cli.reports import Html, JunitXml, Reports
from ticdc_producer.errors import ScenarioError


def run(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A .yaml, a .sql, or the name of a shipped scenario.")
    ],
    sink_uri: SinkURI = None,
    config: Config = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write a golden folder; must not exist.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Set any key of the scenario; may be repeated."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Instead of the scenario's.")
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Write behind what a topic holds.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the same run, which ended before it was done.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Encode and count, write nothing.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the embedded broker running.")] = False,
    rate: Annotated[
        str | None,
        typer.Option("--rate", metavar="N/s", help="In real time: row changes by time, as 5000/s or 300/m."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--duration", metavar="TIME", help="How long, with --rate: 10m, 1h30m.")
    ] = None,
    state_at: Annotated[
        list[int] | None,
        typer.Option(
            "--state-at", metavar="TS", help="Also write the expected state at this TSO; with --out."
        ),
    ] = None,
    only: Annotated[
        Literal["messages"] | None,
        typer.Option("--only", help="Write messages in one pass: nothing beside them, nothing read back."),
    ] = None,
    inject: Annotated[
        list[str] | None,
        typer.Option(
            "--inject", metavar="TRAP[:rate=R]", help="Set a trap, as traps list shows them; may be repeated."
        ),
    ] = None,
    schema_registry: SchemaRegistry = None,
    client: Client = None,
    as_json: Json = False,
    junit_xml: JunitXml = None,
    html: Html = None,
    quiet: Quiet = False,
) -> int:
    """Run a scenario, write its messages, read them back, verify them.

    Without a host in the sink URI and without --out it starts an embedded Kafka. With --rate, Ctrl-C ends the
    run behind a resolved event on every partition, and it is verified as far as it got.
    """
    from ticdc_producer import api
    from ticdc_producer.cli.run_text import show

    reports = Reports(junit_xml, html, verified=not (dry_run or only))
    same: dict[str, Any] = {
        "sink_uri": with_registry(sink_uri, schema_registry),
        "config": config,
        "sets": sets or (),
        "seed": seed,
        "append": append,
        "keep": keep,
        "client": client or (),
        "observe": reports.observe,
    }
    unpaced: dict[str, Any] = {
        "out": out,
        "resume": resume,
        "dry_run": dry_run,
        "only": only,
        "state_at": state_at or (),
        "inject": inject or (),
    }
    if rate is not None:
        _check_paced(unpaced)
    elif duration is not None:
        raise ScenarioError("--duration needs a --rate")
    with Progress(quiet=quiet) as progress:
        if rate is None:
            report = api.run(scenario, **same, **unpaced, say=progress.say, watcher=progress.show)
        else:
            report = api.run_paced(scenario, rate, duration, **same, say=progress.say)
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        show(report, quiet=quiet)
    reports.write(report.verdict, report.faults.places)
    return 0 if report.ok else 1


def _check_paced(unpaced: Mapping[str, object]) -> None:
    for name, value in unpaced.items():
        if value:
            raise ScenarioError(f"--rate does not go with --{name.replace('_', '-')}")
