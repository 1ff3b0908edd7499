"""One option of a changefeed: what it may be, where it is set, what it does here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ticdc_producer.config.option_type import Plain, ValueRule
from ticdc_producer.model.profile import Profile

KAFKA = "sink.kafka-config."
CODEC = "sink.kafka-config.codec-config."
LARGE = "sink.kafka-config.large-message-handle."
STORAGE = "sink.cloud-storage-config."


class Owner(StrEnum):
    """Whose option it is."""

    TICDC = "TiCDC"
    OURS = "ours"


class SinkKind(StrEnum):
    """Where messages go."""

    KAFKA = "Kafka"
    STORAGE = "storage"


class State(StrEnum):
    """What this tool does with an option of TiCDC."""

    HONOURED = "honoured"
    NO_EFFECT = "no effect"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One option.

    :param name: as a sink URI spells it.
    :param value: what it may be.
    :param effect: what it does here, or why nothing, for the reader of the documentation.
    :param default: its value when nobody gives one.
    :param in_uri: whether a sink URI may carry it.
    :param file_key: its dotted place in a changefeed file; empty if it has none.
    :param protocols: the protocols that have it; empty for all.
    :param profiles: the programs that have it; empty for both.
    :param sinks: the sinks that have it; empty for both. At the others it has its default.
    :param of_client: it tells how Kafka is reached, and stands in no manifest.
    """

    name: str
    value: ValueRule
    effect: str
    default: Plain = None
    owner: Owner = Owner.TICDC
    state: State = State.HONOURED
    in_uri: bool = True
    file_key: str = ""
    protocols: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = ()
    sinks: tuple[SinkKind, ...] = ()
    of_client: bool = False

    @property
    def field(self) -> str:
        """Name of the attribute of ``Changefeed``."""
        return self.name.replace("-", "_")
