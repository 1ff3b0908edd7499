"""The time that the level ``restart`` adds to each restart of a consumer.

A consumer of the tests reads random histories, and is killed or reset at their stops. The CPU time is that of
this process, without that of the consumer's process and its start. Making the histories does not count. A
restart bears the life before the first stop, too: there are some 1.8 starts for each restart.

    python -m benchmarks.restarts --language go --restarts 400
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conformance.restart.bugs import TESTEES, command
from tests.conformance.restart.table import settings
from ticdc_producer.conformance.fuzz.stream import ExampleStream
from ticdc_producer.conformance.fuzz.testee import Process

WANTED_MS = 5.0
_SECONDS = 120


async def measured(testee: str, restarts: int, *, reset: bool) -> dict[str, float]:
    """Measure some restarts after those of the first history.

    :param reset: whether the process continues, instead of being killed.
    """
    stream, process = ExampleStream(settings(1)), Process(testee, _SECONDS, reset=reset)
    done, cpu, wall = 0, 0.0, 0.0
    while done < restarts:
        built = await stream.next()
        assert built is not None
        start, began = time.process_time(), time.perf_counter()
        verdict = await process.answer(built.cases)
        cpu, wall = cpu + time.process_time() - start, wall + time.perf_counter() - began
        assert verdict.wrong is None, verdict.wrong.reasons
        done += verdict.restarts
        stream.survived(built)
    await process.close()
    return {"restarts": done, "cpu_ms": round(1e3 * cpu / done, 2), "wall_ms": round(1e3 * wall / done, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--language", choices=[*TESTEES], default="go")
    parser.add_argument("--restarts", type=int, default=400)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        testee = command(arguments.language, Path(folder))
        ways = {
            name: asyncio.run(measured(testee, arguments.restarts, reset=reset))
            for name, reset in (("reset", True), ("killed", False))
        }
    print(json.dumps({"load": round(os.getloadavg()[0], 2), "wanted_cpu_ms": WANTED_MS, **ways}, indent=2))


if __name__ == "__main__":
    main()
