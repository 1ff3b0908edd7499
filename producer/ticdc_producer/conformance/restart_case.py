"""The written cases of the restart level: ``restarts.yaml``, each topic in all protocols that support it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import msgspec
import yaml

from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS, drawn_traps
from ticdc_producer.conformance.fuzz.restarts import restart_cases
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.protocols.registry import BUILT_IN


class RestartSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A topic.

    :param description: one sentence: the requirement for a consumer.
    :param sql: the statements.
    :param inject: traps; protocols that cannot have them have no case.
    :param batch: number of messages that arrive at once.
    :param without: protocols whose events do not have what a consumer would need.
    """

    description: str = msgspec.field(name="says")
    sql: tuple[str, ...]
    partitions: int = 1
    dispatch: str = ""
    inject: tuple[str, ...] = ()
    batch: int = 1
    without: tuple[ProtocolName, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RestartCaseSpec:
    """A topic in one protocol."""

    name: str
    spec: RestartSpec
    protocol: ProtocolName

    @property
    def id(self) -> str:
        """Stable and unique: strength, protocol, level and name."""
        return f"required.{self.protocol}.restart.{self.name}"

    @property
    def description(self) -> str:
        """The requirement for a consumer."""
        return self.spec.description

    @property
    def example(self) -> FuzzExample:
        """The topic, in the form of random histories."""
        options = BUILT_IN[self.protocol].conformance.histories or {}
        return FuzzExample(
            sql=self.spec.sql,
            protocol=self.protocol,
            levels=(Level.RESTART,),
            options=options,
            partitions=self.spec.partitions,
            dispatch=self.spec.dispatch,
            inject=self.spec.inject,
            batch=self.spec.batch,
        )


@cache
def restart_case_specs() -> tuple[RestartCaseSpec, ...]:
    """Return all topics, each in all of its protocols, in the order of the file."""
    return tuple(_specs())


def _specs() -> Iterator[RestartCaseSpec]:
    text = files("ticdc_producer.conformance").joinpath("restarts.yaml").read_text("utf-8")
    for name, spec in msgspec.convert(yaml.safe_load(text), dict[str, RestartSpec]).items():
        traps = {setting.partition(":")[0] for setting in spec.inject}
        for protocol in PROTOCOLS:
            if protocol not in spec.without and traps <= {*drawn_traps(protocol)}:
                yield RestartCaseSpec(name=name, spec=spec, protocol=protocol)


def build_restart_case(spec: RestartCaseSpec) -> RestartCase:
    """Encode the topic of a case.

    :raises ProducerError: if the SQL fails, which the tests rule out.
    """
    (case,) = restart_cases(build_topic(spec.example), spec.id)
    return replace(case, description=spec.description)
