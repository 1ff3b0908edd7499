"""SQL after a ``generate`` step: the whole run verifies, on either engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.runs.test_change_log import by_partition, whole
from ticdc_producer import api
from ticdc_producer.engine import EngineOption
from ticdc_producer.simulate.prepare import prepare

HEAD = """\
version: 1
seed: 3
resolved: {every: 2s}
clock: {every: 1s}
changefeed:
  sink-uri: "kafka:///t?protocol=open-protocol&partition-num=3"
  sink: {dispatchers: [{matcher: ['*.*'], partition: index-value}]}
steps:
  - sql: |
      CREATE TABLE accounts (
        id BIGINT PRIMARY KEY, owner VARCHAR(40) NOT NULL UNIQUE, n INT, opened TIMESTAMP(3)
      );
      CREATE TABLE audit (id INT PRIMARY KEY, account BIGINT);
  - generate: {table: accounts, transactions: 40, rows-per-transaction: 4, rows: 30}
"""
DML = """\
  - sql: |
      UPDATE accounts SET n = 1 WHERE id IN (3, 4, 5);
      DELETE FROM accounts WHERE id IN (6, 7) AND n <> 5;
  - txn: |
      INSERT INTO accounts VALUES (1000, 'new', NULL, '2024-02-29 12:00:00'), (-1, 'first', 0, NULL);
      UPDATE accounts SET id = 2000 WHERE id = 8;
  - generate:
      table: audit
      transactions: 10
      mix: {insert: 1}
  - sql: |
      REPLACE INTO accounts VALUES (9, 'nine', 9, NULL);
      DELETE FROM accounts WHERE id = 1000;
"""
TRUNCATION = f"""\
{DML}      TRUNCATE TABLE accounts;
      INSERT INTO accounts VALUES (1, 'only', NULL, NULL);
"""
COLUMNS = f"""\
{DML}      ALTER TABLE accounts ADD COLUMN more INT NOT NULL DEFAULT 7 AFTER id;
      UPDATE accounts SET more = 8 WHERE id = 10;
      ALTER TABLE accounts DROP COLUMN n;
      ALTER TABLE accounts RENAME COLUMN opened TO since;
      INSERT INTO accounts VALUES (1000, 1, 'newer', '2024-02-29 12:00:00');
"""
BEHIND = {"DML": DML, "truncation": TRUNCATION, "columns": COLUMNS}
START = 429918007904436226


def after(*commits: int) -> list[int]:
    """The time stamps (TSO) of some commits."""
    return [START + (commit * 1000 << 18) for commit in commits]


@pytest.mark.slow  # fast: the next test, and ddl-mix in test_engines.py
@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND)
def test_both_engines_verify_and_write_the_same_files(
    spark: SparkSession, tmp_path: Path, behind: str
) -> None:
    scenario = tmp_path / "accounts.yaml"
    scenario.write_text(HEAD + behind)
    files = []
    engines: tuple[EngineOption, ...] = ("local", "spark")
    for engine in engines:
        out = tmp_path / engine
        report = api.run(scenario, out=out, state_at=after(44, 58), engine=engine)
        assert report.verdict is not None
        assert report.verdict.ok, report.verdict.to_json()
        assert report.verdict.of_severity("error", "warning") == []
        assert report.verdict.state is not None
        assert len(report.verdict.states) == 2
        files.append({path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()})
    assert files[0] == files[1]


def test_the_folder_has_all_rows_in_key_order(spark: SparkSession, tmp_path: Path) -> None:
    path, out = tmp_path / "accounts.yaml", tmp_path / "out"
    path.write_text(HEAD + DML)
    report = api.run(path, out=out, state_at=after(30, 43, 44, 45, 50, 56))
    assert report.verdict is not None
    assert report.verdict.state is not None
    names = [out / "state", *sorted((out / "state.at").iterdir(), key=lambda folder: int(folder.name))]
    states = [
        [json.loads(line) for line in (folder / "test.accounts.jsonl").read_text().splitlines()]
        for folder in names
    ]
    for rows in states:
        ids = [int(row["id"]) for row in rows]
        assert ids == sorted(set(ids))
    at_end, *_, before_last = states
    assert {-1, 9, 2000} <= {int(row["id"]) for row in at_end}
    assert not {6, 7, 8, 1000} & {int(row["id"]) for row in at_end}
    assert 1000 in {int(row["id"]) for row in before_last}
    assert report.verdict.state.rows == len(at_end) + 10
    assert [row["n"] for row in at_end if int(row["id"]) in (3, 4, 5)] == ["1", "1", "1"]


RULES = ["partition: index-value", "partition: ts", "partition: table", "partition: columns, columns: [n]"]


@pytest.mark.parametrize("rule", RULES)
def test_a_partition_draws_what_all_changes_lead_to(tmp_path: Path, rule: str) -> None:
    path = tmp_path / "accounts.yaml"
    matcher = "test.accounts" if "columns" in rule else "*.*"
    text = (HEAD + DML).replace("partition: index-value", rule).replace("'*.*'", f"'{matcher}'")
    path.write_text(text)
    job = prepare(path)
    assert whole(job).combine_chunks().equals(by_partition(job).combine_chunks())
