"""``ticdc-producer golden``: the conformance corpus as files, and the changes between two of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ticdc_producer.cli.options import AnyProtocol, Json, refuse_options
from ticdc_producer.conformance.case_spec import Level

if TYPE_CHECKING:
    from ticdc_producer.conformance.corpus import CorpusDiff

app = typer.Typer(help="Write the conformance corpus as files, and compare two of them.")


@app.callback(invoke_without_command=True)
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
) -> int:
    """Write the cases of the conformance runner as golden folders: messages, expected events, rows."""
    if context.invoked_subcommand is not None:
        refuse_options(context, "golden diff A B")
        return 0
    from ticdc_producer.conformance.catalog import case_specs, selected
    from ticdc_producer.conformance.corpus import write_corpus
    from ticdc_producer.errors import FolderError

    if out is None:
        raise FolderError("--out is required", path="golden", hint="--out DIR")
    protocols = set() if not protocol or "all" in protocol else set(protocol)
    cases = selected(case_specs(level or tuple(Level)), protocols, only or ())
    write_corpus(out, cases, lambda line: typer.echo(line, err=True))
    typer.echo(f"wrote {len(cases)} cases into {out}")
    return 0


@app.command()
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
        _show(changes)
    return 1 if changes.any else 0


def _show(changes: CorpusDiff) -> None:
    for label, cases in (("added", changes.added), ("removed", changes.removed)):
        for case in cases:
            typer.echo(f"{label}: {case}")
    for case, lines in changes.changed.items():
        typer.echo(f"changed: {case}")
        for line in lines:
            typer.echo(f"  {line}")
    counts = {"added": len(changes.added), "removed": len(changes.removed), "changed": len(changes.changed)}
    typer.echo(", ".join(f"{count} {label}" for label, count in {**counts, "the same": changes.same}.items()))
