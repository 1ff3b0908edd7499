"""A source, a target and an invariant of other packages: one class each, on both engines."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest

from tests.spark_command import run_on_spark
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.oracle import Oracle
from ticdc_producer.runs.run import execute
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.targets.target import MessageTarget
from ticdc_producer.simulate.change_log import UpstreamLog, UpstreamSource, change_batch
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.record_batches import SENT_COLUMNS
from ticdc_producer.verifier.invariants.registry import invariants
from ticdc_producer.verifier.messages import Messages

ENGINES = pytest.mark.parametrize("engine", ["local", "spark"], indirect=True)
URI = "kafka:///t?protocol=canal-json&enable-tidb-extension=true&partition-num=2"


@dataclass(frozen=True)
class FewRows(UpstreamSource):
    """The changes of another job, in two parts."""

    job: Job

    def changes(self, engine: Engine) -> Dataset:
        rows = change_batch(self.job.history.changes)

        def part(number: int) -> Batches:
            half = rows.num_rows // 2
            yield rows.slice(0, half) if number == 0 else rows.slice(half)

        return engine.of_parts(2, part, CHANGE_LOG)


class LineTarget(MessageTarget):
    """A file with a line per message."""

    folder: Path
    claims = ""

    @property
    def name(self) -> str:
        return str(self.folder)

    def check(self) -> None:
        self.folder.mkdir()

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        folder = self.folder

        def lines(part: Part, batches: Batches) -> int:
            values = [value for batch in batches for value in batch.column("value").to_pylist()]
            (folder / str(part.index)).write_bytes(b"".join(value + b"\n" for value in values if value))
            return len(values)

        counts = simulation.encoded.messages.select(*SENT_COLUMNS).execute(lines)
        assert sum(counts) == report.counts.total
        return report

    def read(self, simulation: Simulation) -> Messages:
        return Messages(simulation.encoded.messages)

    def verified(self, simulation: Simulation, oracle: Oracle, report: RunReport) -> RunReport:
        return replace(report, preview=[type(oracle).__name__])


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "few.sql"
    path.write_text(
        "CREATE TABLE test.t (id INT PRIMARY KEY, v INT);\n"
        + "".join(f"INSERT INTO test.t VALUES ({number}, {number});\n" for number in range(9))
        + "UPDATE test.t SET v = v + 1;\n"
    )
    return path


@ENGINES
def test_a_source_and_a_target(engine: Engine, script: Path, tmp_path: Path) -> None:
    job = prepare(script, sink_uri=URI)
    target = LineTarget(job, RunOptions())
    target.folder = tmp_path / engine.name
    target.check()
    without_sql = replace(job, history=replace(job.history, changes=[]))
    log = UpstreamLog(change_batch(without_sql.history.changes), [FewRows(job)])
    simulation = Simulation(without_sql, engine, log)
    report = execute(simulation, [target], target.options)
    lines = b"".join(path.read_bytes() for path in target.folder.iterdir()).splitlines()
    assert report.preview == ["ScenarioOracle"]
    assert sum(b'"type":"INSERT"' in line for line in lines) == 9
    assert sum(b'"type":"UPDATE"' in line for line in lines) == 9


INVARIANT = """
from ticdc_producer.verifier.violations import Invariant
from ticdc_producer.verifier.invariants.preconditions import nothing
from ticdc_producer.verifier.violations import Violations


def sixth(marked):
    events = marked.events
    wrong = events.commit_ts == events.commit_ts.max()
    return Violations.of_events(events, wrong, "warning", lambda number: "the newest of its batch")


NEWEST = Invariant(
    id="ACME-NEWEST",
    severity="warning",
    statement="No event is the newest one.",
    hint="",
    preconditions=nothing,
    by_event=sixth,
)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a package that has an invariant, by entry point."""
    folder = tmp_path / "package"
    info = folder / "acme_invariants-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "acme_invariants.py").write_text(INVARIANT)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-invariants\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ticdc_producer.invariants]\nnewest = acme_invariants:NEWEST\n")
    return folder


@pytest.fixture
def invariant(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the package."""
    monkeypatch.syspath_prepend(str(package))
    importlib.invalidate_caches()
    invariants.cache_clear()
    yield
    invariants.cache_clear()


@pytest.mark.usefixtures("invariant")
def test_a_registered_invariant_is_checked(script: Path, tmp_path: Path) -> None:
    from ticdc_producer import api

    report = api.run(script, sink_uri=URI, out=tmp_path / "golden")
    assert report.verdict is not None
    (finding,) = report.verdict.of_severity("warning")
    assert finding.id == "ACME-NEWEST"
    assert "ACME-NEWEST" in report.verdict.checked


@pytest.mark.slow
def test_a_registered_invariant_is_checked_in_tasks_of_spark(
    script: Path, tmp_path: Path, package: Path
) -> None:
    report = run_on_spark(package, script, "--sink-uri", URI, "--out", tmp_path / "golden")
    assert [finding["id"] for finding in report["verdict"]["findings"]] == ["ACME-NEWEST"]


def test_changes_are_arrow_columns(script: Path) -> None:
    assert change_batch(prepare(script).history.changes).schema.equals(CHANGE_LOG, check_metadata=True)
    assert isinstance(change_batch([]), pa.RecordBatch)
