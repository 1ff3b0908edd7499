"""Bugs that only restarts reveal are found in random histories; right consumers in four languages survive."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.restart.bugs import BUGS, TESTEES, RestartBug, bug, command
from tests.conformance.restart.survival import failures
from tests.conformance.restart.table import EXAMPLES, SEEDS, settings
from tests.conftest import EXHAUSTIVE
from ticdc_producer.conformance.fuzz.campaign import CampaignLimits, Report, run_campaign
from ticdc_producer.conformance.fuzz.shrink import first_wrong
from ticdc_producer.conformance.fuzz.testee import Process
from ticdc_producer.conformance.restart.case import RestartCase

ROOT = Path(__file__).parents[3]


def campaign(testee: str, seed: int, examples: int) -> Report:
    return run_campaign(Process(testee, 120, reset=True), settings(seed), CampaignLimits(examples=examples))


def is_wrong(testee: str, report: Report) -> bool:
    """Whether a testee gets the shrunk example of a report wrong."""
    assert report.failure is not None
    example = report.failure.smallest

    async def answer() -> bool:
        process = Process(testee, 120, reset=True)
        try:
            return await first_wrong(process, example) is not None
        finally:
            await process.close()

    return asyncio.run(answer())


def assert_is_found(change: RestartBug, seed: int, folder: Path) -> None:
    """A bug is found and shrunk; the failure is that of a restart, and not of the right consumer."""
    wrong = command(change.language, folder / "wrong", change)
    report = campaign(wrong, seed, EXAMPLES)
    assert report.failure is not None
    assert report.failure.smallest.lives
    assert report.failure.smallest.statements <= report.failure.original.statements
    assert is_wrong(wrong, report)
    assert not is_wrong(command(change.language, folder / "right"), report)


def test_a_bug_in_python_is_found(tmp_path: Path) -> None:
    assert_is_found(bug("stores the resolved-ts before the rows"), 2, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS if EXHAUSTIVE else SEEDS[:1])
@pytest.mark.parametrize("change", BUGS, ids=lambda change: f"{change.language}: {change.name}")
def test_every_bug_is_found(change: RestartBug, seed: int, tmp_path: Path) -> None:
    assert_is_found(change, seed, tmp_path)


@pytest.mark.slow
def test_offsets_before_effects_are_shrunk_to_two_statements_and_a_stop(tmp_path: Path) -> None:
    wrong = command("go", tmp_path, bug("commits the offsets before the effects"))
    only = replace(settings(1), protocols=("canal-json",))
    failure = run_campaign(Process(wrong, 120, reset=True), only, CampaignLimits(examples=30)).failure
    assert failure is not None
    assert (failure.smallest.statements, len(failure.smallest.lives)) == (2, 1)
    assert isinstance(failure.wrong.case, RestartCase)
    page = (ROOT / "docs" / "conformance.md").read_text("utf-8")
    lines = "\n".join(f"  {line}" for line in failure.smallest.text.splitlines())
    assert f"shrunk to 2\n{lines}\n" in page
    assert "\n".join(failure.wrong.case.log) in page


def test_the_bugs_are_in_four_languages_and_half_of_them_come_from_users_threads() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) == 20
    assert {bug.language for bug in BUGS} == set(TESTEES)
    assert len({bug.source for bug in BUGS if bug.source}) == 10


@pytest.mark.parametrize("language", ["python", "node"])
def test_a_right_consumer_survives_fifty_restarts(language: str, tmp_path: Path) -> None:
    assert asyncio.run(failures(command(language, tmp_path), 1, 50))[1] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "seed"),
    [
        *(("python", seed) for seed in (SEEDS if EXHAUSTIVE else (2,))),
        *((language, 2) for language in TESTEES if language != "python"),
    ],
)
def test_a_right_consumer_survives_many_restarts(language: str, seed: int, tmp_path: Path) -> None:
    number = 2000 if EXHAUSTIVE else 300
    assert asyncio.run(failures(command(language, tmp_path), seed, number))[1] == []
