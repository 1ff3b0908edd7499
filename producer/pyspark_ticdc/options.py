"""The options of the format ``ticdc``: each declared once, and read from what Spark passes.

Spark passes names without their case and values as texts. The table of docs/spark.md is made of the
declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

from ticdc_producer.config.parameters import PARAMETERS
from ticdc_producer.errors import ArgumentError
from ticdc_producer.hints import nearest
from ticdc_producer.model.option_type import Choice, IntRange, OptionType, Plain, StorageURI, Text
from ticdc_producer.model.parameter import State
from ticdc_producer.model.tso import MAX_TS

Use: TypeAlias = Literal["read", "readStream", "write", "writeStream"]
READS: tuple[Use, ...] = ("read", "readStream")
_BATCH: tuple[Use, ...] = ("read",)
_STREAM: tuple[Use, ...] = ("readStream",)
MAX_LONG = (1 << 63) - 1
KAFKA_PREFIX = "kafka."
BOOTSTRAP = "kafka.bootstrap.servers"


@dataclass(frozen=True, kw_only=True)
class SourceOption:
    """One option.

    :param name: as users write it; its case does not count.
    :param help: its effect in one sentence.
    :param uses: the kinds of queries that have it.
    """

    name: str
    value: OptionType
    help: str
    default: Plain = None
    uses: tuple[Use, ...] = READS


OPTIONS = (
    SourceOption(
        name=BOOTSTRAP, value=Text(),
        help="Addresses of the brokers, `HOST:PORT,HOST:PORT`; requires `subscribe`.",
    ),
    SourceOption(
        name="subscribe", value=Text(), help="The topics that are read, separated by commas.",
    ),
    SourceOption(
        name="sink-uri", value=Text(),
        help="TiCDC's sink URI of a topic or storage, in place of the two options above.",
    ),
    SourceOption(
        name="path", value=Text(), uses=_BATCH,
        help="A golden folder, or the folder of a storage sink; also the argument of `load`.",
    ),
    SourceOption(
        name="scenario", value=Text(),
        help="A scenario, by path or name, whose messages are simulated; parameters of TiCDC replace its "
        "sink URI.",
    ),
    SourceOption(
        name="config", value=Text(), help="Changefeed file of TiCDC, with more options of the changefeed.",
    ),
    SourceOption(
        name="rows", value=Choice(choices=("messages", "events", "changes", "state", "ranges")),
        default="events",
        help="What a row is: a message of Kafka, an event in it, a change of a row of `table`, a row of "
        "`table` at the end, or, in a stream, the offsets of a micro-batch in a partition, for a job that "
        "reads the messages itself.",
    ),
    SourceOption(
        name="table", value=Text(), help="The table of `rows=changes` and `rows=state`, `SCHEMA.TABLE`.",
    ),
    SourceOption(
        name="state-at", value=IntRange(1, MAX_TS), uses=_BATCH,
        help="The TSO of `rows=state`: only changes up to it count.",
    ),
    SourceOption(
        name="duplicates", value=Choice(choices=("keep", "drop")), default="keep",
        help="Whether events that TiCDC sent again are rows; `drop` requires resolved events.",
    ),
    SourceOption(
        name="on-error", value=Choice(choices=("fail", "rows")), default="fail",
        help="A message that does not decode, or a value that its type cannot hold, stops the query or is a "
        "row with the error.",
    ),
    SourceOption(
        name="startingOffsets", value=Text(),
        help="First offsets of a topic: `earliest` (default), `latest`, or JSON such as "
        '`{"TOPIC": {"0": 23, "1": -2}}`, where -2 is earliest and -1 latest. A stream with a checkpoint '
        "continues from it.",
    ),
    SourceOption(
        name="endingOffsets", value=Text(), uses=_BATCH,
        help="The offsets before which a batch query ends, as `startingOffsets`.",
    ),
    SourceOption(
        name="startingTimestamp", value=IntRange(0, MAX_LONG),
        help="Reads from the first messages at or after a time, in Unix milliseconds, in place of "
        "`startingOffsets`.",
    ),
    SourceOption(
        name="endingTimestamp", value=IntRange(0, MAX_LONG), uses=_BATCH,
        help="Reads up to the first messages at or after a time, in place of `endingOffsets`.",
    ),
    SourceOption(
        name="maxOffsetsPerTrigger", value=IntRange(1, MAX_LONG), uses=_STREAM,
        help="The most messages of a micro-batch, over all partitions. Requires Spark 4.2.",
    ),
    SourceOption(
        name="rowsPerSecond", value=IntRange(1, MAX_LONG), uses=_STREAM,
        help="With `scenario`: messages that become available per second; without it all are at once.",
    ),
    SourceOption(
        name="claim-check-storage-uri", value=StorageURI(),
        help="Where the claim-check objects of a topic are; a golden folder has its own.",
    ),
)  # fmt: skip
"""All options but the properties of Kafka's clients and TiCDC's parameters, in the order of the page."""

SINK_PARAMETERS = {
    parameter.name: parameter
    for parameter in PARAMETERS
    if parameter.in_uri and parameter.state is not State.REJECTED
}
"""TiCDC's parameters of a sink URI, which are options as well."""


@dataclass(frozen=True, kw_only=True)
class GivenOptions:
    """The options of a query, checked one by one.

    :param values: by name, with the defaults.
    :param kafka_properties: ``name=value`` each, as librdkafka spells them; they may hold secrets.
    :param sink_parameters: TiCDC's parameters by name; they may hold secrets.
    """

    values: Mapping[str, Plain]
    kafka_properties: tuple[str, ...]
    sink_parameters: Mapping[str, str]

    def __repr__(self) -> str:
        """Return the names alone: values may be secrets."""
        return f"GivenOptions({', '.join(name for name, value in self.values.items() if value is not None)})"

    def with_parameters(self, uri: str) -> str:
        """Return a sink URI with the parameters of TiCDC."""
        # ${NAME} is substituted before percent-encoding is undone.
        return f"{uri}?{urlencode(self.sink_parameters, safe='${}')}"


def given_options(
    given: Mapping[str, str], *uses: Use, declared: Sequence[SourceOption] = OPTIONS
) -> GivenOptions:
    """Check the options that Spark passes.

    :param uses: the kind of query; several if it is not known yet.
    :param declared: the options of reading, or those of writing.
    :raises ArgumentError: for a name that is unknown or that this kind of query does not have, and for a
        value that is not allowed. No error repeats a secret.
    """
    by_name = {option.name.lower(): option for option in declared}
    parameters = {name.lower(): name for name in SINK_PARAMETERS}
    values: dict[str, Plain] = {
        option.name: option.default for option in declared if {*uses} & {*option.uses}
    }
    properties: list[str] = []
    sink_parameters: dict[str, str] = {}
    for key, text in given.items():
        name = key.lower()
        if name in by_name:
            option = by_name[name]
            values[option.name] = _value(option, text, uses)
        elif name.startswith(KAFKA_PREFIX):
            properties.append(f"{name.removeprefix(KAFKA_PREFIX)}={text}")
        elif name in parameters:
            sink_parameters[parameters[name]] = text
        else:
            raise _unknown(key, uses, declared)
    check_secrets(str(values.get("sink-uri") or ""), sink_parameters)
    return GivenOptions(values=values, kafka_properties=tuple(properties), sink_parameters=sink_parameters)


def _value(option: SourceOption, text: str, uses: tuple[Use, ...]) -> Plain:
    if not {*uses} & {*option.uses}:
        what = f"option {option.name!r} is not an option of {' or '.join(uses)}"
        raise ArgumentError(what, argument=option.name, hint=f"it is one of {' and '.join(option.uses)}")
    try:
        return option.value.read(text)
    except ValueError as error:
        if isinstance(option.value, StorageURI):  # the error repeats the URI, which may have a password
            what = f"option {option.name!r} is not {option.value.allowed}"
            raise ArgumentError(what, argument=option.name) from None
        raise ArgumentError(f"option {option.name!r}: {error}", argument=option.name) from None


def _unknown(key: str, uses: tuple[Use, ...], declared: Sequence[SourceOption]) -> ArgumentError:
    names = [*(option.name for option in declared if {*uses} & {*option.uses}), *SINK_PARAMETERS]
    hint = nearest(key, names, listed="docs/spark.md")
    return ArgumentError(f"the format ticdc has no option {key!r}", argument=key, hint=hint)


_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_SECRET = re.compile("password|secret|token|(access|account)-key", re.IGNORECASE)
"""Parts of the names of parameters that hold secrets, also of those that are rejected later."""
_OPEN = "Spark would write it to plans and logs"


def check_secrets(sink_uri: str, sink_parameters: Mapping[str, str]) -> None:
    """Reject secrets in options whose values Spark shows in plans, in its user interface and in event logs.

    :raises ArgumentError: for a password in a URI that is not a variable of the environment.
    """
    for name, uri in _uris(sink_uri, sink_parameters):
        password = _password(uri)
        if password and _VARIABLE.fullmatch(password) is None:
            what = f"option {name!r} contains a password, and {_OPEN}"
            hint = "name a variable of the environment, ${NAME}, or use an option such as kafka.sasl.password"
            raise ArgumentError(what, argument=name, hint=hint)
    for name, value in parse_qsl(urlsplit(sink_uri).query):
        if _SECRET.search(name) and _VARIABLE.fullmatch(value) is None:
            what = f"option 'sink-uri' contains {name}, and {_OPEN}"
            instead = "use the option kafka.sasl.password, or " if name.lower() == "sasl-password" else ""
            hint = f"{instead}name a variable of the environment, {name}=${{NAME}}"
            raise ArgumentError(what, argument="sink-uri", hint=hint)


def _uris(sink_uri: str, sink_parameters: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield all URIs in options, each with its option."""
    yield "sink-uri", sink_uri
    yield from (("sink-uri", value) for _, value in parse_qsl(urlsplit(sink_uri).query))
    yield from ((name, value) for name, value in sink_parameters.items() if name != "sasl-password")


def _password(uri: str) -> str:
    try:
        return urlsplit(uri).password or ""
    except ValueError:
        return ""
