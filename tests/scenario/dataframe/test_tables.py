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
    found = tables(_SQL)
    assert found["shop.orders"].qualified_name == "Shop.Orders"
    assert found["TEST.ORDERS"].schema == "test"
    assert found["items"] is found["Shop.items"]
    assert set(found) == {"Shop.Orders", "test.orders", "Shop.items"}
    assert len(found) == 3


def test_the_version_is_the_index_in_the_catalog() -> None:
    found = tables(_SQL)
    assert all(found.catalog.tables[table.version] is table for table in found.values())
    assert [job.query.split()[1].upper() for job in found.catalog.ddls] == [
        "DATABASE",
        "TABLE",
        "TABLE",
        "TABLE",
    ]
    assert [job.commit_seq for job in found.catalog.ddls] == [0, 1, 2, 3]
    assert found.commits == 4


def test_unknown_and_ambiguous_names() -> None:
    found = tables(_SQL)
    with pytest.raises(UnknownTable, match=r"Unknown table 'shop.itens'.*did you mean 'Shop.items'"):
        found["shop.itens"]
    with pytest.raises(UnknownTable, match=r"not unique.*Shop\.Orders, test\.orders"):
        found["orders"]
    assert "nothing" not in found
    assert found.get("nothing") is None


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
