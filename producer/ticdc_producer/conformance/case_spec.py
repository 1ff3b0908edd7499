"""The written cases of both levels: ``corpus.yaml`` and ``topics.yaml`` in the folder of this file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from urllib.parse import urlencode

import msgspec
import yaml

from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import PROTOCOLS
from ticdc_producer.protocols.registry import BUILT_IN


class ColumnTypeSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column type and the values that become cases.

    :param column: the type, in SQL.
    :param values: name in the id → the value, in SQL.
    :param sql_mode: the session's SQL mode, if the default one rejects the values.
    """

    column: str
    values: dict[str, str]
    sql_mode: str | None = None


class DecodeSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="kebab"):
    """SQL whose events make one message, in some protocols.

    :param description: one sentence: the requirement for a consumer.
    :param protocols: protocol → options; empty for all protocols with the options of their specs.
    :param setup: SQL that is run before; its events are not part of the message.
    :param sql: the SQL of the message. Each row change is one event; nothing is collapsed or split.
    :param resolved: whether a resolved event with the ts of the last commit follows.
    :param handle_key_only: whether the row exceeds the size limit that the options set.
    :param damage: key of ``damage.DAMAGES``; empty for an intact message.
    :param tombstone: whether the message is sent without its value, so that it has no event.
    :param recommended: whether the case requires more than every consumer needs.
    """

    description: str = msgspec.field(name="says")
    setup: str = msgspec.field(default="", name="given")
    sql: str = ""
    protocols: dict[ProtocolName, dict[str, Plain]] = msgspec.field(default_factory=dict)
    resolved: bool = False
    handle_key_only: bool = False
    damage: str = ""
    tombstone: bool = False
    recommended: bool = False


class _DecodeCorpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    types: dict[str, ColumnTypeSpec]
    specs: dict[str, DecodeSpec] = msgspec.field(name="stories")


@dataclass(frozen=True, kw_only=True)
class DecodeCase:
    """The case of a spec in one protocol."""

    name: str
    spec: DecodeSpec
    protocol: ProtocolName
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Stable and unique: strength, protocol, subject and name."""
        strength = "recommended" if self.spec.recommended else "required"
        return f"{strength}.{self.protocol}.{self.name}"

    @property
    def description(self) -> str:
        """The requirement for a consumer."""
        return self.spec.description


@cache
def _corpus() -> _DecodeCorpus:
    text = files("ticdc_producer.conformance").joinpath("corpus.yaml").read_text("utf-8")
    return msgspec.convert(yaml.safe_load(text), _DecodeCorpus)


def column_types() -> Mapping[str, ColumnTypeSpec]:
    """Return the column types of the corpus with their boundary values, by their name in the ids of cases."""
    return _corpus().types


@cache
def decode_cases() -> tuple[DecodeCase, ...]:
    """Return all specs, each in all of its protocols, in the order of the corpus."""
    corpus = _corpus()
    named = [*_of_types(corpus.types), *corpus.specs.items()]
    return tuple(
        DecodeCase(name=name, spec=spec, protocol=protocol, options=options)
        for name, spec in named
        for protocol, options in (spec.protocols or _without_options()).items()
        if name not in BUILT_IN[protocol].conformance.left_out
    )


def _without_options() -> dict[ProtocolName, dict[str, Plain]]:
    return {protocol: dict(BUILT_IN[protocol].conformance.others) for protocol in PROTOCOLS}


def _of_types(types: Mapping[str, ColumnTypeSpec]) -> Iterator[tuple[str, DecodeSpec]]:
    protocols = {protocol: dict(BUILT_IN[protocol].conformance.types) for protocol in PROTOCOLS}
    for name, kind in types.items():
        mode = f"SET sql_mode = '{kind.sql_mode}';" if kind.sql_mode is not None else ""
        setup = f"{mode} CREATE TABLE t (id INT PRIMARY KEY, v {kind.column});"
        for of, value in {**kind.values, "null": "NULL"}.items():
            description = f"A value of {kind.column}: {of.replace('-', ' ')}"
            sql = f"INSERT INTO t VALUES (1, {value});"  # noqa: S608 - the corpus's own literals, run in memory
            yield (
                f"types.{name}-{of}",
                DecodeSpec(description=description, setup=setup, sql=sql, protocols=protocols),
            )


_PARTITIONS = 3


class TopicSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="kebab"):
    """A topic in some protocols, and the rows that are requested of it.

    :param description: one sentence: the requirement for a consumer.
    :param scenario: name of a shipped scenario.
    :param overrides: ``path=value`` for keys of the scenario.
    :param inject: traps to inject.
    :param protocols: protocol → options; empty: all protocols, with their options.
    :param without: protocols that cannot carry it.
    :param resolved_ts: time stamp (TSO) of the requested state; None for the state at the end.
    :param tables: the requested tables; empty for all tables of the topic.
    :param follows_ddl: whether tables that a DDL altered are requested, too.
    :param from_snapshot: whether a consumer starts with the tables of a dump.
    :param partitions: partitions of each topic in Kafka, if the changefeed writes to the first of them only.
    """

    description: str = msgspec.field(name="says")
    scenario: str
    overrides: tuple[str, ...] = msgspec.field(default=(), name="sets")
    inject: tuple[str, ...] = ()
    protocols: dict[ProtocolName, dict[str, Plain]] = msgspec.field(default_factory=dict)
    without: tuple[ProtocolName, ...] = ()
    resolved_ts: int | None = None
    tables: tuple[str, ...] = ()
    follows_ddl: bool = False
    from_snapshot: bool = False
    partitions: int | None = None


class _TopicCorpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    protocols: dict[ProtocolName, dict[str, Plain]]
    topics: dict[str, TopicSpec]


@dataclass(frozen=True, kw_only=True)
class ApplyCaseSpec:
    """A topic in one protocol.

    :param moments: all time stamps (TSO) that cases of the same topic request.
    """

    name: str
    topic_spec: TopicSpec
    protocol: ProtocolName
    options: Mapping[str, object]
    moments: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """Stable and unique: strength, protocol, level and name."""
        more = self.topic_spec.follows_ddl or self.topic_spec.from_snapshot
        strength = "recommended" if more else "required"
        return f"{strength}.{self.protocol}.apply.{self.name}"

    @property
    def description(self) -> str:
        """The requirement for a consumer."""
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
    """Return all topics, each in all of its protocols, in the order of the file."""
    text = files("ticdc_producer.conformance").joinpath("topics.yaml").read_text("utf-8")
    corpus = msgspec.convert(yaml.safe_load(text), _TopicCorpus)
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
    """Return the identity of the topic, which its cases share."""
    return topic_spec.scenario, topic_spec.overrides, topic_spec.inject


class Level(StrEnum):
    """The part that a testee returns: the events of a message, or the rows of tables of a topic or folder.

    At the level ``restart`` it is stopped on the way.
    """

    DECODE = "decode"
    APPLY = "apply"
    STORAGE = "storage"
    RESTART = "restart"


LEVELS_OF_HISTORIES = (Level.DECODE, Level.APPLY)
"""The levels of random histories without ``--level``; their messages are in no files."""
LEVELS_OF_FILES = (Level.DECODE, Level.APPLY, Level.STORAGE)
"""The levels whose cases can be written as files: a case of the others is a conversation."""
