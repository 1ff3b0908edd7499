"""``ticdc-producer run``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from producer.cli.options import Config, Json, SinkURI
from producer.cli.progress import Progress


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
    state_at: Annotated[
        list[int] | None,
        typer.Option(
            "--state-at", metavar="TS", help="Also write the expected state at this TSO; with --out."
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Run a scenario, write its messages, read them back, verify them.

    Without a host in the sink URI and without --out it starts an embedded Kafka.
    """
    from producer import api
    from producer.cli.run_text import show

    with Progress() as progress:
        report = api.run(
            scenario,
            sink_uri=sink_uri,
            config=config,
            out=out,
            sets=sets or (),
            seed=seed,
            append=append,
            resume=resume,
            dry_run=dry_run,
            keep=keep,
            state_at=state_at or (),
            say=progress.say,
        )
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        show(report)
    return 0 if report.ok else 1
