"""The runs behind the fixtures: their sink URI, and whether they are verified."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.reports.verdicts import finding, verdict
from ticdc_producer import api
from ticdc_producer.config import resolve
from ticdc_producer.errors import FolderError
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.testing.marker import MarkerArguments, parse_marker
from ticdc_producer.testing.runs import GoldenRuns, own_protocol, sink_uri

SCENARIO = """\
version: 1
name: mine
changefeed:
  sink-uri: "kafka://far:9092/mine?protocol=canal-json&partition-num=7&content-compatible=true"
steps:
  - sql: CREATE TABLE test.t (id INT PRIMARY KEY);
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO, "utf-8")
    return path


@pytest.mark.parametrize(
    ("protocol", "name", "partitions", "compatible"),
    [
        ("", "canal-json", 7, True),
        ("canal-json", "canal-json", 7, True),
        ("open-protocol", "open-protocol", 7, False),
        ("canal-json&content-compatible=false", "canal-json", 7, False),
        ("craft&partition-num=2", "craft", 2, False),
    ],
)
def test_options_of_the_scenario_are_retained_if_the_protocol_has_them(
    scenario: Path, protocol: str, name: str, partitions: int, compatible: bool
) -> None:
    changefeed = resolve(sink_uri(load_scenario(scenario), protocol))
    assert changefeed.sink_uri.embedded
    assert (changefeed.protocol, changefeed.partition_num) == (name, partitions)
    assert changefeed.content_compatible == compatible


def test_a_scenario_without_a_uri_has_the_default_one(tmp_path: Path) -> None:
    path = tmp_path / "a b.sql"
    path.write_text("CREATE TABLE test.t (id INT PRIMARY KEY);", "utf-8")
    assert resolve(sink_uri(load_scenario(path), "")).protocol == "open-protocol"
    assert resolve(sink_uri(load_scenario(path), "craft")).protocol == "craft"


def test_a_scenario_in_the_folder_of_the_test_comes_first(scenario: Path) -> None:
    assert own_protocol(MarkerArguments(scenario="mine.yaml"), test_folder=scenario.parent) == "canal-json"
    assert own_protocol(MarkerArguments(scenario="seed_t1"), test_folder=scenario.parent) == "open-protocol"


def test_a_run_is_verified_on_request_only(tmp_path: Path) -> None:
    reports: list[api.RunReport] = []

    def run(*arguments: Any, **options: Any) -> api.RunReport:
        reports.append(api.run(*arguments, **options))
        return reports[-1]

    seed = MarkerArguments(scenario="seed_t1")
    plain = GoldenRuns(lambda: tmp_path, run=run).golden(seed, "", test_folder=tmp_path)
    runs = GoldenRuns(lambda: tmp_path / "verified", verify=True, run=run)
    verified = runs.golden(seed, "", test_folder=tmp_path)
    assert [report.verdict is None for report in reports] == [True, False]
    assert [record.value for record in plain.records] == [record.value for record in verified.records]


def test_a_scenario_in_python_runs_once_for_equal_content(tmp_path: Path) -> None:
    folders = iter([tmp_path / "first", tmp_path / "second"])
    runs = GoldenRuns(lambda: next(folders))
    for number, expected in ((1, "first"), (1, "first"), (2, "second")):
        scenario = api.Scenario("s").sql(
            f"CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES ({number})"
        )
        arguments = parse_marker((), {"scenario": scenario, "protocol": "canal-json"})
        golden = runs.golden(arguments, "canal-json", test_folder=tmp_path)
        assert golden.folder == tmp_path / expected / "golden"
        assert own_protocol(arguments, test_folder=tmp_path) == "open-protocol"


def test_messages_that_violate_an_invariant_are_named(tmp_path: Path) -> None:
    wrong = verdict(finding("INV-RESOLVED", "error", 1))

    def run(*arguments: Any, **options: Any) -> api.RunReport:
        return replace(api.run(*arguments, **options), verdict=wrong)

    with pytest.raises(FolderError, match="INV-RESOLVED"):
        GoldenRuns(lambda: tmp_path, verify=True, run=run).golden(
            MarkerArguments(scenario="seed_t1"), "", test_folder=tmp_path
        )


def test_the_snapshot_of_a_changefeed_that_starts_later(tmp_path: Path) -> None:
    runs = GoldenRuns(lambda: tmp_path, verify=True)
    golden = runs.golden(MarkerArguments(scenario="from-dump"), "canal-json", test_folder=tmp_path)
    assert golden.start_ts == 429918009005441026
    assert {name: len(rows) for name, rows in golden.snapshot.items()} == {
        "shop.customers": 2, "shop.notes": 2, "shop.orders": 48, "shop.stock": 4,
    }  # fmt: skip
    assert golden.snapshot["shop.customers"][0] == {"id": "1", "name": "Ann", "email": "ann@example.com"}
