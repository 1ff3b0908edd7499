"""Options of several commands, and the output of errors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from inspect import Parameter
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, get_args, get_origin
from urllib.parse import quote

import typer
from typer.models import OptionInfo

from ticdc_producer.cli.remote.frames import URL_VARIABLE
from ticdc_producer.errors import USAGE, ArgumentError, ProducerError
from ticdc_producer.masking import masked
from ticdc_producer.model.parameter import PROTOCOLS, Protocol
from ticdc_producer.runs.options.commands import (
    AS_JSON,
    COVERAGE,
    DECODE,
    DIFF,
    KAFKA_PROPERTIES,
    MASK,
    RECORD,
    RUN,
    STATE,
    TRANSCODE,
    VERIFY,
)
from ticdc_producer.runs.options.conformance import CONFORMANCE
from ticdc_producer.runs.options.option import Option

if TYPE_CHECKING:
    AnyProtocol: TypeAlias = Literal["all", Protocol]
else:  # typer has no lists of literals
    AnyProtocol = StrEnum("AnyProtocol", {name: name for name in ("all", *PROTOCOLS)})
_VARIABLES = {"server": URL_VARIABLE}
"""The environment variables of options."""


def typer_option(option: Option, default: object = ...) -> OptionInfo:
    """Return an option as Typer declares it.

    :param default: its default; ``...``: the command declares one.
    """
    text = f"{option.help.removesuffix('.')}; {option.note}." if option.note else option.help
    declared: OptionInfo = typer.Option(
        default,
        *option.flags,
        metavar=option.metavar,
        min=option.minimum,
        envvar=_VARIABLES.get(option.name),
        help=_NAME.sub(lambda name: _OPTIONS.get(name[1], name[0]), text),
        callback=_as_boolean if option.value else None,
    )
    return declared


def _as_boolean(value: str | None) -> bool:
    return value is not None


def with_options(options: Iterable[Option]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command these options in place of its keyword arguments."""

    def declared(command: Callable[..., int]) -> Callable[..., int]:
        signature = inspect.signature(command, eval_str=True)
        own = [part for part in signature.parameters.values() if part.kind is not Parameter.VAR_KEYWORD]
        # Typer reads the signature, which a function has as an attribute that its type does not know.
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *map(_parameter, options)]
        )
        return command

    return declared


def _parameter(option: Option) -> Parameter:
    kind, default = (Literal[option.value] | None, None) if option.value else (option.type, option.default)
    entry = next(iter(get_args(kind)), None)
    if get_origin(kind) is list and get_origin(entry) is Literal:
        # typer has no lists of literals
        kind = GenericAlias(list, (StrEnum(option.name, {name: name for name in get_args(entry)}),))
    declared = typer_option(option, default)
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=declared, annotation=kind)


def arguments_of(
    function: str, declared: Iterable[Option], options: Mapping[str, object]
) -> dict[str, object]:
    """Return those of a command's options that its Python function has.

    :param options: all options of the command, by name.
    """
    return {option.name: options[option.name] for option in declared if function in option.functions}


_NAME = re.compile(r"`(\w+)`")
_DECLARED = (*CONFORMANCE, *COVERAGE, *MASK, *DECODE, *STATE, *DIFF, *TRANSCODE, *RECORD, *VERIFY, *RUN)
_OPTIONS = {option.name: option.spelled for option in _DECLARED}
_SPELLED = _OPTIONS | {
    "file": "a file",
    "dump": "a dump",
    "command": "--testee",
    "run": "ticdc-producer run",
    "verify": "ticdc-producer verify",
    "globs": "--filter",
    "case_specs": "--list",
    "write_corpus": "ticdc-producer golden --out",
    "catalogue": "ticdc-producer traps list",
    "stop": "`ticdc-producer broker stop`",
}
"""Arguments and functions of Python as the commands spell them, where the name alone does not say it."""

KafkaProperties = Annotated[list[str] | None, typer_option(KAFKA_PROPERTIES)]
Json = Annotated[bool, typer_option(AS_JSON)]


def with_registry(sink_uri: str | None, url: str | None) -> str | None:
    """Return the sink URI with the parameter ``schema-registry``.

    :param url: of the registry; None: the sink URI is returned unchanged.
    """
    if url is None or sink_uri is None:
        return sink_uri
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
    return _SPELLED.get(argument, f"--{argument.replace('_', '-')}")


def fail_usage(error: typer.TyperException) -> int:
    """Print to stderr which command, option or argument is wrong, and how to get help.

    :return: the exit code.
    """
    typer.echo(usage_text(error), nl=False, err=True)
    return USAGE


_SINK_URI = "kafka://HOST:PORT/TOPIC?protocol=canal-json&partition-num=3"
_PARTS_OF_SINK_URI = (
    "bootstrap-servers",
    "brokers",
    "kafka",
    "partition-num",
    "partitions",
    "protocol",
    "topic",
)


def _is_in_sink_uri(error: typer.TyperException, context: typer.Context) -> bool:
    """Return whether an option that does not exist names a part of the sink URI, which the command takes."""
    options = {name for option in context.command.params for name in option.opts}
    name = str(getattr(error, "option_name", "")).removeprefix("--")
    unknown = f"--{name}" not in options and "--sink-uri" in options
    return unknown and bool(get_close_matches(name, _PARTS_OF_SINK_URI, n=1, cutoff=0.8))


_ADDITIONAL = re.compile(r"Got unexpected extra argument\(?s?\)? \((\S+?)\)?(?: |$)")


def _source_option(message: str, context: typer.Context | None) -> str:
    """Return how an additional argument is given, if the command reads topics and folders; else empty."""
    argument = _ADDITIONAL.match(message)
    options = () if context is None else {name for param in context.command.params for name in param.opts}
    if argument is None or "--in" not in options:
        return ""
    if "://" in argument[1]:
        return "a topic is given as --sink-uri URI"
    return f"a folder is given as --in {argument[1]}"


def usage_text(error: typer.TyperException) -> str:
    """Return the text that ``fail_usage`` prints.

    A group without a subcommand has printed its help, so its text is empty.
    """
    message = masked(error.format_message()).replace("Value error, ", "").rstrip(".")
    context: typer.Context | None = getattr(error, "ctx", None)
    if context is not None and _is_in_sink_uri(error, context):
        message += f"; it is in the sink URI: --sink-uri '{_SINK_URI}'"
    message = _source_option(message, context) or message
    command = getattr(context, "command_path", "ticdc-producer")
    return f"ticdc-producer: {message} ({command} --help)\n" if message else ""
