"""Tables for DataFrames, read from CREATE TABLE statements."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.dataframe import UnknownTable, tables

_SQL = """
CREATE DATABASE Shop; USE Shop;
CREATE TABLE Orders (id INT PRIMARY KEY, note VARCHAR(10) DEFAULT 'x');
CREATE TABLE test.orders (id BIGINT PRIMARY KEY);
CREATE TABLE items (id INT PRIMARY KEY);
"""


def test_a_table_is_found_by_either_name_in_any_case() -> None:
    by_name = tables(_SQL)
    assert by_name["shop.orders"].qualified_name == "Shop.Orders"
    assert by_name["TEST.ORDERS"].schema == "test"
    assert by_name["items"] is by_name["Shop.items"]
    assert set(by_name) == {"Shop.Orders", "test.orders", "Shop.items"}
    assert len(by_name) == 3


def test_the_version_is_the_index_in_the_catalog() -> None:
    by_name = tables(_SQL)
    assert all(by_name.catalog.tables[table.version] is table for table in by_name.values())
    assert [job.query.split()[1].upper() for job in by_name.catalog.ddls] == [
        "DATABASE",
        "TABLE",
        "TABLE",
        "TABLE",
    ]
    assert [job.commit_seq for job in by_name.catalog.ddls] == [0, 1, 2, 3]
    assert by_name.commits == 4


def test_unknown_and_ambiguous_names() -> None:
    by_name = tables(_SQL)
    with pytest.raises(UnknownTable, match=r"Unknown table 'shop.itens'.*did you mean 'Shop.items'"):
        by_name["shop.itens"]
    with pytest.raises(UnknownTable, match=r"not unique.*Shop\.Orders, test\.orders"):
        by_name["orders"]
    assert "nothing" not in by_name
    assert by_name.get("nothing") is None


@pytest.mark.parametrize(
    "sql", ["INSERT INTO t VALUES (1)", "CREATE TABLE t (a INT);\nDROP TABLE t", "SELECT 1"]
)
def test_other_statements_are_refused_with_their_line(sql: str) -> None:
    with pytest.raises(UnsupportedSQL, match="is not allowed among the tables") as caught:
        tables(sql)
    assert caught.value.line == sql.count("\n") + 1


def test_sql_errors_are_those_of_the_session() -> None:
    with pytest.raises(ScenarioError, match="Duplicate column"):
        tables("CREATE TABLE t (a INT, a INT)")
