"""``ticdc-producer broker start|stop|status``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ticdc_producer.cli.options import Json

if TYPE_CHECKING:
    from ticdc_producer.kafka.embedded.background import BackgroundBroker

broker_app = typer.Typer(
    help="A Kafka on this machine, without Docker: it runs until `broker stop`.", no_args_is_help=True
)


@broker_app.command()
def start(
    port: Annotated[int, typer.Option("--port", min=1, max=65_535, help="Port on 127.0.0.1.")] = 9092,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Folder for the topics. Default: a temporary one, removed by stop.",
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Start the embedded Kafka and leave it running. A second start changes nothing."""
    from ticdc_producer.kafka.embedded import background

    _show(background.start(port, data), "runs", as_json)
    return 0


@broker_app.command()
def stop() -> int:
    """End the embedded Kafka of `broker start`. Its topics are removed, unless --data named a folder."""
    from ticdc_producer.kafka.embedded import background

    stopped = background.stop()
    typer.echo("no broker runs" if stopped is None else f"the broker at {stopped.bootstrap} has ended")
    return 0


@broker_app.command()
def status(as_json: Json = False) -> int:
    """Print the address of the embedded Kafka of `broker start`. Exit code 1 if none runs."""
    from ticdc_producer.kafka.embedded import background

    broker = background.running()
    if broker is None:
        typer.echo("null" if as_json else "no broker runs")
        return 1
    _show(broker, "runs", as_json)
    return 0


def _show(broker: BackgroundBroker, what: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(broker), indent=2))
        return
    topics = f", topics in {broker.data_dir}" if broker.data_dir else ""
    typer.echo(f"the broker {what} at {broker.bootstrap} (process {broker.pid}{topics})")
    typer.echo(f"write to it with --sink-uri 'kafka://{broker.bootstrap}/TOPIC'; `broker stop` ends it")
