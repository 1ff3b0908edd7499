"""What ``@pytest.mark.ticdc(…)`` asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ticdc_producer.errors import ArgumentError, nearest

FORM = "ticdc(scenario=…, protocol=… or […], traps=[…], sets=[…])"
_ARGUMENTS = ("scenario", "protocol", "traps", "sets")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A scenario, and how it is to be run.

    :param scenario: a ``.yaml``, a ``.sql`` or the name of a shipped scenario.
    :param protocols: each a name, with further parameters of the sink URI behind ``&``; none: the
        scenario's own.
    :param several: whether the test is wanted once for each of them.
    :param traps: as ``run --inject`` takes them.
    :param sets: as ``run --set`` takes them.
    """

    scenario: str
    protocols: tuple[str, ...] = ()
    several: bool = False
    traps: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


def asked(args: Sequence[object], kwargs: Mapping[str, object]) -> Asked:
    """The arguments of a marker, checked.

    :raises ArgumentError: for an unknown or missing argument, a value of the wrong type, and a protocol that
        there is not.
    """
    if args:
        raise _error("it takes keyword arguments only", "", hint=FORM)
    for name in kwargs:
        if name not in _ARGUMENTS:
            raise _error(f"unknown argument {name!r}", name, hint=nearest(name, _ARGUMENTS))
    scenario = kwargs.get("scenario")
    if not isinstance(scenario, str) or not scenario:
        raise _error("it names no scenario", "scenario", hint=FORM)
    protocol = kwargs.get("protocol", ())
    protocols = (protocol,) if isinstance(protocol, str) else _texts("protocol", protocol)
    for one in protocols:
        check_protocol(one)
    return Asked(
        scenario=scenario,
        protocols=protocols,
        several=not isinstance(protocol, str) and bool(protocols),
        traps=_texts("traps", kwargs.get("traps", ())),
        sets=_texts("sets", kwargs.get("sets", ())),
    )


def protocol_name(protocol: str) -> str:
    """The name of a protocol without the parameters behind it."""
    return protocol.partition("&")[0]


def check_protocol(protocol: str) -> None:
    """:raises ArgumentError: for a protocol that there is not."""
    from ticdc_producer.protocols.registry import DECODERS

    name = protocol_name(protocol)
    if name not in DECODERS:
        raise _error(f"unknown protocol {name!r}", "protocol", hint=nearest(name, DECODERS))


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _error(f"{name} is no list", name, hint=f"{name}=[…]")
    if not all(isinstance(one, str) for one in value):
        raise _error(f"{name} holds something else than strings", name)
    return tuple(value)


def _error(what: str, argument: str, *, hint: str = "") -> ArgumentError:
    return ArgumentError(what, argument=argument, where="marker ticdc", hint=hint)
