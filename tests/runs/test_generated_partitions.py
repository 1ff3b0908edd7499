"""Generated rows of partitioned tables are in the partitions where SQL puts the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.runs.test_change_log import by_partition, whole
from tests.scenario.generate.plans import changes_of
from ticdc_producer import api
from ticdc_producer.engine import EngineOption
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.history import Change, RowImage
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic

slow = pytest.mark.slow

TABLE = """\
CREATE TABLE t (
  id BIGINT, day DATE, area VARCHAR(9) COLLATE utf8mb4_general_ci, n INT NOT NULL,
  PRIMARY KEY (id, day, area) KIND
) PARTITION BY """
PARTITIONS = {
    "RANGE": "RANGE (YEAR(day)) (PARTITION a VALUES LESS THAN (2009), PARTITION b VALUES LESS THAN (2021), "
    "PARTITION c VALUES LESS THAN MAXVALUE)",
    "RANGE COLUMNS": "RANGE COLUMNS (area, day) (PARTITION a VALUES LESS THAN ('no', '2010-01-01'), "
    "PARTITION b VALUES LESS THAN ('no', MAXVALUE), PARTITION c VALUES LESS THAN ('zz', '2000-01-01'))",
    "LIST": "LIST (id MOD 3) (PARTITION a VALUES IN (0, -1), PARTITION b VALUES IN (1), PARTITION c DEFAULT)",
    "LIST COLUMNS": "LIST COLUMNS (area) (PARTITION a VALUES IN ('no', 'so'), PARTITION b VALUES IN ('we'))",
    "HASH": "HASH (id) PARTITIONS 3",
    "KEY": "KEY (id, area) PARTITIONS 3",
}
STEP = {
    "table": "t",
    "transactions": 60,
    "rows-per-transaction": 3,
    "rows": 15,
    "mix": {"insert": 2, "update": 5, "delete": 1},
    "key-changes": 0.4,
    "columns": {
        "id": {"distribution": "sequence", "min": -9},
        "day": {"min": "2000-01-01", "max": "2029-12-31"},
        "area": {"values": ["no", "SO", "We"]},
    },
}
SINK = "kafka:///t?protocol=open-protocol&partition-num=3"


def created(kind: str, *, clustered: bool = True) -> str:
    return TABLE.replace("KIND", "CLUSTERED" if clustered else "NONCLUSTERED") + PARTITIONS[kind]


def written(folder: Path, table: str, *steps: dict[str, Any], **step: Any) -> Path:
    """A scenario with a ``generate`` step on a table, and other steps after it."""
    content = {
        "version": 1,
        "seed": 5,
        "clock": {"every": "100ms"},
        "resolved": {"every": "2s"},
        "changefeed": {
            "sink-uri": SINK,
            "sink": {"dispatchers": [{"matcher": ["*.*"], "partition": "index-value"}]},
        },
        "steps": [{"sql": table}, {"generate": {**STEP, **step}}, *steps],
    }
    path = folder / "parts.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def literal(value: Value) -> str:
    text = value.decode() if isinstance(value, bytes) else value
    return "NULL" if text is None else f"'{text}'"


def statement(table: TableInfo, change: Change) -> str:
    def pairs(row: RowImage, separator: str) -> str:
        names = [column.name for column in table.sent_columns]
        return separator.join(f"{name} = {literal(value)}" for name, value in zip(names, row, strict=True))

    if change.before is None:
        return f"INSERT INTO t VALUES ({', '.join(map(literal, change.after or ()))})"
    where = pairs(change.before, " AND ")
    return (
        f"DELETE FROM t WHERE {where}"
        if change.after is None
        else f"UPDATE t SET {pairs(change.after, ', ')} WHERE {where}"
    )


def by_sql(path: Path, table: str) -> tuple[list[Change], Path]:
    """The changes of a generated scenario, and a scenario whose SQL has the same transactions."""
    [plan] = execute(load_scenario(path)).generated
    changes = changes_of(plan)
    content = yaml.safe_load(path.read_text())
    transactions = groupby(changes, attrgetter("commit_seq"))
    content["steps"] = [
        {"sql": table},
        *(
            {"txn": ";\n".join(statement(plan.table, change) for change in group)}
            for _, group in transactions
        ),
    ]
    sql = path.with_name("sql.yaml")
    sql.write_text(yaml.safe_dump(content, sort_keys=False))
    return changes, sql


def homes(changes: Sequence[Change]) -> list[tuple[object, ...]]:
    return [
        (change.commit_seq, change.op, change.before, change.after, change.table_id, change.old_table_id)
        for change in changes
    ]


@pytest.mark.parametrize("kind", PARTITIONS)
def test_sql_writes_the_same_messages(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, created(kind))
    changes, sql = by_sql(path, created(kind))
    assert len({change.table_id for change in changes}) >= 2
    assert [change for change in changes if change.old_table_id not in (None, change.table_id)]
    assert homes(changes) == homes(execute(load_scenario(sql)).changes)
    messages = [simulated_topic(prepare(each)).messages for each in (path, sql)]
    assert messages[0].equals(messages[1])


@pytest.mark.parametrize("kind", ["LIST COLUMNS", "HASH"])
def test_a_row_gets_a_hidden_row_id_in_each_partition(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, created(kind, clustered=False))
    changes, sql = by_sql(path, created(kind, clustered=False))
    expected = execute(load_scenario(sql)).changes
    assert [home[:5] for home in homes(changes)] == [home[:5] for home in homes(expected)]
    moves = [change for change in changes if change.before and change.after and change.old_row_id is not None]
    assert moves
    assert all(move.table_id != move.old_table_id for move in moves)
    same = [change.old_row_id is None for change in changes]
    assert same == [change.old_row_id is None for change in expected]


MANY = {"changes-per-row": 3, "rows-per-transaction": 9}


@pytest.mark.parametrize("clustered", [True, False])
def test_a_partition_draws_what_all_changes_lead_to(tmp_path: Path, *, clustered: bool) -> None:
    job = prepare(written(tmp_path, created("LIST COLUMNS", clustered=clustered), **MANY))
    assert whole(job).combine_chunks().equals(by_partition(job).combine_chunks())


DML = """\
UPDATE t SET n = 1 WHERE id IN (-8, -7, 3);
UPDATE t SET area = 'we' WHERE id = -5;
DELETE FROM t WHERE id = -6;
INSERT INTO t VALUES (1000, '2020-01-01', 'so', 5);
ALTER TABLE t ADD COLUMN more INT DEFAULT 7;
"""
TRUNCATION = f"{DML} TRUNCATE TABLE t; INSERT INTO t VALUES (1, '2020-01-01', 'so', 5, 6)"
DDL = {"every": 7, "add-column": 2, "drop-column": 1, "add-index": 1, "rename-table": 1, "truncate-table": 2}
RUNS = [
    # fast: test_edits
    pytest.param("HASH", True, {}, "", id="moved rows", marks=slow),
    pytest.param("RANGE", False, {"key-changes": 0}, TRUNCATION, id="SQL after the step", marks=slow),
    pytest.param("LIST COLUMNS", False, {"ddl": DDL}, "", id="DDL", marks=slow),
    pytest.param("KEY", False, MANY, "", id="hidden row ids", marks=slow),
    pytest.param("RANGE COLUMNS", True, {"key-changes": 0}, DML, id="DML after the step", marks=slow),
    pytest.param("LIST", True, {"ddl": DDL}, "", id="DDL with a clustered key", marks=slow),
]


@pytest.mark.parametrize(("kind", "clustered", "step", "behind"), RUNS)
def test_both_engines_verify_and_write_the_same_files(
    spark: SparkSession, tmp_path: Path, *, kind: str, clustered: bool, step: dict[str, Any], behind: str
) -> None:
    steps = [{"sql": behind}] if behind else []
    path = written(tmp_path, created(kind, clustered=clustered), *steps, **step)
    files = []
    engines: tuple[EngineOption, ...] = ("local", "spark")
    for engine in engines:
        out = tmp_path / engine
        report = api.run(path, out=out, state_at=[429918007904436226 + (3000 << 18)], engine=engine)
        assert report.verdict is not None
        assert report.verdict.ok, report.verdict.to_json()
        assert report.verdict.of_severity("error", "warning") == []
        assert report.verdict.state is not None
        assert report.verdict.state.rows
        files.append({file.relative_to(out): file.read_bytes() for file in out.rglob("*") if file.is_file()})
    assert files[0] == files[1]
