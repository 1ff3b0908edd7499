"""What ``run`` and ``verify`` report: to people, to programs, to a CI system, as a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml
from pyspark.sql import SparkSession

from tests.published_form import check, schema
from tests.reports.test_html import content_of
from ticdc_producer.cli import main
from ticdc_producer.targets.golden.write import write_manifest

SCHEMA = schema("verdict.schema.json")
FIRST_ROWS, LAST_ROWS = 415508878783938562, 415508881418485761
CASES = {"INV-RESOLVED", "INV-ROW-PARTITION", "expected-events", "expected-state"}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def ran(spark: SparkSession, work: Path) -> dict[str, Any]:
    """``run`` with every report at once; what it printed."""
    where = ["--junit-xml", str(work / "run.xml"), "--html", str(work / "run.html")]
    return _printed(["run", "seed_t1", "--out", str(work / "golden"), "--json", *where], 0)


def _printed(arguments: list[str], code: int) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        out = _Out()
        patch.setattr(sys, "stdout", out)
        assert main(arguments) == code
    return json.loads(out.text)


class _Out:
    """Standard output for a fixture that outlives one test."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return False


def _valid(output: dict[str, Any], form: str) -> None:
    check(output, SCHEMA)
    check(output, SCHEMA | {"anyOf": [{"$ref": f"#/definitions/{form}"}]})


def _damaged(work: Path) -> Path:
    """A folder whose first row is not there, as if nobody had sent it."""
    folder = work / "damaged"
    if not folder.exists():
        folder.mkdir()
        for name in ("manifest.json", "messages.jsonl"):
            (folder / name).write_text((work / "golden" / name).read_text("utf-8"), "utf-8")
        lines = (folder / "messages.jsonl").read_text("utf-8").splitlines(keepends=True)
        lost = next(number for number, line in enumerate(lines) if json.loads(line)["type"] == "row")
        (folder / "messages.jsonl").write_text("".join(lines[:lost] + lines[lost + 1 :]), "utf-8")
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        (folder / "manifest.json").unlink()
        write_manifest(folder, manifest)
    return folder


def test_what_run_prints_is_of_the_published_form(ran: dict[str, Any]) -> None:
    _valid(ran, "run")
    assert ran["verdict"]["ok"] is True


def test_run_writes_the_reports(ran: dict[str, Any], work: Path) -> None:
    (suite,) = JUnitXml.fromfile(str(work / "run.xml"))
    names = {case.name for case in suite}
    assert names == {*ran["verdict"]["checked"], "expected-events", "expected-state"}
    assert names >= CASES
    assert {case.classname for case in suite} == {"seed_t1.open-protocol"}
    assert suite.failures == 0
    page = (work / "run.html").read_text("utf-8")
    assert "<title>seed_t1: verified</title>" in page
    content = content_of(page)
    assert len(content["charts"]) == 2, "a chart per partition"
    messages = sum(kind["messages"] for kind in ran["kinds"].values())
    assert content["total"] == len(content["messages"]) == messages


@pytest.fixture(scope="module")
def violated(ran: dict[str, Any], work: Path) -> dict[str, Any]:
    where = ["--junit-xml", str(work / "verify.xml"), "--html", str(work / "verify.html")]
    against = ["--scenario", "seed_t1", "--state-at", str(FIRST_ROWS), "--state-at", str(LAST_ROWS)]
    return _printed(["verify", "--in", str(_damaged(work)), "--json", *against, *where], 1)


def test_what_verify_prints_is_of_the_published_form(violated: dict[str, Any]) -> None:
    _valid(violated, "verdict")
    assert violated["comparison"]["missing"] == 1
    assert [state["ts"] for state in violated["states"]] == [FIRST_ROWS, LAST_ROWS]
    assert not violated["states"][-1]["ok"]


def test_verify_writes_the_reports(violated: dict[str, Any], work: Path) -> None:
    (suite,) = JUnitXml.fromfile(str(work / "verify.xml"))
    failed = {case.name: case.result[0] for case in suite if case.is_failure}
    assert violated["comparison"]["diff"][0] in failed["expected-events"].text
    assert f"expected-state@{LAST_ROWS}" in failed
    assert "VIOLATED" in (work / "verify.html").read_text("utf-8")


def test_quiet_prints_errors_and_the_verdict(
    violated: dict[str, Any], work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verify = ["verify", "-q", "--in"]
    assert main([*verify, str(work / "golden")]) == 0
    assert capsys.readouterr() == ("verified\n", "")
    assert main([*verify, str(_damaged(work)), "--scenario", "seed_t1"]) == 1
    out, errors = capsys.readouterr()
    assert out.splitlines()[0].startswith("error  events differ from the expected ones: 1 missing")
    assert out.splitlines()[-1].startswith("VIOLATED: ")
    assert "invariants" not in out
    assert errors == ""


def test_a_report_that_cannot_be_written_ends_the_command_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--html", "--junit-xml"):
        assert main(["run", "seed_t1", option, str(tmp_path / "none" / "report")]) == 2
        assert "the folder of the report does not exist" in capsys.readouterr().err
        assert main(["run", "seed_t1", option, str(tmp_path)]) == 2
        assert "this is a folder" in capsys.readouterr().err
        assert main(["run", "seed_t1", "--dry-run", option, str(tmp_path / "report")]) == 2
        assert "a report requires a verified run" in capsys.readouterr().err


def test_the_manifest_contains_the_columns_of_each_state(ran: dict[str, Any], work: Path) -> None:
    manifest = json.loads((work / "golden" / "manifest.json").read_text("utf-8"))
    (file, table), *others = manifest["tables"].items()
    assert (file, others) == ("state/test.t1.jsonl", [])
    assert [column["name"] for column in table["columns"]] == ["id", "val"]
    assert table["handle_key"] == ["id"]
