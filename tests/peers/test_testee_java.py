"""The sample testee in Java, on canal's own class for messages."""

from __future__ import annotations

import json

import pytest

from tests.peers.conftest import EXAMPLE
from ticdc_producer.cli import main

pytestmark = pytest.mark.slow
_SKIPPED = {"snappy", "lz4"}


def outcomes_of(command: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, str]:
    """Case id → outcome, for the Canal-JSON cases."""
    failures = ("--failures", str(EXAMPLE / "testee_java.failures"))
    usual = ("--protocol", "canal-json", "--timeout", "60s", "--json")
    assert main(["conformance", "--testee", command, *usual, *failures, *options]) == 0
    return {case["case"]: case["outcome"] for case in json.loads(capsys.readouterr().out)["cases"]}


def test_it_fails_only_the_listed_cases(java_testee: str, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = outcomes_of(java_testee, capsys)
    assert {case.rpartition(".")[2] for case, word in outcomes.items() if word == "skipped"} == _SKIPPED
    assert "expected failure" in outcomes.values()


def test_it_has_the_rows_of_every_topic(java_testee: str, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = outcomes_of(java_testee, capsys, "--level", "apply")
    altered = {case for case, word in outcomes.items() if word == "skipped"}
    assert {case.partition(".")[0] for case in altered} == {"recommended"}
    assert set(outcomes.values()) == {"passed", "skipped"}


def test_it_is_two_short_files() -> None:
    sources = {path.stem: path.read_text("utf-8") for path in (EXAMPLE / "src").rglob("*.java")}
    assert sources.keys() == {"Testee", "Restarts"}
    assert max(len(text.splitlines()) for text in sources.values()) < 200
