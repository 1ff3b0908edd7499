"""Options of several commands, and the output of errors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias
from urllib.parse import quote

import typer

from ticdc_producer.cli.remote.frames import URL_VARIABLE
from ticdc_producer.engine import EngineOption
from ticdc_producer.errors import USAGE, ArgumentError, ChangefeedError, ProducerError
from ticdc_producer.model.parameter import PROTOCOLS, Protocol

if TYPE_CHECKING:
    ProtocolName: TypeAlias = Protocol
    AnyProtocol: TypeAlias = Literal["all", Protocol]
else:  # typer has no lists of literals
    ProtocolName = StrEnum("ProtocolName", {name: name for name in PROTOCOLS})
    AnyProtocol = StrEnum("AnyProtocol", {name: name for name in ("all", *PROTOCOLS)})
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
        help="Schema registry for Avro; sets schema-registry of the sink URI, which is required.",
    ),
]
KafkaProperties = Annotated[
    list[str] | None,
    typer.Option(
        "-X",
        metavar="NAME=VALUE",
        help="A property of the Kafka clients, as librdkafka spells it; may be repeated.",
    ),
]
EngineName = Annotated[
    EngineOption,
    typer.Option(
        "--engine",
        help="local: in this process; spark: in Spark's tasks; auto: in Spark's tasks if the work is large.",
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar=URL_VARIABLE,
        help="Let a running `ticdc-producer serve` do the work.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

_OPTIONS = {
    "file": "a file",
    "folder": "--in",
    "kafka_properties": "-X",
    "messages_only": "--only messages",
    "overrides": "--set",
}
"""The options that are spelled differently from the arguments of the Python functions."""

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors and the verdict.")]


def with_registry(sink_uri: str | None, url: str | None) -> str | None:
    """Return the sink URI with the parameter ``schema-registry``.

    :param url: of the registry; None: the sink URI is returned unchanged.
    :raises ChangefeedError: for a registry without a sink URI.
    """
    if url is None:
        return sink_uri
    if sink_uri is None:
        hint = "or set it in the changefeed file: [sink] schema-registry"
        what = "--schema-registry requires --sink-uri"
        raise ChangefeedError(what, parameter="schema-registry", hint=hint)
    separator = "&" if "?" in sink_uri else "?"
    return f"{sink_uri}{separator}schema-registry={quote(url, safe='/:@$%{}')}"


def refuse_options(context: typer.Context, usage: str) -> None:
    """Reject options before the name of a subcommand, where they would have no effect.

    :param usage: usage of the subcommand, as a hint.
    :raises ArgumentError: for the first such option.
    """
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is not None and source.name == "COMMANDLINE":
            subcommand = f"{context.info_name} {context.invoked_subcommand}"
            what = f"{option.opts[0]} is not an option of `{subcommand}`"
            raise ArgumentError(what, argument=option.name or "", hint=usage)


def fail(error: ProducerError) -> int:
    """Print an error to stderr.

    :return: the exit code.
    """
    typer.echo(error_text(error).removesuffix("\n"), err=True)
    return error.exit_code


def error_text(error: ProducerError) -> str:
    """Return an error as the commands print it."""
    return f"ticdc-producer: {error.spelled(_option)}\n"


def _option(argument: str) -> str:
    """Spell an argument of the Python functions as the commands do."""
    return _OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


def fail_usage(error: typer.TyperException) -> int:
    """Print to stderr which command, option or argument is wrong, and how to get help.

    :return: the exit code.
    """
    typer.echo(usage_text(error), nl=False, err=True)
    return USAGE


def usage_text(error: typer.TyperException) -> str:
    """Return the text that ``fail_usage`` prints.

    A group without a subcommand has printed its help, so its text is empty.
    """
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    command = getattr(getattr(error, "ctx", None), "command_path", "ticdc-producer")
    return f"ticdc-producer: {message} ({command} --help)\n" if message else ""
