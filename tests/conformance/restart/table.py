"""Measures the tables of bugs in docs/conformance.md: ``python -m tests.conformance.restart.table SEED…``.

It adds the results of the seeds to ``measured.json``, which ``tests.docs.generated_tables`` reads. All
consumers get the same examples, as each would get them alone.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.conformance.restart.bugs import ALL_BUGS, RestartBug, command
from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.fuzz.shrink import Failure, shrunk
from ticdc_producer.conformance.fuzz.stream import BuiltExample, ExampleStream, Settings
from ticdc_producer.conformance.fuzz.testee import Process
from ticdc_producer.conformance.restart.case import RestartCase

MEASURED = Path(__file__).with_name("measured.json")
SEEDS, EXAMPLES = (1, 2, 3, 4, 5), 10_000


def settings(seed: int) -> Settings:
    """The protocols of the example testees."""
    return Settings(seed=seed, protocols=("canal-json", "open-protocol"), levels=(Level.RESTART,))


class SharedExamples:
    """Random examples that several consumers take, each from the first one."""

    def __init__(self, seed: int) -> None:
        self._stream = ExampleStream(settings(seed))
        self._built: list[BuiltExample] = []
        self._lock = asyncio.Lock()

    async def example(self, index: int) -> BuiltExample:
        async with self._lock:
            while len(self._built) <= index:
                built = await self._stream.next()
                assert built is not None
                self._stream.survived(built)
                self._built.append(built)
        return self._built[index]


async def measure(seed: int, folder: Path) -> None:
    """Search all bugs without a result at the same time, and store each result."""
    examples = SharedExamples(seed)
    searches = [
        _search(bug, command(bug.language, folder / str(number), bug), seed, examples)
        for number, bug in enumerate(ALL_BUGS)
        if str(seed) not in measured().get(bug.name, {})
    ]
    await asyncio.gather(*searches)


async def _search(bug: RestartBug, testee: str, seed: int, examples: SharedExamples) -> None:
    process = Process(testee, 600, reset=True)
    for index in range(EXAMPLES):
        built = await examples.example(index)
        wrong = (await process.answer(built.cases)).wrong
        if wrong is not None:
            _store(bug.name, seed, await shrunk(process, built.example, wrong, number=built.number))
            break
    await process.close()


def stops(failure: Failure) -> str:
    """Where the smallest example is stopped."""
    case = failure.wrong.case
    log = case.log if isinstance(case, RestartCase) else ()
    parts = (part.removeprefix("is ") for line in log for part in line.split(", "))
    return ", then ".join(
        part.removeprefix("stopped ") for part in parts if part.startswith(("stopped ", "assigned "))
    )


def measured() -> dict[str, dict[str, dict[str, Any]]]:
    """The stored results: name of the bug → seed → example, statements and stop."""
    content: dict[str, dict[str, dict[str, Any]]] = (
        json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
    )
    return content


def _store(name: str, seed: int, failure: Failure) -> None:
    content = measured()
    content.setdefault(name, {})[str(seed)] = {
        "example": failure.number,
        "statements": failure.smallest.statements,
        "stop": stops(failure),
    }
    order = [entry.name for entry in ALL_BUGS]
    in_order = {
        bug: {number: content[bug][number] for number in sorted(content[bug])}
        for bug in sorted(content, key=order.index)
    }
    MEASURED.write_text(json.dumps(in_order, indent=2) + "\n", "utf-8")
    sys.stderr.write(f"seed {seed}: {name}: {content[name][str(seed)]}\n")


if __name__ == "__main__":
    for number in [int(argument) for argument in sys.argv[1:]] or SEEDS:
        with TemporaryDirectory() as directory:
            asyncio.run(measure(number, Path(directory)))
