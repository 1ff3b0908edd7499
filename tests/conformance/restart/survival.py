"""Restarts that a right consumer survives.

``python -m tests.conformance.restart.survival LANGUAGE RESTARTS SEED…``

It continues after a failure, and prints the examples that the consumer gets wrong: each is a bug of ours.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.json import encode

from tests.conformance.restart.bugs import command
from tests.conformance.restart.table import settings
from ticdc_producer.conformance.fuzz.stream import ExampleStream
from ticdc_producer.conformance.fuzz.testee import Process


async def failures(testee: str, seed: int, restarts: int) -> tuple[int, list[str]]:
    """The number of restarts, at least those requested, and the failures on the way."""
    stream = ExampleStream(settings(seed))
    process, done, wrong = Process(testee, 120, reset=True), 0, list[str]()
    while done < restarts:
        built = await stream.next()
        assert built is not None
        verdict = await process.answer(built.cases)
        done += verdict.restarts
        if verdict.wrong is None:
            stream.survived(built)
        else:
            reasons = "; ".join(verdict.wrong.reasons)
            wrong.append(f"example {built.number}: {reasons}\n  {encode(built.example).decode()}")
    await process.close()
    return done, wrong


if __name__ == "__main__":
    with TemporaryDirectory() as directory:
        language, number, *seeds = sys.argv[1:]
        testee = command(language, Path(directory))
        for seed in map(int, seeds):
            restarts, wrong = asyncio.run(failures(testee, seed, int(number)))
            print(f"{language}, seed {seed}: {restarts:,} restarts, {len(wrong)} failures", *wrong, sep="\n")
