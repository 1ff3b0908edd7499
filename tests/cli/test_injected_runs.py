"""A run succeeds everywhere if its faults behave as requested, and fails everywhere if one is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from junitparser import JUnitXml

import ticdc_producer
from ticdc_producer.cli import main


def results(
    folder: Path, capsys: pytest.CaptureFixture[str], *inject: str
) -> tuple[int, str, bool, int, str]:
    """Exit code, last line, ``ok`` of the JSON, failures of the JUnit report and badge of the page."""
    options = [word for name in inject for word in ("--inject", name)]
    junit, page = folder / "junit.xml", folder / "page.html"
    reports = ["--junit-xml", str(junit), "--html", str(page)]
    code = main(["run", "seed_t1", "-q", "--out", str(folder / "out"), *reports, *options])
    line = capsys.readouterr().out.splitlines()[-1]
    main(["run", "seed_t1", "--json", "--out", str(folder / "json"), *options])
    report = json.loads(capsys.readouterr().out)
    assert next(iter(report)) == "ok"
    badge = page.read_text().partition('<header class="')[2].partition('"')[0]
    return code, line, report["ok"], sum(suite.failures for suite in JUnitXml.fromfile(str(junit))), badge


def test_an_illegal_fault_that_is_reported_is_a_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, line, ok, failures, badge = results(tmp_path, capsys, "lost-row", "wrong-partition")
    assert line == (
        "verified, as requested: the checks report lost-row by EXPECTED-EVENTS; wrong-partition by "
        "INV-ROW-PARTITION, and no other error"
    )
    assert (code, ok, failures, badge) == (0, True, 0, "ok")


@pytest.mark.parametrize(
    ("inject", "reason"),
    [
        ("unsplit", "unsplit was not injected, because the stream lacks what it requires: an update of a"),
        ("duplicate-event:rate=0.001", "because the rate 0.001 drew none of the 7 events"),
    ],
)
def test_a_trap_without_an_occurrence_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], inject: str, reason: str
) -> None:
    code, line, ok, failures, badge = results(tmp_path, capsys, inject)
    assert line.startswith("FAILED: ")
    assert reason in line
    assert (code, ok, failures, badge) == (1, False, 1, "bad")


@pytest.mark.parametrize("options", [["--dry-run"], ["--no-verify"], ["--only", "messages"]])
def test_it_is_a_failure_without_a_verdict_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    target = [] if options == ["--dry-run"] else ["--out", str(tmp_path / "out")]
    assert main(["run", "seed_t1", "-q", "--inject", "unsplit", *target, *options]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("FAILED: unsplit was not injected, because")


def test_too_many_times_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "seed_t1", "--out", str(tmp_path / "out"), "--inject", "lost-row:times=3"])
    assert code == 2
    assert "lost-row:times=3: the stream has positions for 2 such faults" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_verify_expects_faults_that_moved(tmp_path: Path) -> None:
    inject = ["duplicate-event", "resolved-lag", "batch-boundaries"]
    report = ticdc_producer.run("seed_t1", out=tmp_path / "out", inject=inject, seed=2)
    assert report.ok
    assert all(fault["places"] for fault in report.faults.counts)
    assert ticdc_producer.verify(folder=tmp_path / "out", scenario="seed_t1", overrides=["seed=2"]).ok
