"""TiCDC's programs ``kafka-consumer`` and ``storage-consumer`` fill a MariaDB from our topics and files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.consumer_state.servers import mariadb
from tests.faults.legal_together import TOGETHER
from tests.peers.ticdc_programs import LAST_STATEMENT, Target, consume_files, consume_topic
from ticdc_producer import api
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.scenario.load import shipped
from ticdc_producer.testing.topic import Golden, filled

pytestmark = pytest.mark.slow
SURVIVED = tuple(
    trap.id
    for trap in catalogue().values()
    if trap.legal and trap.mechanism != "scenario" and trap.kafka_consumer.startswith("Survives it")
)
"""The mix of legal traps that ``kafka-consumer`` survives, as ``traps show`` says."""
HISTORIES = {
    "rows": """
CREATE TABLE test.people (id INT PRIMARY KEY, name VARCHAR(20), born DATETIME(3), balance DECIMAL(10, 2));
INSERT INTO test.people VALUES
  (1, 'ann', '2001-02-03 04:05:06.789', 1.5), (2, NULL, NULL, -2), (3, '', NULL, 0);
UPDATE test.people SET balance = balance + 1;
UPDATE test.people SET id = 4 WHERE id = 2;
DELETE FROM test.people WHERE id = 3;
""",
    "swapped-keys": """
CREATE TABLE test.pairs (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE);
INSERT INTO test.pairs VALUES (1, 'a'), (2, 'b');
BEGIN;
UPDATE test.pairs SET id = 3 WHERE id = 1;
UPDATE test.pairs SET id = 1 WHERE id = 2;
UPDATE test.pairs SET id = 2 WHERE id = 3;
COMMIT;
""",
    "truncated": """
CREATE TABLE test.sizes (id INT PRIMARY KEY, n INT);
INSERT INTO test.sizes VALUES (1, 1), (2, 2);
TRUNCATE TABLE test.sizes;
INSERT INTO test.sizes VALUES (2, 3);
ALTER TABLE test.sizes ADD COLUMN note VARCHAR(10) DEFAULT 'new';
INSERT INTO test.sizes VALUES (3, 4, 'x');
""",
}


@dataclass(frozen=True)
class Case:
    """A scenario, and how it is run.

    :param scenario: a name of ``HISTORIES``, a shipped scenario, or a file.
    """

    scenario: str
    protocol: str
    traps: tuple[str, ...] = ()

    def file(self, folder: Path) -> Path:
        """The scenario with the statement that ends it."""
        if sql := HISTORIES.get(self.scenario):
            path, text = folder / f"{self.scenario}.sql", sql + LAST_STATEMENT
        else:
            source = shipped().get(self.scenario) or Path(self.scenario)
            yaml, path = source.read_text("utf-8"), folder / source.name
            text = f"{yaml}\n  - sql: {LAST_STATEMENT}\n"
        path.write_text(text, "utf-8")
        return path


OPEN, CANAL = "open-protocol&partition-num=3", "canal-json&enable-tidb-extension=true&partition-num="
# Without DDLs the program does not know the tables.
DEBEZIUM = "debezium&enable-tidb-extension=true&output-ddl=true&partition-num=1"
CANAL_FILES = "canal-json&enable-tidb-extension=true"
TOPICS = {
    **{f"{name}-open": Case(name, OPEN) for name in HISTORIES},
    **{f"{name}-canal": Case(name, f"{CANAL}1") for name in HISTORIES},
    **{f"{name}-debezium": Case(name, DEBEZIUM) for name in HISTORIES},
    "ddl-mix-open": Case("ddl-mix", OPEN),
    # With several partitions of Canal-JSON this is the trap schema-change, at which the program panics.
    "ddl-mix-canal": Case("ddl-mix", f"{CANAL}1"),
    "traps": Case(str(TOGETHER), OPEN, SURVIVED),
}


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with mariadb() as server:
        yield Target(server)


@pytest.mark.parametrize("name", TOPICS)
def test_kafka_consumer_ends_with_the_rows(
    kafka_consumer: None, name: str, target: Target, kafka: EmbeddedKafka, spark: SparkSession, tmp_path: Path
) -> None:
    case, golden = TOPICS[name], tmp_path / "golden"
    uri = f"kafka:///peers?protocol={case.protocol}"
    assert api.run(case.file(tmp_path), sink_uri=uri, out=golden, inject=case.traps).ok
    with filled(Golden(golden), kafka.bootstrap, f"kafka-consumer-{name}", keep=False) as topic:
        consume_topic(topic, target, tmp_path)
    outcome = api.verify_state(golden, target.url)
    assert outcome.ok, outcome.to_json()


@pytest.mark.parametrize("protocol", ["csv", CANAL_FILES])
@pytest.mark.parametrize("scenario", [*HISTORIES, "ddl-mix"])
def test_storage_consumer_ends_with_the_rows(
    storage_consumer: None, scenario: str, protocol: str, target: Target, spark: SparkSession, tmp_path: Path
) -> None:
    file, config = Case(scenario, protocol).file(tmp_path), tmp_path / "changefeed.toml"
    # Without their commit-ts the program applies no rows.
    config.write_text("[sink.csv]\ninclude-commit-ts = true\n", "utf-8")
    uri = f"file://{tmp_path}/files?protocol={protocol}"
    assert api.run(file, sink_uri=uri, config=config).ok
    assert api.run(file, sink_uri="kafka:///peers?protocol=open-protocol", out=tmp_path / "golden").ok
    consume_files(tmp_path / "files", protocol, config, target, tmp_path)
    outcome = api.verify_state(tmp_path / "golden", target.url)
    assert outcome.ok, outcome.to_json()
