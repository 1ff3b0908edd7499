"""The cases of the apply level, ``topics.yaml`` beside this file: whole topics of the shipped scenarios."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import msgspec
import yaml

from ticdc_producer.conformance.wire import ProtocolName

_PARTITIONS = 3


class TopicSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="kebab"):
    """A topic in some protocols, and the rows that are requested of it.

    :param description: one sentence: what the case requires of a consumer.
    :param scenario: name of a shipped scenario.
    :param overrides: ``path=value`` for keys of the scenario.
    :param inject: traps to inject.
    :param protocols: protocol → options; empty for all protocols with the options in ``_Corpus.protocols``.
    :param without: protocols that cannot carry it.
    :param resolved_ts: time stamp (TSO) of the requested state; None for the state at the end.
    :param tables: the requested tables; empty for all tables of the topic.
    :param follows_ddl: whether tables that a DDL altered are requested, too.
    """

    description: str = msgspec.field(name="says")
    scenario: str
    overrides: tuple[str, ...] = msgspec.field(default=(), name="sets")
    inject: tuple[str, ...] = ()
    protocols: dict[ProtocolName, dict[str, Any]] = msgspec.field(default_factory=dict)
    without: tuple[ProtocolName, ...] = ()
    resolved_ts: int | None = None
    tables: tuple[str, ...] = ()
    follows_ddl: bool = False


class _Corpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    protocols: dict[ProtocolName, dict[str, Any]]
    topics: dict[str, TopicSpec]


@dataclass(frozen=True, kw_only=True)
class ApplyCaseSpec:
    """A topic in one protocol.

    :param moments: all time stamps (TSO) that cases of the same topic request.
    """

    name: str
    topic_spec: TopicSpec
    protocol: ProtocolName
    options: Mapping[str, Any]
    moments: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """Stable and unique: strength, protocol, level and name."""
        strength = "recommended" if self.topic_spec.follows_ddl else "required"
        return f"{strength}.{self.protocol}.apply.{self.name}"

    @property
    def description(self) -> str:
        """What the case requires of a consumer."""
        return self.topic_spec.description

    @property
    def sink_uri(self) -> str:
        """The sink URI of the topic, without a host."""
        given = {name: _text(value) for name, value in self.options.items()}
        query = {"protocol": self.protocol, "partition-num": str(_PARTITIONS), **given}
        return f"kafka:///{self.topic_spec.scenario}?{urlencode(query)}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def apply_case_specs() -> tuple[ApplyCaseSpec, ...]:
    """All topics, each in all of its protocols, in the order of the file."""
    text = files("ticdc_producer.conformance").joinpath("topics.yaml").read_text("utf-8")
    corpus = msgspec.convert(yaml.safe_load(text), _Corpus)
    moments: defaultdict[object, set[int]] = defaultdict(set)
    for topic_spec in corpus.topics.values():
        if topic_spec.resolved_ts is not None:
            moments[_topic(topic_spec)].add(topic_spec.resolved_ts)
    return tuple(
        ApplyCaseSpec(
            name=name,
            topic_spec=topic_spec,
            protocol=protocol,
            options=options,
            moments=tuple(sorted(moments[_topic(topic_spec)])),
        )
        for name, topic_spec in corpus.topics.items()
        for protocol, options in (topic_spec.protocols or corpus.protocols).items()
        if protocol not in topic_spec.without
    )


def _topic(topic_spec: TopicSpec) -> object:
    """The identity of the topic, which its cases share."""
    return topic_spec.scenario, topic_spec.overrides, topic_spec.inject
