"""Tables that a reader cannot follow, because the stream does not carry a DDL."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.oracle.comparable_tables import uncomparable_histories
from ticdc_producer.simulate.prepare import prepare

SQL = """\
CREATE TABLE still (id INT PRIMARY KEY);
CREATE TABLE emptied (id INT PRIMARY KEY);
CREATE TABLE widened (id INT PRIMARY KEY);
TRUNCATE TABLE emptied;
ALTER TABLE widened ADD COLUMN note INT;
"""
MOVED = SQL + "RENAME TABLE still TO moved;\n"


@pytest.mark.parametrize(
    ("sql", "query", "uncomparable"),
    [
        (SQL, "open-protocol", set()),
        (SQL, "debezium&output-ddl=true", set()),
        (SQL, "debezium", {"test.emptied", "test.widened"}),
        (MOVED, "debezium", {"test.still", "test.moved", "test.emptied", "test.widened"}),
    ],
)
def test_a_ddl_that_is_not_in_the_stream_makes_its_table_uncomparable(
    tmp_path: Path, sql: str, query: str, uncomparable: set[str]
) -> None:
    scenario = tmp_path / "tables.sql"
    scenario.write_text(sql)
    assert uncomparable_histories(prepare(scenario, sink_uri=f"kafka:///t?protocol={query}")) == uncomparable
