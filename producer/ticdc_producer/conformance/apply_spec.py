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


class TopicForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="kebab"):
    """A topic and what is asked of it, in each of some protocols.

    :param says: one sentence, what the case asks of a consumer.
    :param scenario: name of a shipped one.
    :param sets: ``path=value`` for keys of the scenario.
    :param inject: traps to set.
    :param protocols: the options per protocol; all with the usual ones if it is empty.
    :param resolved_ts: the state is asked as of this time stamp; None: at the end.
    :param tables: only these are asked; all that the topic tells if it is empty.
    """

    says: str
    scenario: str
    sets: tuple[str, ...] = ()
    inject: tuple[str, ...] = ()
    protocols: dict[ProtocolName, dict[str, Any]] = msgspec.field(default_factory=dict)
    resolved_ts: int | None = None
    tables: tuple[str, ...] = ()


class _Corpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    protocols: dict[ProtocolName, dict[str, Any]]
    topics: dict[str, TopicForm]


@dataclass(frozen=True, kw_only=True)
class Applying:
    """A topic in one protocol.

    :param moments: all time stamps that some case of the same topic asks for.
    """

    name: str
    form: TopicForm
    protocol: ProtocolName
    options: Mapping[str, Any]
    moments: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """Stable and unique: strength, protocol, level and name."""
        return f"required.{self.protocol}.apply.{self.name}"

    @property
    def says(self) -> str:
        """What it asks of a consumer."""
        return self.form.says

    @property
    def sink_uri(self) -> str:
        """Where the topic would be."""
        given = {name: _text(value) for name, value in self.options.items()}
        query = {"protocol": self.protocol, "partition-num": str(_PARTITIONS), **given}
        return f"kafka:///{self.form.scenario}?{urlencode(query)}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def applyings() -> tuple[Applying, ...]:
    """All topics in all their protocols, in the order of the file."""
    text = files("ticdc_producer.conformance").joinpath("topics.yaml").read_text("utf-8")
    corpus = msgspec.convert(yaml.safe_load(text), _Corpus)
    moments: defaultdict[object, set[int]] = defaultdict(set)
    for form in corpus.topics.values():
        if form.resolved_ts is not None:
            moments[_topic(form)].add(form.resolved_ts)
    return tuple(
        Applying(
            name=name,
            form=form,
            protocol=protocol,
            options=options,
            moments=tuple(sorted(moments[_topic(form)])),
        )
        for name, form in corpus.topics.items()
        for protocol, options in (form.protocols or corpus.protocols).items()
    )


def _topic(form: TopicForm) -> object:
    """What two cases of one topic share."""
    return form.scenario, form.sets, form.inject
