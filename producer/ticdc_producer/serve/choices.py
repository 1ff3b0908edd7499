"""The choices that the forms of the page offer: protocols with their parameters, partition rules, traps."""

from __future__ import annotations

from functools import cache
from typing import get_args

from ticdc_producer.config import SinkKind
from ticdc_producer.config.parameters import OF_MESSAGES, has_parameter
from ticdc_producer.dispatch.rules import RuleName
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.model.parameter import Parameter
from ticdc_producer.protocols.registry import protocol_specs
from ticdc_producer.protocols.spec import ProtocolSpec
from ticdc_producer.serve.submission import CLAIM_STORAGE
from ticdc_producer.verifier.invariants.registry import INVARIANTS

_SET_ELSEWHERE = frozenset({"protocol", "partition-num", CLAIM_STORAGE})
_OF_TOPICS = frozenset({"replication-factor", "compression", "required-acks", "auto-create-topic"})
"""Parameters that change no message."""


@cache
def choices_content() -> dict[str, object]:
    """Return all choices."""
    return {
        "protocols": [
            {
                "name": spec.name,
                "title": spec.title,
                "parameters": [_parameter(option) for option in _options(spec)],
            }
            for spec in protocol_specs()
            if SinkKind.KAFKA in spec.sinks
        ],
        "dispatch": list(get_args(RuleName)),
        "traps": [
            {
                "id": trap.id,
                "summary": trap.summary,
                "legal": trap.legal,
                "protocols": list(trap.protocols),
            }
            for trap in catalogue().values()
            if trap.mechanism != "scenario"
        ],
        "invariants": {invariant.id: invariant.statement for invariant in INVARIANTS},
    }


def _options(spec: ProtocolSpec) -> list[Parameter]:
    """Return the parameters of a sink URI that change the messages of a protocol."""
    return [
        option
        for option in OF_MESSAGES
        if option.in_uri
        and option.name not in _SET_ELSEWHERE | _OF_TOPICS
        and (not option.sinks or SinkKind.KAFKA in option.sinks)
        and has_parameter(spec, option)
    ]


def _parameter(option: Parameter) -> dict[str, object]:
    return {
        "name": option.name,
        "schema": option.value.schema(),
        "default": option.default,
        "effect": option.effect,
        "profiles": list(option.profiles),
    }
