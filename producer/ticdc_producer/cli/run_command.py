"""``ticdc-producer run``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ticdc_producer.cli.options import (
    Config,
    EngineName,
    Json,
    KafkaProperties,
    Quiet,
    SchemaRegistry,
    Server,
    SinkURI,
    with_registry,
)
from ticdc_producer.cli.progress import ProgressDisplay
from ticdc_producer.cli.reports import Html, JunitXml, Reports, scenario_source
from ticdc_producer.errors import ScenarioError


def run(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A .yaml, a .sql, or the name of a shipped scenario.")
    ],
    sink_uri: SinkURI = None,
    config: Config = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Golden folder to write; must not exist, or be empty."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Set any key of the scenario; may be repeated."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Replaces the scenario's seed.")
    ] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Write after the messages that a topic already holds.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Delete the topic and the golden folder of --out first, if they exist."
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an earlier run of the same scenario that did not finish."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Encode and count, write nothing.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the embedded broker running; also together with --out.")
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Run again whenever the scenario file is saved, and print what changed; implies --replace.",
        ),
    ] = False,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate", metavar="N/s", help="Run in real time: row changes per time, such as 5000/s or 300/m."
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option("--duration", metavar="TIME", help="Length of a run with --rate: 10m, 1h30m."),
    ] = None,
    state_at: Annotated[
        list[int] | None,
        typer.Option(
            "--state-at", metavar="TS", help="Also write the expected state at this TSO; requires --out."
        ),
    ] = None,
    only: Annotated[
        Literal["messages"] | None,
        typer.Option("--only", help="Write only messages, in one pass, and do not verify them."),
    ] = None,
    inject: Annotated[
        list[str] | None,
        typer.Option(
            "--inject", metavar="TRAP[:rate=R]", help="Inject a trap of `traps list`; may be repeated."
        ),
    ] = None,
    verify_output: Annotated[
        bool,
        typer.Option("--verify/--no-verify", help="Read the written messages again and verify them."),
    ] = True,
    engine: EngineName = "auto",
    schema_registry: SchemaRegistry = None,
    kafka_properties: KafkaProperties = None,
    as_json: Json = False,
    junit_xml: JunitXml = None,
    html: Html = None,
    quiet: Quiet = False,
    _server: Server = None,
) -> int:
    """Run a scenario, write its messages, read them again and verify them.

    A small scenario is written in a fraction of a second; with --no-verify the command ends then. Without a
    host in the sink URI and without --out it starts an embedded Kafka. With --rate, Ctrl-C ends the run after
    a resolved event on every partition, and the written messages are verified.
    """
    reports = Reports(
        junit_xml, html, verify_output and not (dry_run or only), partial(scenario_source, scenario)
    )
    common: dict[str, Any] = {
        "sink_uri": with_registry(sink_uri, schema_registry),
        "config": config,
        "overrides": overrides or (),
        "seed": seed,
        "append": append,
        "keep": keep,
        "engine": engine,
        "kafka_properties": kafka_properties or (),
        "on_verdict": reports.on_verdict,
    }
    not_realtime: dict[str, Any] = {
        "out": out,
        "replace": replace,
        "resume": resume,
        "dry_run": dry_run,
        "messages_only": only == "messages",
        "state_at": state_at or (),
        "inject": inject or (),
    }
    if rate is not None and not verify_output:
        raise ScenarioError("--rate cannot be combined with --no-verify")
    if rate is not None:
        _check_realtime(not_realtime)
    elif duration is not None:
        raise ScenarioError("--duration requires --rate")
    if watch:
        _check_watched(rate, append, keep, not_realtime, reports)
    from ticdc_producer import api
    from ticdc_producer.cli.report_text import show_report

    if watch:
        from ticdc_producer.cli.watch import watch_scenario

        watch_scenario(scenario, {**common, **not_realtime, "verify_output": verify_output}, quiet=quiet)
        return 0
    with ProgressDisplay(quiet=quiet) as progress:
        if rate is None:
            report = api.run(
                scenario,
                **common,
                **not_realtime,
                verify_output=verify_output,
                on_status=progress.on_status,
                on_progress=progress.show,
            )
        else:
            report = api.run_realtime(scenario, rate, duration, **common, on_status=progress.on_status)
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        show_report(report, quiet=quiet)
    reports.write(report.verdict, report.faults.occurrences, report.requested_faults)
    return 0 if report.ok else 1


def _check_realtime(not_realtime: Mapping[str, object]) -> None:
    for name, value in not_realtime.items():
        if value:
            option = "only" if name == "messages_only" else name.replace("_", "-")
            raise ScenarioError(f"--rate cannot be combined with --{option}")


def _check_watched(
    rate: str | None, append: bool, keep: bool, options: Mapping[str, object], reports: Reports
) -> None:
    """Reject options that have no meaning for runs that replace one another."""
    given = {
        "rate": rate,
        "append": append,
        "keep": keep,
        "resume": options["resume"],
        "dry-run": options["dry_run"],
        "only": options["messages_only"],
        "junit-xml": reports.junit_xml,
        "html": reports.html,
    }
    for name, value in given.items():
        if value:
            raise ScenarioError(f"--watch cannot be combined with --{name}")
