"""``ticdc-producer conformance``, and ``golden``: its cases as files, and the changes between two of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ticdc_producer.cli.options import AnyProtocol, Json, refuse_options, with_options
from ticdc_producer.conformance.case_spec import LEVELS_OF_FILES, Level
from ticdc_producer.hints import counted
from ticdc_producer.runs.options.conformance import CONFORMANCE, RESTARTS
from ticdc_producer.runs.options.rules import check_options

if TYPE_CHECKING:
    from ticdc_producer.conformance.catalog import CaseSpec, FailureList
    from ticdc_producer.conformance.corpus import CorpusDiff
    from ticdc_producer.conformance.runner import CaseOutcome


@with_options(CONFORMANCE)
def conformance(**given: object) -> int:
    """Test how your consumer decodes messages. Exit code 1 if a case does not have the expected outcome.

    Default --level: the events of single messages.
    """
    options: dict[str, Any] = given
    levels = options["level"] or (Level.DECODE,)
    check_options("conformance", options, RESTARTS if Level.RESTART in levels else "")
    if options["fuzz"] or options["replay"] or options["shrink"]:
        from ticdc_producer.cli.fuzz import random_histories

        return random_histories(options)
    from ticdc_producer.conformance import catalog

    cases = catalog.selected(catalog.case_specs(levels), options["protocol"] or (), options["only"] or ())
    known = _known_failures(options["failures"])
    if options["listing"]:
        _list(cases, options["as_json"])
        return 0
    junit_xml = options["junit_xml"]
    if junit_xml is not None:
        from ticdc_producer.reports.report import check_target

        check_target(junit_xml)
    seconds = catalog.seconds_of(options["timeout"])
    parts = {name: options[name] for name in ("save", "reset", "kafka")}
    outcomes = _outcomes(cases, options["testee"], seconds, known, **parts)
    if junit_xml is not None:
        from ticdc_producer.conformance.runner import write_junit

        write_junit(junit_xml, outcomes)
    _show(outcomes, options["as_json"])
    return 0 if all(outcome.expected for outcome in outcomes) else 1


def _known_failures(file: Path | None) -> FailureList:
    from ticdc_producer.conformance import catalog

    if file is None:
        return catalog.FailureList()
    return catalog.read_failures(file, [spec.id for spec in catalog.case_specs(tuple(Level))])


def _outcomes(
    cases: Sequence[CaseSpec],
    command: str,
    seconds: float,
    failures: FailureList,
    save: Path | None,
    *,
    reset: bool,
    kafka: str,
) -> Sequence[CaseOutcome]:
    """Run the cases; failed ones are saved as golden folders below ``save``, if it is given."""
    from ticdc_producer.conformance import runner as report
    from ticdc_producer.conformance.restart.case import RestartCase
    from ticdc_producer.conformance.runner import run

    typer.echo(f"running {counted(len(cases), 'case')}", err=True)

    def save_failure(outcome: CaseOutcome) -> None:
        if save is None or outcome.status != "failed":
            return
        if isinstance(outcome.case, RestartCase):
            from ticdc_producer.conformance.fuzz.recorded import save_restart
            from ticdc_producer.conformance.fuzz.testee import Wrong

            wrong = Wrong(outcome.case, outcome.reasons, outcome.answer)
            save_restart(save, wrong, command, reset=reset, kafka=kafka)
        else:
            report.save(save, outcome, command)

    return run(
        cases,
        command,
        timeout=seconds,
        failures=failures,
        reset=reset,
        kafka=kafka,
        on_outcome=save_failure,
        on_status=_print_status,
    )


def _print_status(line: str) -> None:
    typer.echo(line, err=True)


def _list(cases: Sequence[CaseSpec], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([{"case": spec.id, "says": spec.description} for spec in cases], indent=2))
        return
    for spec in cases:
        typer.echo(spec.id)


def _show(outcomes: Sequence[CaseOutcome], as_json: bool) -> None:
    from ticdc_producer.conformance.runner import as_json as content
    from ticdc_producer.conformance.runner import text_lines

    if as_json:
        typer.echo(json.dumps(content(outcomes), ensure_ascii=False, indent=2))
        return
    for line in text_lines(outcomes):
        typer.echo(line)


class GoldenFormat(StrEnum):
    """The form of the written cases."""

    FOLDERS = "folders"
    VECTORS = "vectors"


golden_app = typer.Typer(help="Write the conformance corpus as files, and compare two of them.")


@golden_app.callback(invoke_without_command=True)
def golden(
    context: typer.Context,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder to write; must not exist.")
    ] = None,
    protocol: Annotated[
        list[AnyProtocol] | None,
        typer.Option("--protocol", help="Only cases of this protocol; may be repeated."),
    ] = None,
    level: Annotated[
        list[Level] | None,
        typer.Option("--level", help="Events of messages, or rows of topics. Default: both."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="GLOB", help="Only cases whose id matches; may be repeated."),
    ] = None,
    form: Annotated[
        GoldenFormat,
        typer.Option("--format", help="A golden folder per case, or a line per case in a file per protocol."),
    ] = GoldenFormat.FOLDERS,
) -> int:
    """Write the cases of the conformance runner as files: messages, expected events, rows."""
    if context.invoked_subcommand is not None:
        refuse_options(context, "golden diff A B")
        return 0
    from ticdc_producer.conformance.catalog import case_specs, selected
    from ticdc_producer.conformance.corpus import write_corpus

    check_options("golden", {"out": out}, RESTARTS if Level.RESTART in (level or ()) else "")
    folder = cast(Path, out)  # the rules require it
    protocols = set() if not protocol or "all" in protocol else set(protocol)
    if form is GoldenFormat.VECTORS:
        from ticdc_producer.conformance.vectors import vector_specs, write_vectors

        specs = vector_specs(level or LEVELS_OF_FILES, protocols, only or ())
        counts = write_vectors(folder, specs, _print_status)
        typer.echo(f"wrote {counts.vectors} vectors with {counts.messages} messages into {folder}")
        return 0
    cases = selected(case_specs(level or LEVELS_OF_FILES), protocols, only or ())
    write_corpus(folder, cases, _print_status)
    typer.echo(f"wrote {len(cases)} cases into {folder}")
    return 0


@golden_app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="A", help="A corpus.")],
    new: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    as_json: Json = False,
) -> int:
    """Show the changes from corpus A to corpus B. Exit code 1 if there are any."""
    from ticdc_producer.conformance.corpus import corpus_diff

    changes = corpus_diff(old, new)
    if as_json:
        typer.echo(json.dumps(changes.to_json(), ensure_ascii=False, indent=2))
    else:
        _show_changes(changes)
    return 1 if changes.any else 0


def _show_changes(changes: CorpusDiff) -> None:
    for label, cases in (("added", changes.added), ("removed", changes.removed)):
        for case in cases:
            typer.echo(f"{label}: {case}")
    for case, lines in changes.changed.items():
        typer.echo(f"changed: {case}")
        for line in lines:
            typer.echo(f"  {line}")
    counts = {"added": len(changes.added), "removed": len(changes.removed), "changed": len(changes.changed)}
    typer.echo(", ".join(f"{count} {label}" for label, count in {**counts, "the same": changes.same}.items()))
