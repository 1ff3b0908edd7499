"""``ticdc-producer bench``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ticdc_producer.cli.options import Json

bench_app = typer.Typer(help="Measure the tool on this machine.", no_args_is_help=True)

MinRows: TypeAlias = Annotated[
    int,
    typer.Option(
        "--min-rows", min=1, help="Rows to measure; those of the file are repeated up to this number."
    ),
]


@bench_app.command()
def encode(
    rows: Annotated[
        Path, typer.Option("--rows", metavar="FILE", help="Recorded events (*.events.jsonl) to encode.")
    ],
    min_rows: MinRows = 20_000,
    as_json: Json = False,
) -> None:
    """Measure microseconds and bytes per row of every encoder, on one core, as a Spark worker encodes."""
    from ticdc_producer.bench.speed import measure_encoders

    report = measure_encoders(rows, min_rows=min_rows)
    if as_json:
        typer.echo(json.dumps(report.to_json()))
        return
    typer.echo(f"{report.rows:,} rows, best of several passes")
    for name, speed in report.encoders.items():
        typer.echo(f"{name:<24} {speed.us_per_row:8.2f} µs/row {speed.bytes_per_row:10,.0f} bytes/row")


@bench_app.command()
def decode(
    rows: Annotated[
        Path,
        typer.Option("--rows", metavar="FILE", help="Recorded events (*.events.jsonl) to encode and read."),
    ],
    min_rows: MinRows = 20_000,
    as_json: Json = False,
) -> None:
    """Measure microseconds per row of every decoder and of json.loads with picking fields, on one core."""
    from ticdc_producer.bench.speed import measure_decoders

    report = measure_decoders(rows, min_rows=min_rows)
    if as_json:
        typer.echo(json.dumps(report.to_json()))
        return
    typer.echo(f"{report.rows:,} rows, best of several passes")
    for name, speed in report.decoders.items():
        plain = "" if speed.plain is None else f"   json.loads {speed.plain:8.2f} µs/row"
        typer.echo(f"{name:<24} {speed.us_per_row:8.2f} µs/row{plain}")
