"""The corpus, ``corpus.yaml`` beside this file: SQL, and in which protocols it becomes a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, get_args

import msgspec
import yaml

from ticdc_producer.conformance.wire import ProtocolName

PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
_TYPE_OPTIONS: Mapping[ProtocolName, Mapping[str, Any]] = {
    "open-protocol": {},
    "canal-json": {},
    "debezium": {"enable-tidb-extension": True},
    "craft": {},
    "simple": {},
}
"""Options of the cases of column types: Debezium alone needs its extension to tell types apart."""


class ColumnType(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column type and the values of it that are worth a case.

    :param column: the type, in SQL.
    :param values: name in the id to SQL of the value.
    :param sql_mode: of the session, where the default one refuses the values.
    """

    column: str
    values: dict[str, str]
    sql_mode: str | None = None


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="kebab"):
    """SQL whose events make one message in each of some protocols.

    :param says: one sentence, what the case asks of a consumer.
    :param protocols: the options per protocol; all without options if it is empty.
    :param given: SQL that is run before; its events are in no message.
    :param sql: the SQL of the message. Each row change is one event, as its statement made it.
    :param resolved: a resolved event follows at the time of the last commit.
    :param handle_key_only: the row is over the limit that the options set.
    :param damage: name in the id of what is done to the message (``damage.DAMAGES``).
    :param recommended: the case asks for more than what every consumer needs.
    """

    says: str
    given: str = ""
    sql: str = ""
    protocols: dict[ProtocolName, dict[str, Any]] = msgspec.field(default_factory=dict)
    resolved: bool = False
    handle_key_only: bool = False
    damage: str = ""
    recommended: bool = False


class _Corpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    types: dict[str, ColumnType]
    stories: dict[str, Story]


@dataclass(frozen=True, kw_only=True)
class Telling:
    """A story in one protocol."""

    name: str
    story: Story
    protocol: ProtocolName
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Stable and unique: strength, protocol, subject and name."""
        strength = "recommended" if self.story.recommended else "required"
        return f"{strength}.{self.protocol}.{self.name}"

    @property
    def says(self) -> str:
        """What it asks of a consumer."""
        return self.story.says


@cache
def tellings() -> tuple[Telling, ...]:
    """All stories in all their protocols, in the order of the corpus."""
    text = files("ticdc_producer.conformance").joinpath("corpus.yaml").read_text("utf-8")
    corpus = msgspec.convert(yaml.safe_load(text), _Corpus)
    named = [*_of_types(corpus.types), *corpus.stories.items()]
    return tuple(
        Telling(name=name, story=story, protocol=protocol, options=options)
        for name, story in named
        for protocol, options in (story.protocols or _without_options()).items()
    )


def _without_options() -> dict[ProtocolName, dict[str, Any]]:
    return {protocol: {} for protocol in PROTOCOLS}


def _of_types(types: Mapping[str, ColumnType]) -> Iterator[tuple[str, Story]]:
    protocols = {protocol: dict(options) for protocol, options in _TYPE_OPTIONS.items()}
    for name, kind in types.items():
        mode = f"SET sql_mode = '{kind.sql_mode}';" if kind.sql_mode is not None else ""
        given = f"{mode} CREATE TABLE t (id INT PRIMARY KEY, v {kind.column});"
        for of, value in {**kind.values, "null": "NULL"}.items():
            says = f"A value of {kind.column}: {of.replace('-', ' ')}"
            sql = f"INSERT INTO t VALUES (1, {value});"  # noqa: S608 - the corpus's own literals, run in memory
            yield f"types.{name}-{of}", Story(says=says, given=given, sql=sql, protocols=protocols)
