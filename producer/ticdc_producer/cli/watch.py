"""``run --watch``: runs a scenario again whenever its file is saved, and prints what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from ticdc_producer.cli.options import fail
from ticdc_producer.cli.progress import ProgressDisplay
from ticdc_producer.cli.remote.saves import saves
from ticdc_producer.cli.report_text import show_report, show_verdict
from ticdc_producer.errors import ProducerError, ScenarioError
from ticdc_producer.runs.decode import FolderText, folder_text
from ticdc_producer.runs.run_report import RunReport

_MAX_LINES = 40
"""Lines of difference per part; the rest is counted."""


def watch_scenario(scenario: str, options: Mapping[str, Any], *, quiet: bool = False) -> None:
    """Run a scenario now and after each save of its file or of the changefeed file, until Ctrl-C.

    :param scenario: a ``.yaml`` or ``.sql`` file.
    :param options: of ``api.run``; without ``out`` the golden folder is temporary.
    :raises ScenarioError: for a shipped scenario, whose file nobody edits.
    """
    if not Path(scenario).is_file():
        raise ScenarioError("--watch requires a scenario file that exists", file=scenario)
    files = [Path(scenario), *([Path(options["config"])] if options.get("config") else [])]
    with TemporaryDirectory(prefix="ticdc-producer-watch-") as temporary:
        folder = options.get("out") or Path(temporary) / "golden"
        text: FolderText | None = None
        for _ in saves(files):
            text = _run(scenario, {**options, "out": folder, "replace": True}, text, quiet) or text
            typer.echo(f"waiting for {scenario} to be saved; Ctrl-C ends", err=True)


def _run(
    scenario: str, options: Mapping[str, Any], before: FolderText | None, quiet: bool
) -> FolderText | None:
    """Run once and print the report, or what changed; None after an error, which is printed."""
    from ticdc_producer import api

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
