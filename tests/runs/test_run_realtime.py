"""Runs in real time: what is written when, and that it equals the messages of a plain run."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.kafka_topic import read_topic
from ticdc_producer.errors import ArgumentError, ScenarioError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model import tso
from ticdc_producer.runs.pace import DueEvents, HistoryPace, paced_slices
from ticdc_producer.runs.rate import (
    Slice,
    first_realtime_commit,
    read_rate,
    realtime_job,
    slices,
    with_clock_start,
)

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


class FakeClock:
    """A clock that jumps to the end of each wait.

    :param ends: milliseconds after which the end of the run is requested.
    :param each: milliseconds that the writing of a slice takes.
    """

    def __init__(self, ends: int | None = None, each: int = 0) -> None:
        self.ends = ends
        self.each = each
        self.now = 0

    def start(self) -> int:
        return 1_700_000_000_000

    def elapsed_ms(self) -> int:
        return self.now

    def wait_until(self, elapsed_ms: int) -> bool:
        self.now = max(self.now + self.each, elapsed_ms)
        return self.ends is None or self.now <= self.ends


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "realtime.yaml"
    path.write_text(SCENARIO)
    return path


def _seconds(parts: list[Slice]) -> list[int]:
    return [tso.physical(part.end_ts) - tso.physical(START) for part in parts]


@pytest.mark.parametrize(("text", "rate"), [("5000/s", 5000), ("7", 7), ("300/m", 5), ("3600/h", 1)])
def test_a_rate_is_row_changes_by_time(text: str, rate: float) -> None:
    assert read_rate(text) == rate


@pytest.mark.parametrize("text", ["0/s", "x", "5/d", "-1", ""])
def test_an_invalid_rate_is_rejected(text: str) -> None:
    with pytest.raises(ScenarioError, match="is not a rate"):
        read_rate(text)


def test_rate_and_duration_make_the_clock_and_the_number_of_transactions(scenario: Path) -> None:
    job = realtime_job(scenario, "5000/s", "10s")
    plan = job.history.generated[0]
    assert plan.transactions == 25_000
    assert plan.events == 50_000 + 20
    clock = job.stream.resolved.clock
    first, last = clock.ts(first_realtime_commit(job)), clock.ts(job.history.commits - 1)
    assert tso.physical(last - first) == 9999
    assert job.stream.resolved.every_ms == 1000


def test_the_clock_starts_now_unless_the_scenario_sets_its_start(scenario: Path, tmp_path: Path) -> None:
    given = realtime_job(scenario, "10/s", None)
    assert with_clock_start(given, 1_700_000_000_000).scenario.start == START
    other = tmp_path / "other.yaml"
    other.write_text(SCENARIO.replace(f"clock: {{start: {START}}}\n", ""))
    job = with_clock_start(realtime_job(other, "10/s", None), 1_700_000_000_000)
    assert tso.physical(job.stream.resolved.clock.ts(first_realtime_commit(job))) == 1_700_000_000_000


def test_a_slice_ends_with_each_resolved_event_when_its_time_has_come(scenario: Path) -> None:
    job = realtime_job(scenario, "10/s", "5s")  # table, load and 25 transactions, each 200 ms
    parts = list(slices(job, FakeClock()))
    assert [part.after_ts for part in parts] == [-1, *(part.end_ts for part in parts[:-1])]
    assert _seconds(parts) == [1000, 2000, 3000, 4000, 5000, 5200]


def test_what_was_missed_while_writing_comes_in_one_slice(scenario: Path) -> None:
    job = realtime_job(scenario, "10/s", "5s")
    assert _seconds(list(slices(job, FakeClock(each=2500)))) == [2000, 5000, 5200]


@pytest.mark.parametrize("ends", [0, 1500])
def test_a_run_with_an_end_request_ends_after_a_resolved_event(scenario: Path, ends: int) -> None:
    job = realtime_job(scenario, "10/s", "5s")
    assert _seconds(list(slices(job, FakeClock(ends)))) == {0: [1000], 1500: [1000]}[ends]


def test_scenarios_that_cannot_run_in_real_time_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="ends with a generate step"):
        realtime_job("seed_t1", "10/s", None)
    with pytest.raises(ScenarioError, match="cannot be combined with faults of events"):
        realtime_job("sysbench", "10/s", None, overrides=["faults.lost-row=null"])
    recording = tmp_path / "recording.yaml"
    recording.write_text(f"{SCENARIO}recorded-faults: faults.parquet\n")
    with pytest.raises(ScenarioError, match="faults of events") as refused:
        realtime_job(recording, "10/s", None)
    assert refused.value.hint == "run it without `rate`, or with `faults` none"
    assert realtime_job(recording, "10/s", None, recorded=False).faults is None
    path = tmp_path / "pinned.yaml"
    path.write_text(
        SCENARIO.replace(f"{{start: {START}}}", "{every: 1s}").replace(
            "(20));\n", f"(20));\n    commit-ts: {START}\n"
        )
    )
    with pytest.raises(ScenarioError, match="fixes its time stamps"):
        realtime_job(path, "10/s", None)


def _uri(kafka: EmbeddedKafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num=2"


def test_a_run_with_an_end_request_is_complete_and_verifies(
    spark: SparkSession, kafka: EmbeddedKafka, scenario: Path
) -> None:
    report = ticdc_producer.run_realtime(
        scenario, "10/s", "20s", sink_uri=_uri(kafka, "ended"), wall_clock=FakeClock(ends=2500, each=2000)
    )
    assert report.ok, report.to_json()
    assert len(_last(kafka, "ended")) == 1, "all partitions end with the same resolved event"
    assert report.counts.by_kind()["row"]["events"] < 100


def _last(kafka: EmbeddedKafka, topic: str) -> set[tuple[bytes | None, bytes | None]]:
    return {messages[-1][:2] for messages in read_topic(kafka.bootstrap, topic).values()}


@pytest.mark.slow
def test_a_run_in_real_time_writes_what_a_plain_one_does(
    spark: SparkSession, kafka: EmbeddedKafka, scenario: Path
) -> None:
    report = ticdc_producer.run_realtime(
        scenario, "10/s", "5s", sink_uri=_uri(kafka, "realtime"), wall_clock=FakeClock(each=1500)
    )
    assert report.ok, report.to_json()
    overrides = ["clock.every=200ms", "resolved.every=1s", "steps[1].generate.transactions=25"]
    assert ticdc_producer.run(scenario, sink_uri=_uri(kafka, "plain"), overrides=overrides).ok
    assert read_topic(kafka.bootstrap, "realtime") == read_topic(kafka.bootstrap, "plain")


def paced(at: list[int], clock: FakeClock, speed: float = 10.0) -> list[int]:
    """The ends of the slices of a history with events after the given milliseconds."""
    ts = np.array([tso.compose(tso.physical(START) + ms) for ms in at])
    pace = HistoryPace(int(ts[0]), int(ts[-1]), speed)
    halves = (DueEvents.of(ts[half::2], pace) for half in (0, 1))
    return _seconds([*paced_slices(pace, DueEvents.merged(halves, pace), clock)])


def test_a_slice_of_a_history_ends_when_its_time_has_come() -> None:
    busy = [*range(0, 2501, 100)]
    assert paced(busy, FakeClock()) == [0, 1000, 2000, 2500]
    assert paced(busy, FakeClock(each=200)) == [2000, 2500]
    assert paced(busy, FakeClock(ends=100)) == [0, 1000]
    assert paced(busy, FakeClock(), math.inf) == [2500]
    assert HistoryPace(START, START, 1e308).due(100) == tso.MAX_TS
    assert HistoryPace(START, START, 5e-324).elapsed_ms(tso.MAX_TS) == 1 << 42


def test_no_slice_is_written_while_no_event_is_due() -> None:
    assert paced([0, 7_200_000, 7_200_900, 7_201_200], FakeClock()) == [0, 7_200_000, 7_201_000, 7_201_200]
    assert paced([0, 0, 36_000_000], FakeClock(ends=1000)) == [0]
    assert paced([0, 3, 4, 9], FakeClock(), 0.001) == [0, 3, 4, 9]


@pytest.mark.parametrize("pace", [{"speed": 4.0}, pytest.param({"rate": "4/s"}, marks=pytest.mark.slow)])
def test_a_history_is_sent_at_a_pace(kafka: EmbeddedKafka, tmp_path: Path, pace: dict[str, Any]) -> None:
    changes = "".join(f"INSERT INTO t VALUES ({number});" for number in range(8))
    (tmp_path / "s.sql").write_text(f"CREATE TABLE t (id INT PRIMARY KEY);{changes}")
    topic, clock = f"paced-{next(iter(pace))}", FakeClock()
    status: list[str] = []
    report = ticdc_producer.run_realtime(
        tmp_path / "s.sql", **pace, sink_uri=_uri(kafka, topic), wall_clock=clock, on_status=status.append
    )
    assert report.ok, report.to_json()
    lines = [line for line in status if "/s, up to " in line]
    assert len({line.partition(" messages")[0] for line in lines}) == len(lines), "none without messages"
    assert lines[-1].endswith(" 0:00:00 left")
    assert clock.now == 2000, "nine commits in eight seconds, at four times the speed: a row each 250 ms"
    assert ticdc_producer.run(tmp_path / "s.sql", sink_uri=_uri(kafka, f"{topic}-plain")).ok
    assert read_topic(kafka.bootstrap, topic) == read_topic(kafka.bootstrap, f"{topic}-plain")


@pytest.mark.parametrize("to_all", [True, False])
def test_slices_continue_the_descriptions_of_tables(
    kafka: EmbeddedKafka, tmp_path: Path, to_all: bool
) -> None:
    """Simple describes a table after some rows, not in each slice."""
    changes = "".join(f"INSERT INTO t VALUES ({number});" for number in range(8))
    (tmp_path / "s.sql").write_text(f"CREATE TABLE t (id INT PRIMARY KEY);{changes}")
    sink = {
        "send-bootstrap-in-msg-count": 3,
        "send-bootstrap-to-all-partition": to_all,
        "dispatchers": [{"matcher": ["*.*"], "partition": "index-value"}],
    }
    topic = f"described-{to_all}".lower()
    paced, plain = (
        {
            "sink_uri": f"kafka://{kafka.bootstrap}/{name}?protocol=simple&partition-num=2",
            "config": {"sink": sink},
        }
        for name in (topic, f"{topic}-plain")
    )
    report = ticdc_producer.run_realtime(tmp_path / "s.sql", speed=4.0, wall_clock=FakeClock(), **paced)
    assert report.ok, report.to_json()
    assert ticdc_producer.run(tmp_path / "s.sql", **plain).ok
    assert read_topic(kafka.bootstrap, topic) == read_topic(kafka.bootstrap, f"{topic}-plain")


def test_a_replay_at_a_pace_reports_recorded_faults_without_an_event(
    kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    (tmp_path / "s.sql").write_text("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2);")
    uri = "kafka:///s?protocol=open-protocol"
    ticdc_producer.run(
        tmp_path / "s.sql", sink_uri=uri, out=tmp_path / "s", inject=["duplicate-event:rate=1"]
    )
    ticdc_producer.record(folder=tmp_path / "s", out=tmp_path / "recording")
    report = ticdc_producer.run_realtime(
        tmp_path / "recording",
        speed=1000.0,
        sink_uri=_uri(kafka, "unmet"),
        config={"filter": {"rules": ["*.*", "!test.t"]}},
        wall_clock=FakeClock(),
    )
    assert report.faults.unmet.count == 2


def test_a_speed_that_is_none_is_refused(scenario: Path) -> None:
    with pytest.raises(ScenarioError, match="is not a speed"):
        ticdc_producer.run_realtime(scenario, speed=-1.0)
    with pytest.raises(ArgumentError, match="needs `rate` or `speed`"):
        ticdc_producer.run_realtime(scenario)
    with pytest.raises(ScenarioError, match="`duration` requires"):
        ticdc_producer.run_realtime("seed_t1", "5/s", "1m")


@pytest.mark.slow
def test_ctrl_c_ends_a_run_in_real_time_after_verification(kafka: EmbeddedKafka, scenario: Path) -> None:
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
    out, output = process.communicate(timeout=600)
    assert process.returncode == 0, output
    assert out.splitlines()[-1].startswith("verified")
    assert len(_last(kafka, "interrupted")) == 1
