"""One parameter of a changefeed, and the two TiCDC programs that read it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias, get_args

from ticdc_producer.model.option_type import Choice, GoDuration, IntRange, OptionType, Plain, StorageURI

Profile: TypeAlias = Literal["classic", "new"]


Protocol: TypeAlias = Literal[
    "open-protocol", "canal-json", "debezium", "craft", "simple", "avro", "debezium-avro", "maxwell", "canal"
]
FileProtocol: TypeAlias = Literal["csv", "canal-json"]
"""The protocols of the storage sink."""
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
OF_SEVERAL_ROWS: tuple[Protocol, ...] = ("open-protocol", "craft", "maxwell", "canal")
"""The protocols whose messages may have several rows."""
WITHOUT_AVRO: tuple[Protocol, ...] = tuple(name for name in PROTOCOLS if name != "avro")
WITHOUT_REGISTRY: tuple[Protocol, ...] = tuple(name for name in PROTOCOLS if not name.endswith("avro"))
"""The protocols whose messages have no schema in a registry."""


KAFKA = "sink.kafka-config."
CODEC = "sink.kafka-config.codec-config."
LARGE = "sink.kafka-config.large-message-handle."
STORAGE = "sink.cloud-storage-config."
PULSAR = "sink.pulsar-config."


class Owner(StrEnum):
    """The program that an option belongs to: TiCDC or this tool."""

    TICDC = "TiCDC"
    OURS = "ours"


class SinkKind(StrEnum):
    """The kind of target that a changefeed writes to."""

    KAFKA = "Kafka"
    PULSAR = "Pulsar"
    STORAGE = "storage"

    @property
    def has_topics(self) -> bool:
        """Whether it is a message queue."""
        return self is not SinkKind.STORAGE


class State(StrEnum):
    """The support of this tool for an option of TiCDC."""

    HONOURED = "implemented"
    NO_EFFECT = "no effect on messages"
    REJECTED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One option.

    :param name: as a sink URI spells it.
    :param value: the type of its values.
    :param effect: its effect in this tool, or why it has none; shown in the documentation.
    :param default: its value if it is not set.
    :param in_uri: whether a sink URI may contain it.
    :param file_key: its dotted key in a changefeed file; empty if it has none.
    :param of_codec: only protocols whose codec has an option of this name support it; otherwise all do.
    :param ignored_elsewhere: whether protocols that do not support it ignore it; otherwise they reject it.
    :param checked_elsewhere: whether its value must be allowed also under protocols and sinks that ignore it.
    :param implies: the switch that it turns on under protocols that do not support it; empty: none.
    :param profiles: the profiles that support it; empty for both.
    :param sinks: the sinks that support it; empty for all. In other sinks it has its default.
    :param of_client: it configures the connection to Kafka or the schema registry, and is never written to a
        manifest.
    """

    name: str
    value: OptionType
    effect: str
    default: Plain = None
    owner: Owner = Owner.TICDC
    state: State = State.HONOURED
    in_uri: bool = True
    file_key: str = ""
    of_codec: bool = False
    ignored_elsewhere: bool = False
    checked_elsewhere: bool = False
    implies: str = ""
    profiles: tuple[Profile, ...] = ()
    sinks: tuple[SinkKind, ...] = ()
    of_client: bool = False

    def admits(self, value: object) -> bool:
        """Return whether protocols or sinks that ignore the option accept a value that is not allowed."""
        match self.value:
            case IntRange():
                has_type = type(value) is int
            case Choice():
                has_type = type(value) in (int, str)
            case StorageURI() | GoDuration():
                has_type = type(value) is str
            case _:
                return False
        is_ignored = self.ignored_elsewhere or bool(self.sinks)
        return has_type and is_ignored and not self.checked_elsewhere

    @property
    def field(self) -> str:
        """Name of the attribute in ``Changefeed``."""
        return self.name.replace("-", "_")


def own_parameter(
    name: str,
    value: OptionType,
    default: Plain,
    effect: str,
    *,
    of_codec: bool = False,
    sinks: tuple[SinkKind, ...] = (),
) -> Parameter:
    """Build a parameter of this tool, which TiCDC does not have."""
    return Parameter(
        name=name,
        value=value,
        default=default,
        effect=effect,
        owner=Owner.OURS,
        of_codec=of_codec,
        sinks=sinks,
    )
