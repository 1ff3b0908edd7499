"""``ticdc-producer verify``, and ``verify state`` below it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ticdc_producer.cli.options import arguments_of, refuse_options, with_options, with_registry
from ticdc_producer.cli.reports import Reports, scenario_source
from ticdc_producer.cli.terminal.progress import ProgressDisplay
from ticdc_producer.runs.options.commands import STATE, VERIFY
from ticdc_producer.runs.options.rules import check_options

if TYPE_CHECKING:
    from typer._click.core import Command, Context

    from ticdc_producer.verifier.finding import Finding


@with_options(STATE)
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
            "or file of parquet, CSV or JSON lines; delta:PATH, iceberg:PATH, hudi:PATH, paimon:PATH, "
            "parquet:PATH or spark:FORMAT:PATH with {schema} and {table}.",
        ),
    ],
    **given: object,
) -> int:
    """Compare the tables that a consumer filled with the rows that a golden folder expects.

    Exit code 1 if they differ.
    """
    from ticdc_producer import api
    from ticdc_producer.reports.report import check_target
    from ticdc_producer.reports.text import state_lines

    options: dict[str, Any] = given
    junit_xml, quiet = options["junit_xml"], options["quiet"]
    if junit_xml is not None:
        check_target(junit_xml)
    arguments: dict[str, Any] = arguments_of("verify_state", STATE, options)
    arguments["table_map"] = _parse_table_map(options["table_map"])
    with ProgressDisplay(quiet=quiet) as progress:
        outcome = api.verify_state(expected, actual, **arguments, on_status=progress.on_status)
    if options["as_json"]:
        typer.echo(json.dumps(outcome.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in state_lines(outcome, quiet=quiet):
            typer.echo(line)
    if junit_xml is not None:
        from ticdc_producer.reports.junit import write_state_junit

        write_state_junit(junit_xml, expected.absolute().name, outcome)
    return 0 if outcome.ok else 1


def _parse_table_map(pairs: Sequence[str]) -> dict[str, str]:
    from ticdc_producer.errors import StateError

    table_map = {}
    for pair in pairs:
        name, equals, actual = pair.partition("=")
        if not (name and equals and actual):
            raise StateError(
                f"{pair!r} is not a table mapping", source="--map", hint="--map SCHEMA.TABLE=NAME"
            )
        table_map[name] = actual
    return table_map


class _Verify(TyperGroup):
    """``verify``, whose argument is a subcommand: a folder or topic is an option."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        if "://" in args[0]:
            ctx.fail("a topic is given as --sink-uri URI")
        if args[0] not in self.commands and os.path.exists(args[0]):  # noqa: PTH110  # Path raises for long names
            ctx.fail(f"a folder is given as --in {args[0]}")
        return super().resolve_command(ctx, args)


verify_app = typer.Typer(cls=_Verify, invoke_without_command=True)
verify_app.command("state")(state)


@verify_app.callback()
@with_options(VERIFY)
def verify(context: typer.Context, **given: object) -> int:
    """Verify a topic or folder against TiCDC's guarantees, and against a scenario if one is given.

    A folder that run wrote is compared with its own expected events and rows if no scenario is given.

    Exit code 1 if a guarantee is violated. See also: verify state, for the tables that a consumer filled.
    """
    if context.invoked_subcommand is not None:
        refuse_options(context, "verify state --expected DIR --actual URL")
        return 0
    from ticdc_producer import api
    from ticdc_producer.cli.report_text import show_verdict

    options: dict[str, Any] = given
    scenario, quiet = options["scenario"], options["quiet"]
    if options["follow"]:
        check_options("verify", options)
        return _follow(options)
    reports = Reports(options["junit_xml"], options["html"], source=partial(scenario_source, scenario))
    check_options("verify", options)
    arguments: dict[str, Any] = arguments_of("verify", VERIFY, options)
    arguments["sink_uri"] = with_registry(options["sink_uri"], options["schema_registry"])
    with ProgressDisplay(quiet=quiet) as progress:
        verdict = api.verify(**arguments, on_status=progress.on_status, on_verdict=reports.on_verdict)
    if options["as_json"]:
        typer.echo(json.dumps(verdict.to_json(), ensure_ascii=False, indent=2))
    else:
        show_verdict(verdict, quiet=quiet, way_out="" if scenario else "give --scenario")
    reports.write(verdict)
    return 0 if verdict.ok else 1


def _follow(options: dict[str, Any]) -> int:
    """Print findings as they happen, one per line, and the verdict so far at the end."""
    from ticdc_producer import api
    from ticdc_producer.cli.report_text import show_verdict

    as_json, quiet = options["as_json"], options["quiet"]

    def show(finding: Finding) -> None:
        for example in finding.examples:
            text = f"{finding.severity} {finding.id}: {example.detail}"
            typer.echo(text + "".join(f"\n  {event}" for event in example.events))

    def show_json(finding: Finding) -> None:
        typer.echo(json.dumps(finding.to_json(), ensure_ascii=False))

    arguments: dict[str, Any] = arguments_of("follow", VERIFY, options)
    arguments["sink_uri"] = with_registry(options["sink_uri"], options["schema_registry"])
    verdict = api.follow(
        **arguments,
        on_finding=show_json if as_json else show,
        on_status=partial(typer.echo, err=True) if not quiet else lambda _line: None,
    )
    if as_json:
        typer.echo(json.dumps(verdict.to_json(), ensure_ascii=False))
    else:
        show_verdict(verdict, quiet=quiet, way_out="")
    return 0 if verdict.ok else 1
