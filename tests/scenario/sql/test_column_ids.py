"""Which type changes rewrite a column: it is a new column to TiDB, and its id shows the order of columns."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, table_of


@pytest.mark.parametrize(
    ("old", "new", "rewritten"),
    [
        ("int", "bigint", False),
        ("int", "int(5)", False),
        ("int", "smallint", True),
        ("int", "int unsigned", True),
        ("decimal(5,2)", "decimal(6,2)", True),
        ("decimal(5,2)", "decimal(5,2)", False),
        ("varchar(5)", "varchar(9)", False),
        ("varchar(5)", "varchar(4)", True),
        ("varchar(5)", "char(9)", True),
        ("char(5)", "varchar(9)", True),
        ("char(5)", "text", False),
        ("varchar(5)", "text", False),
        ("text", "tinytext", True),
        ("binary(5)", "binary(9)", True),
        ("varbinary(5)", "varbinary(9)", False),
        ("datetime(3)", "datetime(6)", False),
        ("datetime(6)", "datetime(3)", True),
        ("time", "time(2)", False),
        ("timestamp", "datetime", True),
        ("float", "double", True),
        ("double", "float", True),
        ("enum('a','b')", "enum('a','b','c')", False),
        ("enum('a','b')", "enum('b','a')", True),
        ("set('a')", "set('a','b')", False),
        ("bit(5)", "bit(9)", False),
        ("bit(9)", "bit(5)", True),
        ("int", "varchar(20)", True),
        ("date", "datetime", True),
    ],
)
def test_a_rewritten_column_gets_a_new_id(old: str, new: str, rewritten: bool) -> None:
    script = f"create table t (id int primary key, c {old}, d int); alter table t modify c {new}"
    ids = [column.id for column in table_of(history_of(script)).columns]
    assert ids == ([1, 4, 3] if rewritten else [1, 2, 3])
