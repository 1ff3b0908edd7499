"""The apply level: requests, comparison of rows, and saved failures."""

from __future__ import annotations

import json
import resource
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import msgspec
import pytest
from junitparser import JUnitXml

from tests.conformance.seed_topic import CASE, ROWS, TABLE, apply_spec, own_cache
from tests.conformance.testees import answering
from ticdc_producer.cli import main
from ticdc_producer.conformance.case import build_apply_case
from ticdc_producer.errors import StorageError
from ticdc_producer.resources import bundled_dir

ROOT = Path(__file__).parents[2]
SAMPLE = shlex.join([sys.executable, str(ROOT / "examples" / "testee_python_apply.py")])
RIGHT = f"answer(case=case, tables={{{TABLE!r}: {ROWS!r}}})"
WRONG = f"answer(case=case, tables={{{TABLE!r}: {[ROWS[0], ROWS[1] | {'id': '5'}]!r}}})"


@pytest.fixture(scope="module", autouse=True)
def _one_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


def applied(*options: str | Path) -> int:
    return main(["conformance", "--level", "apply", "--filter", CASE, *map(str, options)])


def test_the_request_has_the_whole_topic_and_the_published_format() -> None:
    case = build_apply_case(apply_spec(), lambda _: None)
    request = msgspec.to_builtins(case.request)
    assert (request["level"], request["tables"], request["resolved_ts"]) == ("apply", [TABLE], None)
    for message in request["messages"]:
        assert set(message) == {"topic", "partition", "offset", "key", "value"}
    assert {message["partition"] for message in request["messages"]} == {0, 1, 2}
    schema = json.loads((bundled_dir("schemas") / "conformance.schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(request)
    validator.validate({"case": CASE, "tables": {TABLE: ROWS}})
    assert not validator.is_valid({"case": CASE, "tables": {TABLE: [ROWS[0]["id"]]}})


def test_a_topic_is_made_once(tmp_path: Path) -> None:
    statuses: list[str] = []
    with own_cache(tmp_path):
        for _ in range(2):
            build_apply_case(apply_spec(), statuses.append)
    assert len(statuses) == 1


def test_a_topic_that_failed_is_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a compiled module would be cut off, too
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    with own_cache(tmp_path):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, unlimited[1]))  # as if the disk were full
        try:
            with pytest.raises(StorageError, match="File too large"):
                build_apply_case(apply_spec(), lambda _: None)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        assert list((tmp_path / "topics").iterdir()) == []
        assert build_apply_case(apply_spec(), lambda _: None).expected


@pytest.mark.parametrize(
    ("answer", "status", "output"),
    [
        (RIGHT, 0, "passed 1"),
        (WRONG, 1, "table test.t1: 1 missing, 1 extra"),
        ("answer(case=case, tables={})", 1, "table test.t1 is missing, with 2 rows"),
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
    rows = (folder / "state" / "test.t1.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row) for row in rows] == ROWS
    capsys.readouterr()
    assert main(["decode", "--in", str(folder), "--format", "jsonl"]) == 0
    events = (build_apply_case(apply_spec(), lambda _: None).golden / "events.jsonl").read_text("utf-8")
    assert len(capsys.readouterr().out.splitlines()) == len(events.splitlines()) > 7
    _, *replay = shlex.split(json.loads((folder / "outcome.json").read_text("utf-8"))["replay"])
    assert main(replay) == 1


def test_the_sample_has_the_expected_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert applied("--testee", SAMPLE) == 0
    assert "passed 1" in capsys.readouterr().out


def test_list_needs_no_topic(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path / "cache"))
    assert main(["conformance", "--list", "--level", "apply", "--protocol", "craft"]) == 0
    listed = capsys.readouterr().out.split()
    assert all(name.split(".")[1:3] == ["craft", "apply"] for name in listed)
    assert {name.split(".")[0] for name in listed} == {"required", "recommended"}
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
