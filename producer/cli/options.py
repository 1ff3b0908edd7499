"""Options that several commands have, and how their errors are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from producer.errors import ProducerError

SinkURI = Annotated[
    str | None,
    typer.Option(
        "--sink-uri",
        metavar="URI",
        help="TiCDC's: kafka://HOST:PORT/TOPIC?protocol=open-protocol&partition-num=3, file:///DIR?protocol=csv",
    ),
]
Config = Annotated[Path | None, typer.Option("--config", metavar="TOML", help="Changefeed file of TiCDC.")]
Client = Annotated[
    list[str] | None,
    typer.Option(
        "-X",
        metavar="NAME=VALUE",
        help="A property of the Kafka clients, as librdkafka spells it; may be repeated.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors and the verdict only, and no progress.")
]


def fail(error: ProducerError) -> int:
    """Say what went wrong, on stderr.

    :return: the exit code.
    """
    typer.echo(f"ticdc-producer: {error}", err=True)
    return error.exit_code
