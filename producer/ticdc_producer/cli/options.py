"""Options that several commands have, and how their errors are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from ticdc_producer.errors import USAGE, ArgumentError, ChangefeedError, ProducerError

SinkURI = Annotated[
    str | None,
    typer.Option(
        "--sink-uri",
        metavar="URI",
        help="TiCDC's: kafka://HOST:PORT/TOPIC?protocol=open-protocol&partition-num=3, file:///DIR?protocol=csv",
    ),
]
Config = Annotated[Path | None, typer.Option("--config", metavar="TOML", help="Changefeed file of TiCDC.")]
SchemaRegistry = Annotated[
    str | None,
    typer.Option(
        "--schema-registry",
        metavar="URL",
        help="Registry of Avro's schemas; as schema-registry of the sink URI, which must be given.",
    ),
]
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


def with_registry(sink_uri: str | None, url: str | None) -> str | None:
    """The sink URI with a registry, as ``schema-registry`` names one in it.

    :raises ChangefeedError: for a registry without a sink URI.
    """
    if url is None:
        return sink_uri
    if sink_uri is None:
        hint = "or name it in the changefeed file: [sink] schema-registry"
        what = "--schema-registry goes with --sink-uri"
        raise ChangefeedError(what, parameter="schema-registry", hint=hint)
    between = "&" if "?" in sink_uri else "?"
    return f"{sink_uri}{between}schema-registry={quote(url, safe='/:@$%{}')}"


def refuse_options(context: typer.Context, usage: str) -> None:
    """Options of a command before the name of one below it, where they would have no effect.

    :param usage: of the command below.
    :raises ArgumentError: for the first that was given.
    """
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is not None and source.name == "COMMANDLINE":
            below = f"{context.info_name} {context.invoked_subcommand}"
            what = f"{option.opts[0]} is of {context.info_name}, and {below} has options of its own"
            raise ArgumentError(what, argument=option.name or "", hint=usage)


def fail(error: ProducerError) -> int:
    """Say what went wrong, on stderr.

    :return: the exit code.
    """
    typer.echo(f"ticdc-producer: {error}", err=True)
    return error.exit_code


def fail_usage(error: typer.TyperException) -> int:
    """Say which command, option or argument is wrong, on stderr, and where all of them stand.

    :return: the exit code.
    """
    told = error.format_message().replace("Value error, ", "").rstrip(".")
    if told:  # a group of commands without one has printed its help, and nothing is to be added
        command = getattr(getattr(error, "ctx", None), "command_path", "ticdc-producer")
        typer.echo(f"ticdc-producer: {told} ({command} --help)", err=True)
    return USAGE
