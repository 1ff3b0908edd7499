"""Measures the table of wrong consumers in docs/conformance.md: ``python -m tests.conformance.fuzz.table``.

All consumers get the same examples, as each would get them alone: examples depend on what was survived, and a
consumer that is still searched has survived all of them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

from tests.conformance.fuzz.reference import Streaming, consumer
from tests.conformance.fuzz.wrong import WRONG
from ticdc_producer.conformance.fuzz.drawn import Examples, Settings
from ticdc_producer.conformance.fuzz.random_example import PROTOCOLS
from ticdc_producer.conformance.fuzz.shrink import Failure, shrunk
from ticdc_producer.conformance.fuzz.steering import Steering
from ticdc_producer.conformance.fuzz.testee import FuzzCase, InProcess
from ticdc_producer.conformance.fuzz.topic import FuzzTopic

SEEDS, EXAMPLES = (1, 2, 3, 4, 5), 2000
RIGHT = (InProcess(consumer()), InProcess(consumer(Streaming)))


def failures(seed: int) -> dict[str, Failure]:
    """The failure of each wrong consumer by its name.

    :raises AssertionError: if a right consumer fails.
    """
    steering = Steering(PROTOCOLS)
    examples = Examples(Settings(seed=seed, protocols=PROTOCOLS), steering)
    searched, found = {one.name: InProcess(one.respond) for one in WRONG}, dict[str, Failure]()
    for number in range(1, EXAMPLES + 1):
        topic = examples.draw()
        cases = [*topic.cases(f"fuzz.{number}")]
        for right in RIGHT:
            assert asyncio.run(right.answer(cases)).wrong is None, topic.example
        steering.record(topic.example, topic.traps)
        found |= _failures(searched, topic, cases, number)
        if len(found) == len(WRONG):
            break
    return found


def _failures(
    searched: dict[str, InProcess], topic: FuzzTopic, cases: list[FuzzCase], number: int
) -> dict[str, Failure]:
    found = {}
    for name, testee in [*searched.items()]:
        wrong = asyncio.run(testee.answer(cases)).wrong
        if wrong is not None:
            found[name] = asyncio.run(shrunk(testee, topic.example, wrong, number=number))
            del searched[name]
            sys.stderr.write(f"{name}: example {number}\n")
    return found


def table() -> Iterator[str]:
    """The lines of the table; a dash for a consumer that was not found."""
    by_seed = [failures(seed) for seed in SEEDS]
    yield "| wrong consumer | reported in | examples until it is found | statements |"
    yield "|---|---|---|---|"
    for one in WRONG:
        found = [failures.get(one.name) for failures in by_seed]
        numbers = ", ".join("–" if failure is None else str(failure.number) for failure in found)
        sizes = ", ".join("–" if failure is None else str(failure.smallest.statements) for failure in found)
        yield f"| {one.name} | {one.source} | {numbers} | {sizes} |"


if __name__ == "__main__":
    for line in table():
        sys.stdout.write(line + "\n")
