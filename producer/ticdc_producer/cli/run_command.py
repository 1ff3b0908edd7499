"""``ticdc-producer run``."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any

import typer

from ticdc_producer.cli.options import with_options, with_registry
from ticdc_producer.cli.progress import ProgressDisplay
from ticdc_producer.cli.reports import Reports, scenario_source
from ticdc_producer.runs.options import RUN, check_options


@with_options(RUN)
def run(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A .yaml, a .sql, or the name of a shipped scenario.")
    ],
    **options: Any,
) -> int:
    """Run a scenario, write its messages, read them again and verify them.

    A small scenario is written in a fraction of a second; with --no-verify the command ends then. Without a
    host in the sink URI and without --out it starts an embedded Kafka. With --rate, Ctrl-C ends the run after
    a resolved event on every partition, and the written messages are verified.
    """
    quiet, page = options["quiet"], options["html"]
    verified = options["verify_output"] and not (options["dry_run"] or options["messages_only"])
    reports = Reports(options["junit_xml"], page, verified, partial(scenario_source, scenario))
    check_options("run", options)
    function = "run" if options["rate"] is None else "run_realtime"
    arguments = {option.name: options[option.name] for option in RUN if function in option.functions}
    arguments["sink_uri"] = with_registry(options["sink_uri"], options["schema_registry"])
    arguments["on_verdict"] = reports.on_verdict
    from ticdc_producer import api
    from ticdc_producer.cli.report_text import next_steps, show_report

    if options["watch"]:
        from ticdc_producer.cli.watch import watch_scenario

        watch_scenario(scenario, arguments, quiet=quiet)
        return 0
    with ProgressDisplay(quiet=quiet) as progress:
        arguments["on_status"] = progress.on_status
        if function == "run":
            report = api.run(scenario, **arguments, on_progress=progress.show)
        else:
            report = api.run_realtime(scenario, **arguments)
    if options["as_json"]:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        show_report(report, quiet=quiet, log=options["preview"] == "log")
    reports.write(report.verdict, report.faults.occurrences, report.requested_faults)
    if report.ok and not (options["as_json"] or quiet):
        ended = report.embedded and not report.broker_pid
        for step in next_steps(
            report.target, ended=ended, golden=options["out"] is not None, page=page is not None
        ):
            typer.echo(step, err=True)
    return 0 if report.ok else 1
