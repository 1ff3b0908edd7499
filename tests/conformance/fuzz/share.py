"""Measures how long testees wait for this tool: ``python -m tests.conformance.fuzz.share``.

Two shares: our processor time, divided by ours and the testee's, with one process of ours; and the time in
which the testee had no request to answer, divided by the time from the first request to the last answer, with
a process of ours per core. The second one means something only if nothing else runs on the machine.

The testee ``echo`` has the right answers in a file, reads each request as JSON, and returns the next line: it
does nothing but the exchange.
"""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import msgspec

from ticdc_producer.conformance.case import Case
from ticdc_producer.conformance.fuzz.campaign import CampaignLimits, Report, run_campaign
from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS
from ticdc_producer.conformance.fuzz.stream import Settings
from ticdc_producer.conformance.fuzz.testee import ExampleResult, FuzzCase, FuzzTestee, Process
from ticdc_producer.conformance.wire import Answer

EXAMPLES_DIR = Path(__file__).parents[3] / "examples"
WARM_UP, EXAMPLES, SEED = 60, 300, 1
OF_PYTHON, OF_OTHERS = ("open-protocol", "canal-json"), ("canal-json",)
"""The protocols that the example testees have."""
ECHO = """
import json, sys
answers = open(sys.argv[1])
for line in sys.stdin:
    request = json.loads(line)
    sys.stdout.write('{"hello":1}\\n' if "hello" in request else next(answers))
    sys.stdout.flush()
"""


class RightAnswers(FuzzTestee):
    """Gives the right answers, and remembers them."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    async def answer(self, cases: Sequence[FuzzCase]) -> ExampleResult:
        self.lines += [msgspec.json.encode(right_answer(case)) for case in cases]
        return ExampleResult(None, len(cases))


def right_answer(case: FuzzCase) -> Answer:
    """The answer that a case expects."""
    if isinstance(case, Case):
        return Answer(case=case.id, events=list(case.expected or ()))
    return Answer(case=case.id, tables={table.name: table.rows for table in case.expected})


@dataclass(frozen=True)
class Shares:
    """:param ours: our processor time per example in milliseconds; ``theirs``: that of the testee.
    :param idle: share of the time in which the testee had no request to answer.
    """

    ours: float
    theirs: float
    idle: float

    def line(self, name: str) -> str:
        """The line of the table."""
        numbers = f"{self.ours:.1f} | {self.theirs:.1f} | {self.ours / (self.ours + self.theirs):.2f}"
        return f"| {name} | {numbers} | {self.idle:.2f} |"


def shares(command: Sequence[str], settings: Settings) -> Shares:
    """Measure a testee."""
    ours, theirs = process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    report = campaign(command, settings, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - theirs.ru_utime - theirs.ru_stime
    times = [1000 * seconds / report.examples for seconds in (process_time() - ours, used)]
    parallel = campaign(command, settings, os.cpu_count() or 1)
    return Shares(*times, parallel.idle / parallel.exchange)


def campaign(command: Sequence[str], settings: Settings, processes: int) -> Report:
    """Random examples, all of which the testee survives."""
    testee = Process(shlex.join(command), 30)
    report = run_campaign(testee, settings, CampaignLimits(examples=EXAMPLES), processes=processes)
    assert report.failure is None, report.failure
    return report


def lines(folder: Path) -> Iterator[str]:
    """The lines of the table."""
    everything = Settings(seed=SEED, protocols=PROTOCOLS)
    run_campaign(RightAnswers(), everything, CampaignLimits(examples=WARM_UP))
    yield "| testee | our ms per example | its ms per example | our share of processor time | idle |"
    yield "|---|---|---|---|---|"
    yield shares(echo(folder, everything), everything).line("`echo`")
    python = [sys.executable, str(EXAMPLES_DIR / "testee_python_apply.py")]
    yield shares(python, Settings(seed=SEED, protocols=OF_PYTHON)).line("`testee_python_apply.py`")
    others = Settings(seed=SEED, protocols=OF_OTHERS)
    yield shares(["node", str(EXAMPLES_DIR / "testee_node" / "testee.mjs")], others).line("`testee_node`")
    project = EXAMPLES_DIR / "testee_go"
    subprocess.run(["go", "build", "-o", str(folder / "testee_go"), "."], cwd=project, check=True)
    yield shares([str(folder / "testee_go")], others).line("`testee_go`")


def echo(folder: Path, settings: Settings) -> list[str]:
    """The command of a testee that has the right answers in a file."""
    right = RightAnswers()
    run_campaign(right, settings, CampaignLimits(examples=EXAMPLES))
    Path(folder, "answers").write_bytes(b"".join(line + b"\n" for line in right.lines))
    Path(folder, "echo.py").write_text(ECHO, "utf-8")
    return [sys.executable, f"{folder}/echo.py", f"{folder}/answers"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for line in lines(Path(name)):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
