"""Random examples: equal for equal seeds, valid, and with every trap that they may have."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from ticdc_producer.conformance.fuzz.drawn import Examples, Settings
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.random_columns import types, value_traps
from ticdc_producer.conformance.fuzz.random_example import PROTOCOLS, drawn_traps, random_example
from ticdc_producer.conformance.fuzz.steering import Steering
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.errors import ProducerError
from ticdc_producer.faults.catalogue import catalogue

SETTINGS = Settings(seed=1, protocols=PROTOCOLS)


def drawn(count: int, settings: Settings = SETTINGS) -> list[FuzzExample]:
    examples = Examples(settings, Steering(settings.protocols))
    return [examples.draw().example for _ in range(count)]


def test_a_seed_determines_the_examples() -> None:
    assert drawn(8) == drawn(8)
    assert drawn(8) != drawn(8, Settings(seed=2, protocols=PROTOCOLS))


def test_nearly_all_examples_have_a_topic() -> None:
    examples = Examples(SETTINGS, Steering(PROTOCOLS))
    protocols = {examples.draw().example.protocol for _ in range(40)}
    assert protocols == set(PROTOCOLS)
    assert examples.rejected <= 2


@pytest.mark.parametrize("trap", sorted(value_traps()))
def test_a_trap_of_values_names_existing_values(trap: str) -> None:
    assert any(value.trap == trap for kind in types().values() for value in kind.values)
    assert trap in catalogue()


def has_trap(protocol: ProtocolName, trap: str, tries: int) -> bool:
    random = Random(0)
    for _ in range(tries):
        with suppress(ProducerError):  # an invalid example is not what this test is about
            if trap in build_topic(random_example(random, protocol, focus=[trap])).traps:
                return True
    return False


@pytest.mark.parametrize(
    "trap", ["key-swap", "regrouped-batches", "zero-dates", "rename-swap", "raw-key-update"]
)
def test_steering_to_a_trap_leads_to_it(trap: str) -> None:
    assert has_trap("open-protocol", trap, 15)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_steering_to_any_trap_leads_to_it(protocol: ProtocolName) -> None:
    assert [trap for trap in drawn_traps(protocol) if not has_trap(protocol, trap, 60)] == []


def test_the_same_example_gives_the_same_requests() -> None:
    example = drawn(3)[-1]
    first, second = ([case.request for case in build_topic(example).cases("x")] for _ in range(2))
    assert first
    assert first == second
