"""Measures the table of wrong consumers in docs/conformance.md: ``python -m tests.conformance.fuzz.table``.

With seeds as arguments, it prints the lines of these seeds only.

All consumers get the same examples, as each would get them alone: examples depend on what was survived, and a
consumer that is still searched has survived all of them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence

from tests.conformance.fuzz.reference import Streaming, consumer
from tests.conformance.fuzz.wrong import WRONG
from ticdc_producer.conformance.fuzz.random_example import PROTOCOLS
from ticdc_producer.conformance.fuzz.shrink import Failure, shrunk
from ticdc_producer.conformance.fuzz.stream import BuiltExample, ExampleStream, Settings
from ticdc_producer.conformance.fuzz.testee import InProcess

SEEDS, EXAMPLES = (1, 2, 3, 4, 5), 2000
RIGHT = (InProcess(consumer()), InProcess(consumer(Streaming)))


async def failures(seed: int) -> dict[str, Failure]:
    """The failure of each wrong consumer by its name.

    :raises AssertionError: if a right consumer fails.
    """
    stream = ExampleStream(Settings(seed=seed, protocols=PROTOCOLS))
    searched, found = {one.name: InProcess(one.respond) for one in WRONG}, dict[str, Failure]()
    while searched and (one := await stream.next()) is not None and one.number <= EXAMPLES:
        for right in RIGHT:
            assert (await right.answer(one.cases)).wrong is None, one.example
        stream.survived(one)
        found |= await _failures(searched, one)
    return found


async def _failures(searched: dict[str, InProcess], one: BuiltExample) -> dict[str, Failure]:
    found = {}
    for name, testee in [*searched.items()]:
        wrong = (await testee.answer(one.cases)).wrong
        if wrong is not None:
            found[name] = await shrunk(testee, one.example, wrong, number=one.number)
            del searched[name]
            sys.stderr.write(f"{name}: example {one.number}\n")
    return found


def table(seeds: Sequence[int]) -> Iterator[str]:
    """The lines of the table; a dash for a consumer that was not found."""
    by_seed = [asyncio.run(failures(seed)) for seed in seeds]
    yield "| wrong consumer | reported in | examples until it is found | statements |"
    yield "|---|---|---|---|"
    for one in WRONG:
        found = [failures.get(one.name) for failures in by_seed]
        numbers = ", ".join("–" if failure is None else str(failure.number) for failure in found)
        sizes = ", ".join("–" if failure is None else str(failure.smallest.statements) for failure in found)
        yield f"| {one.name} | {one.source} | {numbers} | {sizes} |"


if __name__ == "__main__":
    for line in table([int(seed) for seed in sys.argv[1:]] or SEEDS):
        sys.stdout.write(line + "\n")
