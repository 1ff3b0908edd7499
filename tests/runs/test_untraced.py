"""Tables that a reader cannot follow, because the stream says nothing of a DDL."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.runs.prepare import prepare
from ticdc_producer.runs.unverifiable_tables import untraced_tables

SQL = """\
CREATE TABLE still (id INT PRIMARY KEY);
CREATE TABLE emptied (id INT PRIMARY KEY);
CREATE TABLE widened (id INT PRIMARY KEY);
TRUNCATE TABLE emptied;
ALTER TABLE widened ADD COLUMN note INT;
"""
MOVED = SQL + "RENAME TABLE still TO moved;\n"


@pytest.mark.parametrize(
    ("sql", "query", "untraced"),
    [
        (SQL, "open-protocol", set()),
        (SQL, "debezium&output-ddl=true", set()),
        (SQL, "debezium", {"test.emptied", "test.widened"}),
        (MOVED, "debezium", {"test.still", "test.moved", "test.emptied", "test.widened"}),
    ],
)
def test_a_ddl_that_is_not_told_leaves_its_table_unknown(
    tmp_path: Path, sql: str, query: str, untraced: set[str]
) -> None:
    scenario = tmp_path / "tables.sql"
    scenario.write_text(sql)
    assert untraced_tables(prepare(scenario, sink_uri=f"kafka:///t?protocol={query}")) == untraced
