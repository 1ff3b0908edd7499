"""A run succeeds everywhere if its faults behave as requested, and fails everywhere if one is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from junitparser import JUnitXml

import ticdc_producer
from tests.reports.test_html import content_of
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
    badge = "ok" if content_of(page.read_text())["verified"]["ok"] else "bad"
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


UNSPLIT = "unsplit was not injected, because the stream lacks what it requires: an update of a"


def test_a_trap_without_an_occurrence_is_a_failure_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, line, ok, failures, badge = results(tmp_path, capsys, "unsplit")
    assert line.startswith(f"FAILED: {UNSPLIT}")
    assert (code, ok, failures, badge) == (1, False, 1, "bad")


@pytest.mark.parametrize(
    ("inject", "reason"),
    [
        ("duplicate-event:rate=0.001", "because the rate 0.001 drew none of the 7 events"),
        ("raw-key-update", "raw-key-update was not injected, because the stream lacks what it requires: an"),
        ("handle-key-only", "handle-key-only was not injected, because the stream lacks what it requires: a"),
    ],
)
def test_a_trap_without_an_occurrence_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], inject: str, reason: str
) -> None:
    assert main(["run", "seed_t1", "-q", "--out", str(tmp_path / "out"), "--inject", inject]) == 1
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("FAILED: ")
    assert reason in line


@pytest.mark.parametrize("options", [["--dry-run"], ["--no-verify"], ["--only", "messages"]])
def test_it_is_a_failure_without_a_verdict_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    target = [] if options == ["--dry-run"] else ["--out", str(tmp_path / "out")]
    assert main(["run", "seed_t1", "-q", "--inject", "unsplit", *target, *options]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("FAILED: unsplit was not injected, because")


_KEYED = """
CREATE TABLE t (a INT PRIMARY KEY, b INT, c TEXT, UNIQUE (b));
INSERT INTO t VALUES (1, 1, 'short');
UPDATE t SET b = 2;
INSERT INTO t VALUES (2, 3, REPEAT('x', 3000)), (3, 4, REPEAT('y', 3000));
"""


@pytest.mark.parametrize(
    ("trap", "positions"),
    [("raw-key-update", 1), ("handle-key-only", 2), ("claim-check", 2), ("idle-partition", 2)],
)
@pytest.mark.parametrize("options", [[], ["--only", "messages"], ["--dry-run"]])
def test_a_trap_of_a_setting_is_counted_as_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], trap: str, positions: int, options: list[str]
) -> None:
    (tmp_path / "keyed.sql").write_text(_KEYED)
    (tmp_path / "changefeed.toml").write_text(
        f"[sink.kafka-config.large-message-handle]\nclaim-check-storage-uri = 'file://{tmp_path}/claims'\n"
        if trap == "claim-check"
        else ""
    )
    size = "&max-message-bytes=2000" if trap in ("handle-key-only", "claim-check") else ""
    uri = f"kafka:///t?protocol=open-protocol&partition-num=3{size}"
    target = [] if "--dry-run" in options else ["--out", str(tmp_path / "out")]
    command = ["run", str(tmp_path / "keyed.sql"), "--config", str(tmp_path / "changefeed.toml"), *options]
    code = main([*command, *target, "--sink-uri", uri, "--inject", trap, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert (code, report["ok"]) == (0, True)
    if "--only" not in options:
        assert report["faults"] == [{"trap": trap, "legal": True, "places": positions}]


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


def test_faults_of_a_folder_of_messages_alone_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "out")
    assert main(["run", "seed_t1", "--out", folder, "--only", "messages", "--inject", "lost-row"]) == 0
    assert "traps add and remove events" in capsys.readouterr().out
    assert main(["verify", "--in", folder]) == 0
    assert "the folder was written with lost-row" in capsys.readouterr().out
    assert main(["verify", "--in", folder, "--scenario", "seed_t1"]) == 1
