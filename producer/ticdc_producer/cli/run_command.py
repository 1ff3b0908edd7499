"""``ticdc-producer run``.

With ``--watch`` it runs the scenario again whenever its file is saved, and prints what changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import unified_diff
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ticdc_producer.cli.options import arguments_of, fail, with_options, with_registry
from ticdc_producer.cli.remote.client_files import saves
from ticdc_producer.cli.reports import Reports, scenario_source
from ticdc_producer.cli.terminal.progress import ProgressDisplay
from ticdc_producer.errors import ProducerError, ScenarioError
from ticdc_producer.local_path import local_path
from ticdc_producer.runs.options.commands import RUN
from ticdc_producer.runs.options.rules import check_options

if TYPE_CHECKING:
    from ticdc_producer.runs.decode import FolderText
    from ticdc_producer.runs.run_report import RunReport

_MAX_LINES = 40
"""Lines of difference per part; the rest is counted."""


@with_options(RUN)
def run(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A .yaml, a .sql, or the name of a shipped scenario.")
    ],
    **given: object,
) -> int:
    """Run a scenario, write its messages, read them again and verify them.

    A small scenario is written in a fraction of a second; with --no-verify the command ends then. Without a
    host in the sink URI and without --out it starts an embedded Kafka. With --rate or --speed, Ctrl-C ends
    the run, and the written messages are verified.
    """
    options: dict[str, Any] = given
    quiet, page = options["quiet"], options["html"]
    verified = options["verify_output"] and not (options["dry_run"] or options["messages_only"])
    reports = Reports(options["junit_xml"], page, verified, partial(scenario_source, scenario))
    check_options("run", options)
    paced = options["rate"] is not None or options["speed"] is not None
    function = "run_realtime" if paced else "run"
    arguments: dict[str, Any] = arguments_of(function, RUN, options)
    arguments["sink_uri"] = with_registry(options["sink_uri"], options["schema_registry"])
    arguments["on_verdict"] = reports.on_verdict
    from ticdc_producer import api
    from ticdc_producer.cli.report_text import next_steps, show_report

    if options["watch"]:
        _watch(scenario, arguments, quiet=quiet)
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
        steps = next_steps(
            report.target,
            ended=ended,
            golden=options["out"] is not None,
            page=page is not None,
            rows=not options["messages_only"],
        )
        for step in steps:
            typer.echo(step, err=True)
    return 0 if report.ok else 1


def _watch(scenario: str, options: Mapping[str, Any], *, quiet: bool = False) -> None:
    """Run a scenario now and after each save of its file, of one that it reads, or of the changefeed file.

    Ctrl-C ends it.

    :param scenario: a ``.yaml`` or ``.sql`` file.
    :param options: of ``api.run``; without ``out`` the golden folder is temporary.
    :raises ScenarioError: for a shipped scenario, whose file nobody edits.
    """
    if not local_path(scenario).is_file():
        raise ScenarioError("--watch requires a scenario file that exists", file=scenario)
    named = [scenario, *([str(options["config"])] if options.get("config") else [])]
    with TemporaryDirectory(prefix="ticdc-producer-watch-") as temporary:
        folder = options.get("out") or Path(temporary) / "golden"
        text: FolderText | None = None
        for _ in saves(_WatchedFiles(scenario, named)):
            text = _run(scenario, {**options, "out": folder, "replace": True}, text, quiet) or text
            typer.echo(f"waiting for {scenario} to be saved; Ctrl-C ends", err=True)


class _WatchedFiles:
    """The files whose saves start a run.

    :param named: those that the command line names.
    """

    def __init__(self, scenario: str, named: Sequence[str]) -> None:
        self._scenario = scenario
        self._named = named
        self._read: Sequence[str] = ()

    def __call__(self) -> Sequence[str]:
        """Return them, with the files that the scenario reads, and a sourced one that is missing.

        If the scenario itself cannot be read, they are those of before.
        """
        from ticdc_producer.scenario.load import paths_of_scenario

        with suppress(ProducerError):  # the run reports it
            self._read = paths_of_scenario(self._scenario)
        return [*self._named, *self._read]


def _run(
    scenario: str, options: Mapping[str, Any], before: FolderText | None, quiet: bool
) -> FolderText | None:
    """Run once and print the report, or what changed; None after an error, which is printed."""
    from ticdc_producer import api
    from ticdc_producer.cli.report_text import show_report
    from ticdc_producer.runs.decode import folder_text

    try:
        with ProgressDisplay(quiet=quiet) as progress:
            report = api.run(scenario, **options, on_status=progress.on_status, on_progress=progress.show)
        text = folder_text(options["out"])
    except ProducerError as error:
        fail(error)
        return None
    if before is None:
        show_report(report, quiet=quiet)
    else:
        _show_changes(report, before, text)
    return text


def _show_changes(report: RunReport, before: FolderText, after: FolderText) -> None:
    from ticdc_producer.cli.report_text import show_verdict

    lines = [*differences(before, after)]
    for line in lines or ["no event and no row changed"]:
        typer.echo(line)
    if report.verdict is not None:
        show_verdict(report.verdict, quiet=True, requested=report.requested_faults)


def differences(before: FolderText, after: FolderText) -> Iterator[str]:
    """Yield the lines that were added and removed, by part."""
    for part in dict.fromkeys([*before, *after]):
        old, new = before.get(part, []), after.get(part, [])
        changed = [
            line for line in [*unified_diff(old, new, n=0, lineterm="")][2:] if not line.startswith("@@")
        ]
        if changed:
            yield f"{part}: {len(old):,} before, {len(new):,} now"
            yield from (f"  {line[0]} {line[1:]}" for line in changed[:_MAX_LINES])
        if len(changed) > _MAX_LINES:
            yield f"  … and {len(changed) - _MAX_LINES:,} more lines"
