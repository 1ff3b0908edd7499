"""Many examples for the reference consumers: ``python -m tests.conformance.fuzz.survival EXAMPLES SEED…``.

It continues after a failure, and prints the examples that a consumer gets wrong: each is a bug of ours.
"""

from __future__ import annotations

import asyncio
import sys

from msgspec.json import encode

from tests.conformance.fuzz.in_process import InProcess
from tests.conformance.fuzz.reference import Streaming, consumer
from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS
from ticdc_producer.conformance.fuzz.stream import ExampleStream, Settings

CONSUMERS = {"sorts all": InProcess(consumer()), "streams": InProcess(consumer(Streaming))}


async def survived(seed: int, examples: int) -> int:
    """The number of the first examples of a seed that all consumers answer rightly."""
    stream, right = ExampleStream(Settings(seed=seed, protocols=PROTOCOLS)), 0
    for _ in range(examples):
        built = await stream.next()
        assert built is not None
        verdicts = {name: await testee.answer(built.cases) for name, testee in CONSUMERS.items()}
        wrong = {name: verdict.wrong for name, verdict in verdicts.items() if verdict.wrong is not None}
        for name, failure in wrong.items():
            reasons = "; ".join(failure.reasons)
            sys.stdout.write(f"{built.number}: {name}: {failure.case.id}: {reasons}\n")
            sys.stdout.write(f"  {encode(built.example).decode()}\n")
        if not wrong:
            right += 1
            stream.survived(built)
    return right


if __name__ == "__main__":
    for number in map(int, sys.argv[2:]):
        count = asyncio.run(survived(number, int(sys.argv[1])))
        sys.stdout.write(f"seed {number}: {count} of {sys.argv[1]} examples survived\n")
        sys.stdout.flush()
