"""Debezium's JDBC sink writes our topics to PostgreSQL, and ``verify state`` compares the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.consumer_state.servers import postgres
from tests.peers.kafka_connect import PROJECT, jdbc_sink, kafka_connect
from tests.published_form import check, schema
from ticdc_producer.cli import main
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.testing.runs import GoldenRuns, MarkerArguments
from ticdc_producer.testing.topic import filled

pytestmark = pytest.mark.slow
_FEW = (
    "steps[1].generate.transactions=50",
    "steps[1].generate.tables[0].rows=20",
    "steps[1].generate.tables[1].rows=10",
)
SQL = {
    "truncated": """
CREATE TABLE test.sizes (id INT PRIMARY KEY);
CREATE TABLE test.colours (id INT PRIMARY KEY);
INSERT INTO test.sizes VALUES (1);
INSERT INTO test.colours VALUES (1), (2);
TRUNCATE TABLE test.colours;
INSERT INTO test.colours VALUES (3);
""",
    "spans": """
CREATE TABLE test.spans (id INT PRIMARY KEY, lasts TIME);
INSERT INTO test.spans VALUES (1, '-00:00:01');
""",
    "bits": """
CREATE TABLE test.bits (id INT PRIMARY KEY, flags BIT(16));
INSERT INTO test.bits VALUES (1, 65535);
""",
}
TOPICS = {
    "orders": MarkerArguments(scenario="orders", overrides=_FEW),
    "again": MarkerArguments(
        scenario="bank",
        overrides=("steps[1].generate.transactions=100", "steps[1].generate.rows=20"),
        traps=("replay-suffix:times=3", "duplicate-message:rate=0.2"),
    ),
    "types": MarkerArguments(scenario=str(PROJECT / "types.sql")),
    **{name: MarkerArguments(scenario=f"{name}.sql") for name in SQL},
}  # fmt: skip


@dataclass(frozen=True)
class Filled:
    """The database, and the golden folders of the topics.

    :param failures: topic → why its sink failed; empty if it did not.
    """

    url: str
    folders: dict[str, Path]
    failures: dict[str, str]

    def compared(self, topic: str, capsys: pytest.CaptureFixture[str]) -> Any:
        """The output of ``verify state --json``."""
        options = ["--expected", str(self.folders[topic]), "--actual", self.url, "--json", "-q"]
        code = main(["verify", "state", *options])
        report = json.loads(capsys.readouterr().out)
        check(report, schema("state.schema.json"))
        assert code == (not report["ok"])
        return report


@pytest.fixture(scope="module")
def database(
    spark: SparkSession,
    kafka: EmbeddedKafka,
    connect_jars: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Filled]:
    folder = tmp_path_factory.mktemp("jdbc")
    for name, sql in SQL.items():
        (folder / f"{name}.sql").write_text(sql, "utf-8")
    runs = GoldenRuns(lambda: tmp_path_factory.mktemp("golden"))
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        goldens = {
            name: runs.golden(arguments, "debezium&partition-num=3", test_folder=folder)
            for name, arguments in TOPICS.items()
        }
        for name, golden in goldens.items():
            stack.enter_context(filled(golden, kafka.bootstrap, f"sink-{name}", keep=True))
        sinks = [_sink(name, server) for name in TOPICS]
        connect = stack.enter_context(kafka_connect(folder, kafka.bootstrap, sinks))
        failures = {name: connect.done(f"sink-{name}") for name in TOPICS}
        yield Filled(
            f"{server}/postgres", {name: golden.folder for name, golden in goldens.items()}, failures
        )


def _sink(name: str, server: str) -> dict[str, str]:
    account, _, address = server.partition("://")[2].partition("@")
    user, _, password = account.partition(":")
    return jdbc_sink(f"sink-{name}", f"jdbc:postgresql://{address}/postgres", user, password)


@pytest.mark.parametrize("topic", ["orders", "again"])
def test_rows_are_as_expected(database: Filled, topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert database.failures[topic] == ""
    report = database.compared(topic, capsys)
    assert report["ok"], report
    assert all(table["actual_rows"] for table in report["tables"])


def test_only_byte_strings_and_wide_bits_differ(database: Filled, capsys: pytest.CaptureFixture[str]) -> None:
    assert database.failures["types"] == ""
    (table,) = database.compared("types", capsys)["tables"]
    assert (table["actual_rows"], table["missing"], table["extra"], table["different"]) == (3, 0, 0, 2)
    first, second = table["examples"]
    assert first["expected"] == {"c_binary": "\0\0\0\0"}
    assert first["actual"] == {"c_binary": "AAAAAA=="}
    assert second["actual"] == {
        "c_bits": "32768", "c_binary": "AP8Q/w==", "c_varbinary": "YWJjZA==", "c_blob": "/w==",
    }  # fmt: skip
    assert second["expected"]["c_bits"] == "128"


def test_a_truncated_table_keeps_its_rows(database: Filled, capsys: pytest.CaptureFixture[str]) -> None:
    assert database.failures["truncated"] == ""
    truncated, other = database.compared("truncated", capsys)["tables"]
    assert other["ok"]
    assert [(example["kind"], example["key"]) for example in truncated["examples"]] == [
        ("extra", {"id": "1"}), ("extra", {"id": "2"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("spans", "Invalid value for NanoOfDay (valid values 0 - 86399999999999): -1000000000"),
        ("bits", '"-" is not a valid binary digit'),
    ],
)
def test_a_value_that_stops_the_sink(
    database: Filled, topic: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in database.failures[topic]
    (table,) = database.compared(topic, capsys)["tables"]
    assert (table["missing"], table["actual_rows"]) == (1, 0)
