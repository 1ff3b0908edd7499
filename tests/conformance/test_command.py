"""The command: selected cases, output, files and exit codes."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.conformance.testees import answering
from ticdc_producer.cli import main
from ticdc_producer.conformance.case_spec import decode_cases

ROOT = Path(__file__).parents[2]
SAMPLE = shlex.join([sys.executable, str(ROOT / "examples" / "testee_python.py")])
SAMPLE_FAILURES = ROOT / "examples" / "testee_python.failures"
LARGEST = "required.open-protocol.types.bigint-unsigned-max"


def conformance(*options: str | Path) -> int:
    return main(["conformance", *map(str, options)])


def test_the_sample_testee_fails_only_the_listed_cases(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--protocol", "open-protocol", "--protocol", "canal-json", "--failures", SAMPLE_FAILURES)
    assert conformance("--testee", SAMPLE, "--json", *options) == 0
    report = json.loads(capsys.readouterr().out)
    expected = [spec.id for spec in decode_cases() if spec.protocol in ("open-protocol", "canal-json")]
    assert [case["case"] for case in report["cases"]] == expected
    skipped = {case["case"].rpartition(".")[2] for case in report["cases"] if case["outcome"] == "skipped"}
    assert skipped == {"snappy", "lz4"}
    assert report["ok"]


def test_the_sample_testee_needs_nothing_but_python() -> None:
    text = (ROOT / "examples" / "testee_python.py").read_text("utf-8")
    imported = {line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= sys.stdlib_module_names
    assert len(text.splitlines()) < 150


def test_list_takes_filters_and_needs_no_testee(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--filter", "*.types.bigint-unsigned-max", "--filter", "*.damaged.garbage")
    assert conformance("--list", "--protocol", "open-protocol", *options) == 0
    assert capsys.readouterr().out.split() == [LARGEST, "required.open-protocol.damaged.garbage"]
    assert conformance("--list", "--json", "--filter", LARGEST) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"case": LARGEST, "says": "A value of BIGINT UNSIGNED: max"}
    ]


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    """A testee that parses every number as a float64."""
    event = {
        "kind": "row", "commit_ts": 429918008166580226, "schema": "test", "table": "t", "op": "insert",
        "after": {"id": "1", "v": "18446744073709552000"},
    }  # fmt: skip
    return answering(tmp_path, f"answer(case=case, events=[{event!r}])")


def test_a_failure_is_reported_with_its_difference_and_saved(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, junit = tmp_path / "failing" / "cases", tmp_path / "junit.xml"
    options = ("--filter", LARGEST, "--save", saved, "--junit-xml", junit)
    assert conformance("--testee", wrong, *options) == 1
    difference = 'event 0: after["v"] is "18446744073709552000", expected "18446744073709551615"'
    assert difference in capsys.readouterr().out
    (path,) = saved.iterdir()
    content = json.loads((path / "outcome.json").read_text("utf-8"))
    rounded = " (only rounded to a float64, which holds integers up to 2^53: read it as a 64-bit integer)"
    assert (path.name, content["reasons"]) == (LARGEST, [difference + rounded])
    (suite,) = JUnitXml.fromstring(junit.read_bytes())
    (case,) = suite
    assert (case.classname, case.name) == (
        "conformance.required.open-protocol", "types.bigint-unsigned-max",
    )  # fmt: skip
    assert difference in str(case.result[0].text)
    _, *replay = shlex.split(content["replay"])
    assert main([*replay, "--save", str(saved)]) == 1
    assert difference in capsys.readouterr().out
    assert main(["decode", "--in", str(path), "--format", "jsonl"]) == 0
    (decoded,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (expected,) = [json.loads(line) for line in (path / "events.jsonl").read_text("utf-8").splitlines()]
    assert decoded == expected


def test_a_failure_list_makes_failures_expected_and_successes_not(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.failures"
    known.write_text(f"# float64\n\n{LARGEST}  # to be done\n", "utf-8")
    assert conformance("--testee", wrong, "--filter", LARGEST, "--failures", known) == 0
    assert "expected failure 1" in capsys.readouterr().out
    known.write_text("required.open-protocol.types.*", "utf-8")
    assert conformance("--testee", SAMPLE, "--filter", LARGEST, "--failures", known) == 1
    assert f"unexpected success: {LARGEST}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--filter", LARGEST], "--testee"),
        (["--testee", SAMPLE, "--filter", "required.open-protocol.types.bigint-unsigned-maxx"], LARGEST),
        (["--testee", SAMPLE, "--protocol", "craft", "--filter", LARGEST], "no case matches"),
        (["--testee", SAMPLE, "--protocol", "csv"], "csv"),
        (["--testee", SAMPLE, "--timeout", "5"], "--timeout"),
        (["--testee", SAMPLE, "--failures", "nowhere.failures"], "nowhere.failures"),
        (["--testee", SAMPLE, "--junit-xml", "no/such/folder.xml"], "folder.xml"),
        (["--testee", "'"], "cannot be split"),
    ],
)
def test_bad_input_is_named(options: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert conformance(*options) == 2
    assert reason in capsys.readouterr().err


def test_a_stale_line_of_a_failure_list_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = tmp_path / "known.failures"
    known.write_text(f"# one\n{LARGEST}\nrequired.open-protocol.types.bigint-maxx\n", "utf-8")
    assert conformance("--list", "--failures", known) == 2
    err = capsys.readouterr().err
    assert f"{known}:3" in err
    assert "required.open-protocol.types.bigint-max'" in err


def test_a_testee_that_does_not_start_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    command = shlex.join([sys.executable, "-c", "raise SystemExit('no such class')"])
    assert conformance("--testee", command, "--filter", LARGEST) == 3
    assert "no such class" in capsys.readouterr().err
