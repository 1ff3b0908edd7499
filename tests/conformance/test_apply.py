"""The apply level: requests, comparison of rows, and saved failures."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest
from junitparser import JUnitXml

from tests.conformance.hand_made import CASE, ROW, apply_spec, use_fake_topics
from tests.conformance.testees import answering
from ticdc_producer.cli import main
from ticdc_producer.conformance.case import build_apply_case
from ticdc_producer.errors import FolderError
from ticdc_producer.resources import bundled_dir

ROOT = Path(__file__).parents[2]
SAMPLE = shlex.join([sys.executable, str(ROOT / "examples" / "testee_python_apply.py")])
RIGHT = f"answer(case=case, tables={{'test.accounts': [{ROW!r}]}})"
WRONG = f"answer(case=case, tables={{'test.accounts': [{ROW | {'id': '3'}!r}]}})"


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_fake_topics(monkeypatch, tmp_path / "cache")


def applied(*options: str | Path) -> int:
    return main(["conformance", "--level", "apply", "--filter", CASE, *map(str, options)])


def test_the_request_has_the_whole_topic_and_the_published_format() -> None:
    case = build_apply_case(apply_spec(), lambda _: None)
    request = msgspec.to_builtins(case.request)
    assert (request["level"], request["tables"], request["resolved_ts"]) == ("apply", ["test.accounts"], None)
    (message,) = request["messages"]
    assert set(message) == {"topic", "partition", "offset", "key", "value"}
    schema = json.loads((bundled_dir("schemas") / "conformance.schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(request)
    validator.validate({"case": CASE, "tables": {"test.accounts": [ROW]}})
    assert not validator.is_valid({"case": CASE, "tables": {"test.accounts": [ROW["id"]]}})


def test_a_topic_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = use_fake_topics(monkeypatch, tmp_path / "another")
    statuses: list[str] = []
    for _ in range(2):
        build_apply_case(apply_spec(), statuses.append)
    assert len(made) == len(statuses) == 1


def test_a_topic_that_failed_is_not_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> None:
        raise FolderError("disk full", path="cache")

    with monkeypatch.context() as patched:
        patched.setattr("ticdc_producer.runs.topic_cache._make", broken)
        with pytest.raises(FolderError):
            build_apply_case(apply_spec(), lambda _: None)
    assert list((tmp_path / "cache" / "topics").iterdir()) == []
    assert build_apply_case(apply_spec(), lambda _: None).expected


@pytest.mark.parametrize(
    ("answer", "status", "output"),
    [
        (RIGHT, 0, "passed 1"),
        (WRONG, 1, "table test.accounts: 1 missing, 1 extra"),
        ("answer(case=case, tables={})", 1, "table test.accounts is missing, with 1 rows"),
        ("answer(case=case, error='no')", 1, "an error, expected tables: no"),
        ("answer(case=case, skipped='later')", 0, "skipped 1"),
        ("answer(case=case, events=[])", 1, "one of tables, error and skipped"),
        ("sys.exit(7)", 1, "it ended with status 7"),
    ],
)
def test_an_answer_is_verified(
    answer: str, status: int, output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert applied("--testee", answering(tmp_path, answer)) == status
    assert output in capsys.readouterr().out


def test_a_testee_that_hangs_fails_after_the_timeout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = answering(tmp_path, "time.sleep(1000)")
    assert applied("--testee", command, "--timeout", "500ms") == 1
    assert "no answer within 0.5 s" in capsys.readouterr().out


def test_a_failure_list_holds_cases_of_both_levels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.failures"
    known.write_text(f"required.open-protocol.types.*\n{CASE}\n", "utf-8")
    assert applied("--testee", answering(tmp_path, WRONG), "--failures", known) == 0
    assert applied("--testee", answering(tmp_path, RIGHT), "--failures", known) == 1
    assert f"unexpected success: {CASE}" in capsys.readouterr().out


def test_a_failing_topic_is_saved_as_a_golden_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, report = tmp_path / "saved", tmp_path / "junit.xml"
    command = answering(tmp_path, WRONG)
    assert applied("--testee", command, "--save", saved, "--junit-xml", report) == 1
    (suite,) = JUnitXml.fromstring(report.read_bytes())
    assert [case.name for case in suite] == ["apply.seed_t1"]
    folder = saved / CASE
    rows = (folder / "state" / "test.accounts.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row) for row in rows] == [ROW]
    capsys.readouterr()
    assert main(["decode", "--in", str(folder), "--format", "jsonl"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    _, *replay = shlex.split(json.loads((folder / "outcome.json").read_text("utf-8"))["replay"])
    assert main(replay) == 1


def test_the_sample_has_the_expected_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert applied("--testee", SAMPLE) == 0
    assert "passed 1" in capsys.readouterr().out


def test_list_needs_no_topic(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["conformance", "--list", "--level", "apply", "--protocol", "craft"]) == 0
    listed = capsys.readouterr().out.split()
    assert all(one.split(".")[1:3] == ["craft", "apply"] for one in listed)
    assert {one.split(".")[0] for one in listed} == {"required", "recommended"}
    assert main(["conformance", "--list", "--level", "decode", "--level", "apply", "--filter", CASE]) == 0
    assert capsys.readouterr().out.split() == [CASE]
    assert not (tmp_path / "cache").exists()


def test_the_decode_level_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--list"]) == 0
    assert ".apply." not in capsys.readouterr().out


def test_the_sample_needs_nothing_but_python_and_the_other_sample() -> None:
    text = (ROOT / "examples" / "testee_python_apply.py").read_text("utf-8")
    imported = {
        line.split()[1].partition(".")[0]
        for line in text.splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imported <= sys.stdlib_module_names | {"testee_python"}
    assert len(text.splitlines()) < 150
