"""Measures this tool's share of the processor time of a campaign: ``python -m tests.conformance.fuzz.share``.

The share is our processor time, divided by ours and the testee's. The testee ``echo`` has the right answers
in a file, reads each request as JSON, and returns the next line: it does nothing but the exchange.
"""

from __future__ import annotations

import resource
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time

import msgspec

from ticdc_producer.conformance.case import Case
from ticdc_producer.conformance.fuzz.campaign import CampaignLimits, run_campaign
from ticdc_producer.conformance.fuzz.drawn import Settings
from ticdc_producer.conformance.fuzz.random_example import PROTOCOLS
from ticdc_producer.conformance.fuzz.testee import ExampleResult, FuzzCase, FuzzTestee, Process
from ticdc_producer.conformance.wire import Answer

ROOT = Path(__file__).parents[3]
WARM_UP, EXAMPLES, SEED = 60, 300, 1
SAMPLE = "testee_python_apply.py"
OF_SAMPLE = ("open-protocol", "canal-json")
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


def share(testee: FuzzTestee, settings: Settings) -> tuple[float, float]:
    """Our processor time and the testee's, in milliseconds per example."""
    ours, theirs = process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    report = run_campaign(testee, settings, CampaignLimits(examples=EXAMPLES))
    assert report.failure is None, report.failure
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - theirs.ru_utime - theirs.ru_stime
    return 1000 * (process_time() - ours) / report.examples, 1000 * used / report.examples


def lines() -> Iterator[str]:
    """The lines of the table."""
    everything = Settings(seed=SEED, protocols=PROTOCOLS)
    of_sample = Settings(seed=SEED, protocols=[one for one in PROTOCOLS if one in OF_SAMPLE])
    run_campaign(RightAnswers(), everything, CampaignLimits(examples=WARM_UP))
    yield "| testee | our ms per example | its ms per example | our share |"
    yield "|---|---|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        right = RightAnswers()
        run_campaign(right, everything, CampaignLimits(examples=EXAMPLES))
        Path(folder, "answers").write_bytes(b"".join(one + b"\n" for one in right.lines))
        Path(folder, "echo.py").write_text(ECHO, "utf-8")
        echo = [sys.executable, f"{folder}/echo.py", f"{folder}/answers"]
        yield _line("echo", echo, everything)
        yield _line(SAMPLE, [sys.executable, str(ROOT / "examples" / SAMPLE)], of_sample)


def _line(name: str, command: Sequence[str], settings: Settings) -> str:
    ours, theirs = share(Process(shlex.join(command), 30), settings)
    return f"| {name} | {ours:.1f} | {theirs:.1f} | {ours / (ours + theirs):.2f} |"


if __name__ == "__main__":
    for line in lines():
        sys.stdout.write(line + "\n")
