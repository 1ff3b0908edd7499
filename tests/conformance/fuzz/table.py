"""Measures the table of wrong consumers in docs/conformance.md: ``python -m tests.conformance.fuzz.table``.

With seeds as arguments, it prints the lines of these seeds only.

All consumers get the same examples, as each would get them alone: examples depend on what was survived, and a
consumer that is still searched has survived all of them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence

from tests.conformance.fuzz.in_process import InProcess
from tests.conformance.fuzz.reference import Streaming, consumer
from tests.conformance.fuzz.wrong import WRONG
from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS
from ticdc_producer.conformance.fuzz.shrink import Failure, shrunk
from ticdc_producer.conformance.fuzz.stream import BuiltExample, ExampleStream, Settings

SEEDS, EXAMPLES = (1, 2, 3, 4, 5), 2000
RIGHT = (InProcess(consumer()), InProcess(consumer(Streaming)))


async def failures(seed: int) -> dict[str, Failure]:
    """The failure of each wrong consumer by its name.

    :raises AssertionError: if a right consumer fails.
    """
    stream = ExampleStream(Settings(seed=seed, protocols=PROTOCOLS))
    searched, by_consumer = {wrong.name: InProcess(wrong.respond) for wrong in WRONG}, dict[str, Failure]()
    while searched and (built := await stream.next()) is not None and built.number <= EXAMPLES:
        for right in RIGHT:
            assert (await right.answer(built.cases)).wrong is None, built.example
        stream.survived(built)
        by_consumer |= await _failures(searched, built)
    return by_consumer


async def _failures(searched: dict[str, InProcess], built: BuiltExample) -> dict[str, Failure]:
    by_consumer = {}
    for name, testee in [*searched.items()]:
        wrong = (await testee.answer(built.cases)).wrong
        if wrong is not None:
            by_consumer[name] = await shrunk(testee, built.example, wrong, number=built.number)
            del searched[name]
            sys.stderr.write(f"{name}: example {built.number}\n")
    return by_consumer


def table(seeds: Sequence[int]) -> Iterator[str]:
    """The lines of the table; a dash for a consumer that was not found."""
    by_seed = [asyncio.run(failures(seed)) for seed in seeds]
    yield "| wrong consumer | reported in | examples until it is found | statements |"
    yield "|---|---|---|---|"
    for wrong in WRONG:
        of_consumer = [failures.get(wrong.name) for failures in by_seed]
        numbers = ", ".join("–" if failure is None else str(failure.number) for failure in of_consumer)
        sizes = ", ".join(
            "–" if failure is None else str(failure.smallest.statements) for failure in of_consumer
        )
        yield f"| {wrong.name} | {wrong.source} | {numbers} | {sizes} |"


if __name__ == "__main__":
    for line in table([int(seed) for seed in sys.argv[1:]] or SEEDS):
        sys.stdout.write(line + "\n")
