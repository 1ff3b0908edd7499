"""``ticdc-producer decode``, ``record``, ``transcode`` and ``diff``: commands that read messages."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ticdc_producer.cli.options import arguments_of, with_options, with_registry
from ticdc_producer.cli.terminal.progress import ProgressDisplay
from ticdc_producer.cli.terminal.standard_output import reader_gone
from ticdc_producer.runs.options.commands import DECODE, DIFF, RECORD, TRANSCODE
from ticdc_producer.runs.options.rule import RECORDING
from ticdc_producer.runs.options.rules import check_options


@with_options(DECODE)
def decode(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|DIR|-",
            help="A file in the format of messages.jsonl, a golden folder or a storage folder; - for stdin.",
        ),
    ] = None,
    **given: object,
) -> int:
    """Print the events of a topic, storage, golden folder or file. Exit code 1 if one did not decode."""
    from ticdc_producer.model.event_line import event_line, event_text, json_line
    from ticdc_producer.runs.decode import decode as events

    options: dict[str, Any] = given
    sources = {name: options[name] for name in ("sink_uri", "folder", "config", "schema_registry")}
    check_options("decode", {**sources, "file": file})
    damaged = False
    arguments: dict[str, Any] = arguments_of("decode", DECODE, options)
    arguments["sink_uri"] = with_registry(options["sink_uri"], options["schema_registry"])
    rows = events(file=file, **arguments, on_status=partial(typer.echo, err=True))
    for row in rows:
        damaged = damaged or row["kind"] == "error"
        text = event_text(row) if options["form"] == "text" else json_line(event_line(row))
        typer.echo(text)
        if reader_gone():
            break
    return 1 if damaged else 0


@with_options(RECORD)
def record(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The scenario to write; must not exist, or be empty.")
    ],
    **given: object,
) -> int:
    """Record a topic, a golden folder or a file of messages as a scenario, which `run` replays.

    The scenario is a folder: scenario.yaml has the changefeed, and changes.parquet has the DDLs, row changes
    and resolved events.
    """
    options: dict[str, Any] = given
    check_options("record", options)
    arguments: dict[str, Any] = arguments_of("record", RECORD, options)
    arguments["sink_uri"] = with_registry(options["sink_uri"], options["schema_registry"])
    if options["shrink"] is not None:
        return _shrink(out, options, arguments)
    from ticdc_producer import api

    with ProgressDisplay(quiet=options["quiet"]) as progress:
        recording = api.record(out=out, **arguments, on_status=progress.on_status)
    if options["as_json"]:
        typer.echo(json.dumps(recording.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in recording.lines():
            typer.echo(line)
    return 0


def _shrink(out: Path, options: dict[str, Any], arguments: dict[str, Any]) -> int:
    """Record, and shrink what was recorded; the folder may be a recording already."""
    from ticdc_producer import api
    from ticdc_producer.conformance.fuzz.shrink_recording import is_recording, shrink_recording

    with (
        TemporaryDirectory(prefix="ticdc-producer-record-") as temporary,
        ProgressDisplay(quiet=options["quiet"]) as progress,
    ):
        folder = options["folder"]
        if folder is not None and is_recording(folder):
            check_options("record", options, RECORDING)
        else:
            folder = Path(temporary) / "recording"
            api.record(out=folder, **arguments, on_status=progress.on_status)
        result = shrink_recording(folder, options["shrink"], out, progress.on_status)
    if options["as_json"]:
        content = {name: getattr(result, name) for name in ("statements", "before", "tries")}
        typer.echo(json.dumps({"folder": str(out), **content}, ensure_ascii=False, indent=2))
    else:
        for line in result.lines():
            typer.echo(line)
    return 0


@with_options(TRANSCODE)
def transcode(**given: object) -> int:
    """Write a topic, a golden folder or a file of messages in another protocol or topology.

    It is recorded, and the recording is run with the changefeed of the target. Exit code 1 if what was
    written violates a guarantee of TiCDC.
    """
    options: dict[str, Any] = given
    check_options("transcode", options)
    function = "transcode_growing" if options["follow"] else "transcode"
    arguments: dict[str, Any] = arguments_of(function, TRANSCODE, options)
    arguments["sink_uri"] = with_registry(options["sink_uri"], options["schema_registry"])
    from ticdc_producer import api

    if options["follow"]:
        return _follow(options, arguments)
    from ticdc_producer.cli.report_text import show_report

    quiet = options["quiet"]
    with ProgressDisplay(quiet=quiet) as progress:
        result = api.transcode(**arguments, on_status=progress.on_status, on_progress=progress.show)
    if options["as_json"]:
        typer.echo(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in () if quiet else result.lines():
            typer.echo(line)
        show_report(result.report, quiet=quiet)
    return 0 if result.ok else 1


def _follow(options: dict[str, Any], arguments: dict[str, Any]) -> int:
    """Write a topic while it grows, and print what was written at the end."""
    from ticdc_producer import api

    status = partial(typer.echo, err=True) if not options["quiet"] else lambda _line: None
    result = api.transcode_growing(**arguments, on_status=status)
    if options["as_json"]:
        typer.echo(json.dumps(result.to_json(), ensure_ascii=False))
    elif not options["quiet"]:
        typer.echo(result.line())
    return 0


_SOURCE = "A sink URI, a golden folder, a storage folder or a scenario."


@with_options(DIFF)
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=_SOURCE)],
    b: Annotated[str, typer.Argument(metavar="B", help=_SOURCE)],
    **given: object,
) -> int:
    """Compare two topics, folders or dumps as histories, whatever their protocols.

    Per table and row key the changes are compared by commit-ts, without duplicates, as both protocols
    carry them. Exit code 1 if they differ.
    """
    from ticdc_producer import api
    from ticdc_producer.reports.diff_text import diff_lines

    options: dict[str, Any] = given
    quiet = options["quiet"]
    arguments: dict[str, Any] = arguments_of("diff", DIFF, options)
    with ProgressDisplay(quiet=quiet) as progress:
        result = api.diff(a, b, **arguments, on_status=progress.on_status)
    if options["as_json"]:
        typer.echo(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in diff_lines(result, quiet=quiet):
            typer.echo(line)
    return 0 if result.equal else 1
