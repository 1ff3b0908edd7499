"""The arguments of ``@pytest.mark.ticdc(…)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ticdc_producer.errors import ArgumentError
from ticdc_producer.hints import nearest

if TYPE_CHECKING:
    from ticdc_producer.scenario.load import LoadableScenario

FORM = "ticdc(scenario=…, protocol=… or […], traps=[…], overrides=[…])"
_ARGUMENTS = ("scenario", "protocol", "traps", "overrides")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerArguments:
    """A scenario, and how it is run.

    :param scenario: a ``.yaml`` file, a ``.sql`` file, the name of a shipped scenario, or a ``Scenario``.
    :param protocols: each a name, optionally followed by ``&`` and parameters of the sink URI; empty for the
        scenario's own.
    :param several: whether the test runs once for each of the protocols.
    :param traps: values of ``inject`` of ``ticdc_producer.run``.
    :param overrides: values of ``overrides`` of ``ticdc_producer.run``.
    """

    scenario: str | LoadableScenario
    protocols: tuple[str, ...] = ()
    several: bool = False
    traps: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()


def parse_marker(args: Sequence[object], kwargs: Mapping[str, object]) -> MarkerArguments:
    """Return the arguments of a marker, checked.

    :raises ArgumentError: for an unknown or missing argument, a value of the wrong type, and an unknown
        protocol.
    """
    if args:
        raise _error("it takes keyword arguments only", "", hint=FORM)
    for name in kwargs:
        if name not in _ARGUMENTS:
            raise _error(f"unknown argument {name!r}", name, hint=nearest(name, _ARGUMENTS))
    scenario = kwargs.get("scenario")
    if not (isinstance(scenario, str) and scenario) and not hasattr(scenario, "load"):
        raise _error("it names no scenario", "scenario", hint=FORM)
    protocol = kwargs.get("protocol", ())
    protocols = (protocol,) if isinstance(protocol, str) else _texts("protocol", protocol)
    for name in protocols:
        check_protocol(name)
    return MarkerArguments(
        scenario=cast("str | LoadableScenario", scenario),
        protocols=protocols,
        several=not isinstance(protocol, str) and bool(protocols),
        traps=_texts("traps", kwargs.get("traps", ())),
        overrides=_texts("overrides", kwargs.get("overrides", ())),
    )


def protocol_name(protocol: str) -> str:
    """Return the name of a protocol without the parameters that follow it."""
    return protocol.partition("&")[0]


def check_protocol(protocol: str) -> None:
    """Check that a protocol exists and is written to Kafka.

    :raises ArgumentError: if not.
    """
    from ticdc_producer.model.parameter import SinkKind
    from ticdc_producer.protocols.registry import protocol_specs

    name, known = (
        protocol_name(protocol),
        [spec.name for spec in protocol_specs() if SinkKind.KAFKA in spec.sinks],
    )
    if name not in known:
        raise _error(f"unknown protocol {name!r}", "protocol", hint=nearest(name, known))


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _error(f"{name} is not a list", name, hint=f"{name}=[…]")
    if not all(isinstance(text, str) for text in value):
        raise _error(f"{name} contains other values than strings", name)
    return tuple(value)


def _error(what: str, argument: str, *, hint: str = "") -> ArgumentError:
    return ArgumentError(what, argument=argument, where="marker ticdc", hint=hint)
