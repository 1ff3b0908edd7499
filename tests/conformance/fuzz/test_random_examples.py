"""Random examples: equal for equal seeds, valid, and with every trap that they may have."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from contextlib import suppress
from multiprocessing import active_children
from random import Random

import pytest

from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.fuzz.example import FuzzExample, script
from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS, drawn_traps
from ticdc_producer.conformance.fuzz.random_columns import types, value_traps
from ticdc_producer.conformance.fuzz.random_example import random_example, random_history
from ticdc_producer.conformance.fuzz.steering import Steering
from ticdc_producer.conformance.fuzz.stream import (
    AHEAD,
    VARIATIONS,
    BuiltExample,
    Examples,
    ExampleStream,
    Settings,
)
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.errors import EnvironmentFailure, ProducerError
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.scenario.sql.session.session import Session

SETTINGS = Settings(seed=1, protocols=PROTOCOLS)


def drawn(histories: int, settings: Settings = SETTINGS) -> list[FuzzExample]:
    examples = Examples(settings, Steering(settings.protocols))
    return [example for _ in range(histories) for example in examples.draw()]


def survived(count: int, *, processes: int = 0, behind: int = 0) -> tuple[list[BuiltExample], int]:
    """The first examples of a consumer that answers all of them rightly, and the number of rejected ones.

    :param behind: number of further examples that are requested before an answer counts.
    """

    async def examples() -> tuple[list[BuiltExample], int]:
        stream, received = ExampleStream(SETTINGS, processes=processes, examples=count), list[BuiltExample]()
        try:
            while len(received) < count:
                example = await stream.next()
                assert example is not None
                received.append(example)
                if len(received) > behind:
                    stream.survived(received[len(received) - 1 - behind])
        finally:
            stream.close()
        return received, stream.rejected

    return asyncio.run(examples())


def test_a_seed_determines_the_examples() -> None:
    assert drawn(2) == drawn(2)
    assert drawn(2) != drawn(2, Settings(seed=2, protocols=PROTOCOLS))


def test_the_examples_of_a_history_differ_in_what_a_changefeed_decides() -> None:
    for start in range(0, len(examples := drawn(3)), VARIATIONS):
        of_history = examples[start : start + VARIATIONS]
        assert len({example.sql for example in of_history}) == 1
        assert len({repr(example) for example in of_history}) == VARIATIONS


def test_the_examples_depend_on_neither_the_number_of_processes_nor_the_speed_of_answers() -> None:
    """A campaign requests an example before the one before it is answered."""
    count = (AHEAD + 3) * VARIATIONS  # so that some depend on what the consumer has survived
    assert survived(count) == survived(count, processes=2, behind=3 * VARIATIONS)


def test_a_process_that_ended_is_an_error_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    """It may end while nobody waits for it, for want of memory."""

    async def examples() -> None:
        stream = ExampleStream(SETTINGS, processes=1)
        try:
            assert await stream.next() is not None
            (process,) = active_children()
            process.kill()
            # Not by psutil: it reads the status, and the pool would wait for ever for the status.
            process.join()
            while await stream.next() is not None:
                pass
        finally:
            stream.close()

    with pytest.raises(EnvironmentFailure, match="a process that builds examples has ended"):
        asyncio.run(examples())
    gc.collect()  # a future that nobody awaited logs its error then
    assert caplog.text == ""


def test_some_examples_of_the_restart_level_have_a_topic_for_each_table() -> None:
    restarts = Settings(seed=1, protocols=["canal-json"], levels=(Level.RESTART,))
    topics = Counter[int]()
    for example in drawn(8, restarts):
        with suppress(ProducerError):  # an invalid example is not what this test is about
            records = build_topic(example).records
            assert all(record.topic == "fuzz" for record in records) or example.topic
            topics[len({record.topic for record in records})] += 1
    assert topics[1]
    assert topics.total() > topics[1]
    assert not any(example.topic for example in drawn(8))


def test_examples_have_several_traps() -> None:
    traps = set[str]()
    for example in drawn(8):
        with suppress(ProducerError):  # an invalid example is not what this test is about
            traps |= build_topic(example).simulation.injected_traps
    assert len(traps) > 3


def test_nearly_all_examples_have_a_topic() -> None:
    examples, rejected = survived(40)
    assert {built.example.protocol for built in examples} == set(PROTOCOLS)
    assert rejected <= 2


def test_a_table_with_zero_dates_may_be_created_later() -> None:
    """The history that a test of recordings drew; it was rejected by the strict mode."""
    statements = random_history(Random(128026564), frozenset(), ddl=0.2, length=8).statements
    assert statements[0].startswith("SET sql_mode")
    assert "'0000-00-00 00:00:00'" in statements[5]
    session = Session()
    session.run(script(statements))
    assert session.commits > 4


def test_any_sequence_of_ddls_runs() -> None:
    for seed in range(200):
        statements = random_history(Random(seed), frozenset(), ddl=1.0, length=8).statements
        Session().run(script(statements))


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
    example = drawn(1)[-1]
    first, second = ([case.request for case in build_topic(example).cases("x")] for _ in range(2))
    assert first
    assert first == second
