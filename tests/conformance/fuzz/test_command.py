"""The command line: --fuzz, what it saves, --replay and --shrink."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.testees import program
from ticdc_producer.cli import main
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.recorded import regressions
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.runs.targets.golden import write_small_folder
from ticdc_producer.targets.golden import read as golden

ROOT = Path(__file__).parents[3]
SAMPLE = shlex.join([sys.executable, str(ROOT / "examples" / "testee_python_apply.py")])
WRONG = f"""
import sys
sys.path.insert(0, {str(ROOT / "examples")!r})
import testee_python_apply as testee

right = testee.decoder.open_value

def wrong(column):
    value = right(column)
    return value[:18] if isinstance(value, str) and column["t"] == 8 else value

testee.decoder.open_value = wrong
testee.main()
"""
"""The sample, except that it cuts BIGINTs of Open Protocol to 18 digits."""
TRUNCATES = """
import sys
sys.path.insert(0, {folder!r})
import testee_python_apply as testee

testee.apply_ddl = lambda tables, event: None
testee.main()
"""


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    """The command of a wrong testee."""
    return program(tmp_path, WRONG)


def conformance(*options: str | Path) -> int:
    return main(["conformance", *map(str, options)])


def test_the_sample_survives(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ("--seed", "4", "--examples", "25", "--save", tmp_path / "none")
    protocols = ("--protocol", "open-protocol", "--protocol", "canal-json", "--protocol", "craft")
    assert conformance("--fuzz", "--testee", SAMPLE, *protocols, *options, "--json") == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["examples"], report["failure"]) == (True, 25, None)
    assert report["skipped"] == ["craft"]
    survived = report["survived"]["open-protocol"]
    assert sum(map(bool, survived["traps"].values())) > 5
    assert survived["pairs"]
    assert not (tmp_path / "none").exists()


def test_a_failure_is_shrunk_saved_and_runs_first_next_time(
    wrong: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    saved = tmp_path / "failures"
    first = ("--fuzz", "--testee", wrong, "--protocol", "open-protocol", "--save", saved)
    assert conformance(*first, "--examples", "200") == 1
    output = capsys.readouterr().out
    (folder,) = [path for path in saved.iterdir() if path.is_dir()]
    assert f"saved: {folder}" in output
    outcome = json.loads((folder / "outcome.json").read_text("utf-8"))
    assert f"replay: {outcome['replay']}" in output
    statements = (folder / "scenario.sql").read_text("utf-8").splitlines()
    assert len(statements) <= 3
    assert all(statement.endswith(";") and f"  {statement}" in output for statement in statements)
    assert golden.manifest(folder)["changefeed"]["protocol"] == "open-protocol"
    assert (folder / "messages.jsonl").stat().st_size
    assert json.loads((folder / "request.json").read_text("utf-8"))["level"] in ("decode", "apply")

    assert main(shlex.split(outcome["replay"])[1:]) == 1
    assert outcome["reasons"][0] in capsys.readouterr().out
    assert conformance("--replay", folder, "--testee", SAMPLE) == 0
    assert capsys.readouterr().out == "passed\n"

    (example,) = regressions(saved)
    assert example.text.splitlines() == statements
    assert conformance(*first, "--examples", "1", "--json") == 1
    again = json.loads(capsys.readouterr().out)
    assert (again["regressions"], again["examples"], again["failure"]["example"]) == (1, 0, 0)
    assert [*regressions(saved)] == [example]


def test_a_golden_folder_is_shrunk(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The folder has no scenario: its events are the statements."""
    statements = (
        "CREATE TABLE test.t (k INT PRIMARY KEY, v VARBINARY(9), w DECIMAL(9,2))",
        "CREATE TABLE test.u (k INT PRIMARY KEY)",
        "INSERT INTO test.t VALUES (1, x'ff00', 2.5), (2, 'it''s', NULL)",
        "UPDATE test.t SET w = 3 WHERE k = 2",
        "INSERT INTO test.u VALUES (7)",
        "TRUNCATE TABLE test.t",
    )
    example = FuzzExample(
        sql=statements, protocol="open-protocol", partitions=3, inject=("duplicate-message:rate=1",)
    )
    write_small_folder(tmp_path / "golden", build_topic(example).job)
    testee = program(tmp_path, TRUNCATES.format(folder=str(ROOT / "examples")))
    options = ("--testee", testee, "--save", tmp_path / "failures", "--level", "apply")
    assert conformance("--shrink", tmp_path / "golden", *options) == 1
    (folder,) = [path for path in (tmp_path / "failures").iterdir() if path.is_dir()]
    sql = (folder / "scenario.sql").read_text("utf-8")
    assert sql.count(";\n") <= 4
    assert "TRUNCATE TABLE `test`.`t`" in sql
    assert json.loads((folder / "example.json").read_text("utf-8"))["partitions"] == 1
    assert f"saved: {folder}" in capsys.readouterr().out
    assert conformance("--shrink", folder, "--testee", SAMPLE) == 0
    assert "nothing to shrink" in capsys.readouterr().out


def test_a_scenario_is_shrunk(wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = tmp_path / "long.yaml"
    scenario.write_text(
        "version: 1\n"
        "changefeed: {sink-uri: 'kafka:///x?protocol=open-protocol&partition-num=2'}\n"
        "steps:\n"
        "  - sql: |\n"
        "      CREATE TABLE t (k BIGINT PRIMARY KEY, v INT);\n"
        "      INSERT INTO t VALUES (1, 2), (9223372036854775807, 3), (5, 5);\n"
        "  - txn: DELETE FROM t WHERE k = 1; UPDATE t SET v = 8;\n",
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert conformance("--shrink", scenario, "--testee", wrong) == 1
    (folder,) = [path for path in (tmp_path / "conformance-failures").iterdir() if path.is_dir()]
    assert (folder / "scenario.sql").read_text("utf-8") == (
        "CREATE TABLE t (k BIGINT PRIMARY KEY);\nINSERT INTO t VALUES (9223372036854775807);\n"
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--fuzz",), "--fuzz requires --testee"),
        (("--fuzz", "--testee", "x", "--filter", "*"), "--filter is an option of written cases"),
        (("--fuzz", "--testee", "x", "--time", "soon"), "--time"),
        (("--fuzz", "--testee", ""), "ticdc-producer: --testee is empty\n"),
        (("--testee", "x", "--examples", "5"), "--examples requires --fuzz"),
        (("--replay", "a", "--seed", "0"), "--seed requires --fuzz"),
        (("--replay", "a", "--shrink", "b"), "--replay and --shrink cannot be combined"),
        (("--shrink", "nowhere.sql", "--testee", "x"), "cannot read the scenario"),
        (("--shrink", "bank", "--testee", "x"), "sql and txn cannot be cut (run it with --out, and name"),
    ],
)
def test_what_is_refused(options: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert conformance(*options) == 2
    assert reason in capsys.readouterr().err


def test_a_folder_without_ddl_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    example = FuzzExample(
        sql=("CREATE TABLE t (k INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"), protocol="debezium"
    )
    write_small_folder(tmp_path / "golden", build_topic(example).job)
    assert conformance("--shrink", tmp_path / "golden", "--testee", "x") == 2
    assert "no DDL events" in capsys.readouterr().err


def test_a_damaged_regression_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "regressions.jsonl").write_text('{"sql": 5}\n', "utf-8")
    assert conformance("--fuzz", "--testee", "x", "--save", tmp_path) == 2
    assert "regressions.jsonl:1" in capsys.readouterr().err
