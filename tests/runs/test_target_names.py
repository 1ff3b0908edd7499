"""Tables that are sent under other names: messages, files, dispatch, conflicts and the expected rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ticdc_producer
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic

SQL = """
CREATE DATABASE source_db; USE source_db;
CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(9) DEFAULT 'x');
INSERT INTO users VALUES (1, 'a'), (2, 'b'), (3, 'c');
CREATE TABLE orders (id INT PRIMARY KEY, u INT) PARTITION BY HASH (id) PARTITIONS 2;
INSERT INTO orders VALUES (1, 1), (2, 2);
ALTER TABLE users ADD COLUMN n INT DEFAULT 5;
UPDATE users SET n = 6 WHERE id = 1;
CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b LIKE a;
INSERT INTO a VALUES (1); INSERT INTO b VALUES (2);
RENAME TABLE a TO c, b TO d;
DELETE FROM c; UPDATE d SET id = 3;
TRUNCATE TABLE c; DROP TABLE c;
"""
RULES: list[dict[str, Any]] = [
    {
        "matcher": ["source_db.*"],
        "target-schema": "target_db",
        "target-table": "{table}_routed",
        "partition": "index-value",
        "topic": "{schema}_{table}",
    }
]
CONFIG = {"sink": {"dispatchers": RULES}}
OWN = {"sink": {"dispatchers": [{key: value for key, value in RULES[0].items() if "target" not in key}]}}
PROTOCOLS = (
    "open-protocol",
    "canal-json&enable-tidb-extension=true",
    "debezium&enable-tidb-extension=true&output-ddl=true",
    "simple",
    "simple&encoding-format=avro",
    "avro&enable-tidb-extension=true&avro-enable-watermark=true",
)
ROUTED = {("target_db", f"{table}_routed") for table in ("users", "orders", "a", "b", "c", "d")}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "routed.sql"
    path.write_text(SQL, "utf-8")
    return path


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_messages_and_rows_have_the_names_of_the_rules(scenario: Path, tmp_path: Path, protocol: str) -> None:
    uri, out = f"kafka:///t?profile=new&partition-num=2&protocol={protocol}", tmp_path / "out"
    report = ticdc_producer.run(scenario, sink_uri=uri, config=CONFIG, out=out, engine="local")
    assert report.ok, report.to_json()
    verdict = ticdc_producer.verify(folder=out, scenario=str(scenario), engine="local")
    assert verdict.ok
    assert not verdict.of_severity("error", "warning")
    rows = list(ticdc_producer.decode(folder=out))
    assert {(row["schema"], row["table"]) for row in rows if row["kind"] == "row"} <= ROUTED
    assert not any("source_db" in (row["query"] or "") for row in rows)
    assert {path.name for path in (out / "state").iterdir()} == {
        f"target_db.{table}_routed.jsonl" for table in ("users", "orders", "d")
    }


def test_rules_of_topics_and_partitions_apply_to_the_names_upstream(scenario: Path) -> None:
    def positions(config: dict[str, Any]) -> pa.Table:
        uri = "kafka:///t?profile=new&partition-num=3&protocol=open-protocol"
        messages = simulated_topic(prepare(scenario, sink_uri=uri, config=config)).messages
        return messages.select(["topic", "partition", "offset", "type"])

    assert positions(CONFIG) == positions(OWN)
    assert "source_db_users" in positions(CONFIG).column("topic").to_pylist()


def test_files_are_in_the_directories_of_the_names(scenario: Path, tmp_path: Path) -> None:
    report = ticdc_producer.run(
        scenario, sink_uri=f"file://{tmp_path}/out?profile=new&protocol=csv", config=CONFIG, engine="local"
    )
    assert report.ok, report.to_json()
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_dir()] == ["target_db"]
    names = {path.name for path in (tmp_path / "out" / "target_db").iterdir()} - {"meta"}
    assert names == {table for _, table in ROUTED}
    data = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("CDC*.csv"))
    assert b'"users_routed","target_db"' in data
    what = "topics and partitions of dispatchers have no effect: a storage has no topics and partitions"
    assert [warning for warning in report.warnings if "dispatchers" in warning] == [what]


def test_generated_rows_have_the_names(tmp_path: Path) -> None:
    rules = [{"matcher": ["bank.*"], "target-schema": "copy_of_{schema}"}]
    report = ticdc_producer.run(
        "bank",
        sink_uri="kafka:///t?profile=new",
        config={"sink": {"dispatchers": rules}},
        overrides=["steps[1].generate.transactions=50"],
        out=tmp_path / "out",
        engine="local",
    )
    assert report.ok, report.to_json()
    assert [path.name for path in (tmp_path / "out" / "state").iterdir()] == ["copy_of_bank.accounts.jsonl"]


CONFLICTS = {
    "two databases": "CREATE DATABASE a; CREATE TABLE a.t (i INT PRIMARY KEY);\n"
    "CREATE DATABASE b; CREATE TABLE b.t (i INT PRIMARY KEY);",
    "a rename": "CREATE DATABASE a; CREATE TABLE a.t (i INT PRIMARY KEY);\n"
    "CREATE DATABASE b; CREATE TABLE b.u (i INT PRIMARY KEY); RENAME TABLE b.u TO b.t;",
}
ONE_AFTER_THE_OTHER = {
    "after DROP TABLE": f"{CONFLICTS['two databases'].partition('CREATE DATABASE b')[0]} DROP TABLE a.t;"
    "CREATE DATABASE b; CREATE TABLE b.t (i INT PRIMARY KEY);",
    "after DROP DATABASE": f"{CONFLICTS['two databases'].partition('CREATE DATABASE b')[0]} DROP DATABASE a;"
    "CREATE DATABASE b; CREATE TABLE b.t (i INT PRIMARY KEY);",
}
TO_X = {"sink": {"dispatchers": [{"matcher": ["*.*"], "target-schema": "x"}]}}


@pytest.mark.parametrize("sql", CONFLICTS.values(), ids=CONFLICTS)
def test_two_tables_of_one_name_are_refused_with_their_line(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "conflict.sql"
    path.write_text(sql, "utf-8")
    with pytest.raises(ChangefeedError, match="is mapped by both source `a`") as error:
        prepare(path, sink_uri="kafka:///t?profile=new", config=TO_X)
    assert error.value.where.endswith("conflict.sql:2")


@pytest.mark.parametrize("sql", ONE_AFTER_THE_OTHER.values(), ids=ONE_AFTER_THE_OTHER)
def test_a_name_is_free_after_its_table(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "free.sql"
    path.write_text(sql, "utf-8")
    prepare(path, sink_uri="kafka:///t?profile=new", config=TO_X)


def test_a_database_of_several_targets_is_refused(scenario: Path) -> None:
    rules = [{"matcher": [f"source_db.{table}"], "target-schema": table} for table in ("users", "orders")]
    with pytest.raises(ChangefeedError, match="ambiguous schema routing for schema source_db"):
        prepare(scenario, sink_uri="kafka:///t?profile=new", config={"sink": {"dispatchers": rules}})


def test_without_a_scenario_rules_of_dispatch_are_unknown(scenario: Path, tmp_path: Path) -> None:
    uri, out = "kafka:///t?profile=new&partition-num=2", tmp_path / "out"
    ticdc_producer.run(scenario, sink_uri=uri, config=CONFIG, out=out, engine="local")
    verdict = ticdc_producer.verify(folder=out, engine="local")
    assert verdict.ok
    unchecked = {finding.id for finding in verdict.of_severity("not checked")}
    assert {"INV-TOPIC", "INV-ROW-PARTITION"} <= unchecked
