"""The cases of the decode level, ``corpus.yaml`` beside this file: SQL, and the protocols of each case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
import yaml

from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.model.profile import PROTOCOLS
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

    :param description: one sentence: what the case requires of a consumer.
    :param protocols: protocol → options; empty for all protocols with the options of their specs.
    :param setup: SQL that is run before; its events are not part of the message.
    :param sql: the SQL of the message. Each row change is one event; nothing is collapsed or split.
    :param resolved: whether a resolved event with the ts of the last commit follows.
    :param handle_key_only: whether the row exceeds the size limit that the options set.
    :param damage: key of ``damage.DAMAGES``; empty for an intact message.
    :param recommended: whether the case requires more than every consumer needs.
    """

    description: str = msgspec.field(name="says")
    setup: str = msgspec.field(default="", name="given")
    sql: str = ""
    protocols: dict[ProtocolName, dict[str, Any]] = msgspec.field(default_factory=dict)
    resolved: bool = False
    handle_key_only: bool = False
    damage: str = ""
    recommended: bool = False


class _Corpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    types: dict[str, ColumnTypeSpec]
    specs: dict[str, DecodeSpec] = msgspec.field(name="stories")


@dataclass(frozen=True, kw_only=True)
class DecodeCase:
    """The case of a spec in one protocol."""

    name: str
    spec: DecodeSpec
    protocol: ProtocolName
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Stable and unique: strength, protocol, subject and name."""
        strength = "recommended" if self.spec.recommended else "required"
        return f"{strength}.{self.protocol}.{self.name}"

    @property
    def description(self) -> str:
        """What the case requires of a consumer."""
        return self.spec.description


@cache
def _corpus() -> _Corpus:
    text = files("ticdc_producer.conformance").joinpath("corpus.yaml").read_text("utf-8")
    return msgspec.convert(yaml.safe_load(text), _Corpus)


def column_types() -> Mapping[str, ColumnTypeSpec]:
    """The column types of the corpus with their boundary values, by the name that ids of cases have."""
    return _corpus().types


@cache
def decode_cases() -> tuple[DecodeCase, ...]:
    """All specs, each in all of its protocols, in the order of the corpus."""
    corpus = _corpus()
    named = [*_of_types(corpus.types), *corpus.specs.items()]
    return tuple(
        DecodeCase(name=name, spec=spec, protocol=protocol, options=options)
        for name, spec in named
        for protocol, options in (spec.protocols or _without_options()).items()
    )


def _without_options() -> dict[ProtocolName, dict[str, Any]]:
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
