"""Runs that keep pace with a clock: what is written when, and that it is what a plain run writes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.kafka_topic import read_topic
from ticdc_producer.errors import ScenarioError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model import tso
from ticdc_producer.runs.rate import paced_from, paced_job, read_rate, started
from ticdc_producer.runs.slices import Slice, slices

START = 429918007904436224
SCENARIO = f"""\
version: 1
clock: {{start: {START}}}
changefeed:
  sink: {{dispatchers: [{{matcher: ['*.*'], partition: index-value}}]}}
steps:
  - sql: CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20));
  - generate: {{table: a, rows: 20, transactions: 1000, rows-per-transaction: 2}}
"""


class Fast:
    """Time that flies: whoever waits is there at once, and each look at it costs a little.

    :param ends: milliseconds after which the run is asked to end.
    :param each: how long the writing of a slice takes.
    """

    def __init__(self, ends: int | None = None, each: int = 0) -> None:
        self.ends = ends
        self.each = each
        self.now = 0

    def begin(self) -> int:
        return 1_700_000_000_000

    def passed(self) -> int:
        return self.now

    def wait_until(self, passed: int) -> bool:
        self.now = max(self.now + self.each, passed)
        return self.ends is None or self.now <= self.ends


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "paced.yaml"
    path.write_text(SCENARIO)
    return path


def _seconds(parts: list[Slice]) -> list[int]:
    return [tso.physical(part.to) - tso.physical(START) for part in parts]


@pytest.mark.parametrize(("text", "rate"), [("5000/s", 5000), ("7", 7), ("300/m", 5), ("3600/h", 1)])
def test_a_rate_is_row_changes_by_time(text: str, rate: float) -> None:
    assert read_rate(text) == rate


@pytest.mark.parametrize("text", ["0/s", "x", "5/d", "-1", ""])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="is no rate"):
        read_rate(text)


def test_rate_and_duration_make_the_clock_and_the_number_of_transactions(scenario: Path) -> None:
    job = paced_job(scenario, "5000/s", "10s")
    plan = job.history.generated[0]
    assert plan.transactions == 25_000
    assert plan.events == 50_000 + 20
    clock = job.stream.resolved.clock
    first, last = clock.ts(paced_from(job)), clock.ts(job.history.commits - 1)
    assert tso.physical(last - first) == 9999
    assert job.stream.resolved.every_ms == 1000


def test_the_clock_starts_now_unless_the_scenario_says_when(scenario: Path, tmp_path: Path) -> None:
    given = paced_job(scenario, "10/s", None)
    assert started(given, 1_700_000_000_000).scenario.start == START
    other = tmp_path / "other.yaml"
    other.write_text(SCENARIO.replace(f"clock: {{start: {START}}}\n", ""))
    job = started(paced_job(other, "10/s", None), 1_700_000_000_000)
    assert tso.physical(job.stream.resolved.clock.ts(paced_from(job))) == 1_700_000_000_000


def test_a_slice_ends_with_each_resolved_event_when_its_time_has_come(scenario: Path) -> None:
    job = paced_job(scenario, "10/s", "5s")  # table, load and 25 transactions, each 200 ms
    parts = list(slices(job, Fast()))
    assert [part.behind for part in parts] == [-1, *(part.to for part in parts[:-1])]
    assert _seconds(parts) == [1000, 2000, 3000, 4000, 5000, 5200]


def test_what_was_missed_while_writing_comes_in_one_slice(scenario: Path) -> None:
    job = paced_job(scenario, "10/s", "5s")
    assert _seconds(list(slices(job, Fast(each=2500)))) == [2000, 5000, 5200]


@pytest.mark.parametrize("ends", [0, 1500])
def test_who_is_asked_to_end_ends_behind_a_resolved_event(scenario: Path, ends: int) -> None:
    job = paced_job(scenario, "10/s", "5s")
    assert _seconds(list(slices(job, Fast(ends)))) == {0: [1000], 1500: [1000]}[ends]


def test_scenarios_that_have_no_pace_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="ends with a generate step"):
        paced_job("seed_t1", "10/s", None)
    with pytest.raises(ScenarioError, match="no faults of events"):
        paced_job("sysbench", "10/s", None, sets=["faults.lost-row=null"])
    path = tmp_path / "pinned.yaml"
    path.write_text(
        SCENARIO.replace(f"{{start: {START}}}", "{every: 1s}").replace(
            "(20));\n", f"(20));\n    commit-ts: {START}\n"
        )
    )
    with pytest.raises(ScenarioError, match="time stamps of its own"):
        paced_job(path, "10/s", None)


def _uri(kafka: EmbeddedKafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num=2"


def test_a_run_that_is_asked_to_end_is_whole_and_verifies(
    spark: SparkSession, kafka: EmbeddedKafka, scenario: Path
) -> None:
    report = ticdc_producer.run_paced(
        scenario, "10/s", "20s", sink_uri=_uri(kafka, "ended"), time=Fast(ends=2500, each=2000)
    )
    assert report.ok, report.to_json()
    assert len(_last(kafka, "ended")) == 1, "all partitions end with the same resolved event"
    assert report.counts.by_kind()["row"]["events"] < 100


def _last(kafka: EmbeddedKafka, topic: str) -> set[tuple[bytes | None, bytes | None]]:
    return {messages[-1][:2] for messages in read_topic(kafka.bootstrap, topic).values()}


@pytest.mark.slow
def test_a_paced_run_writes_what_a_plain_one_does(
    spark: SparkSession, kafka: EmbeddedKafka, scenario: Path
) -> None:
    report = ticdc_producer.run_paced(
        scenario, "10/s", "5s", sink_uri=_uri(kafka, "paced"), time=Fast(each=1500)
    )
    assert report.ok, report.to_json()
    sets = ["clock.every=200ms", "resolved.every=1s", "steps[1].generate.transactions=25"]
    assert ticdc_producer.run(scenario, sink_uri=_uri(kafka, "plain"), sets=sets).ok
    assert read_topic(kafka.bootstrap, "paced") == read_topic(kafka.bootstrap, "plain")


@pytest.mark.slow
def test_ctrl_c_ends_a_paced_run_well(kafka: EmbeddedKafka, scenario: Path) -> None:
    uri = _uri(kafka, "interrupted")
    command = [
        sys.executable,
        "-m",
        "ticdc_producer",
        "run",
        str(scenario),
        "--rate",
        "20/s",
        "--duration",
        "10m",
    ]
    process = subprocess.Popen(
        [*command, "--sink-uri", uri], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("written"):
            break
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    assert out.splitlines()[-1].startswith("verified")
    assert len(_last(kafka, "interrupted")) == 1
