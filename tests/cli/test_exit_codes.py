"""Exit code 0 and a JUnit report without a failure mean the same, whatever was run or verified."""

from __future__ import annotations

from pathlib import Path

import pytest
from junitparser import JUnitXml, TestCase
from pyspark.sql import SparkSession

from ticdc_producer.cli import main

FAULTY = str(Path(__file__).parents[1] / "runs" / "faulty.yaml")


def cases(path: Path) -> dict[str, TestCase]:
    """The cases of a report of one suite, by name."""
    (suite,) = JUnitXml.fromfile(str(path))
    return {str(case.name): case for case in suite}


@pytest.mark.parametrize(
    ("faults", "verified"),
    [
        ((), True),
        (("duplicate-event:rate=0.1",), True),
        (("lost-row",), False),
        (("lost-row", "early-resolved", "poison"), False),
        (("mixed-kinds",), True),
        (("lost-row:times=40",), False),
    ],
)
def test_exit_codes_agree_with_junit(
    spark: SparkSession, tmp_path: Path, faults: tuple[str, ...], verified: bool
) -> None:
    folder, report = tmp_path / "out", tmp_path / "junit.xml"
    inject = [word for name in faults for word in ("--inject", name)]
    code = main(["run", FAULTY, "-q", "--out", str(folder), "--junit-xml", str(report), *inject])
    assert code == (1 if any(case.is_failure for case in cases(report).values()) else 0)
    assert code == 0, "what was injected on request is no failure"
    code = main(["verify", "-q", "--in", str(folder), "--junit-xml", str(report)])
    assert code == (1 if any(case.is_failure for case in cases(report).values()) else 0)
    assert code == (0 if verified else 1), "who verifies the folder requested no fault"


def test_what_was_injected_on_request_passes_with_a_text(spark: SparkSession, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    inject = ["--inject", "lost-row", "--inject", "poison"]
    assert (
        main(["run", FAULTY, "-q", "--out", str(tmp_path / "out"), "--junit-xml", str(report), *inject]) == 0
    )
    by_name = cases(report)
    assert all(case.is_passed or case.is_skipped for case in by_name.values())
    assert "reported, as injected: lost-row, poison" in str(by_name["expected-events"].system_out)
    assert "reported, as injected: poison" in str(by_name["INV-FRAME"].system_out)
    assert "reported by EXPECTED-EVENTS" in str(by_name["fault:lost-row"].system_out)


def test_the_cases_share_the_time_of_the_verification(spark: SparkSession, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    assert main(["run", "seed_t1", "-q", "--out", str(tmp_path / "out"), "--junit-xml", str(report)]) == 0
    (suite,) = JUnitXml.fromfile(str(report))
    assert suite.time > 0
    assert [case.time for case in suite] == pytest.approx([suite.time / suite.tests] * suite.tests, abs=1e-5)
