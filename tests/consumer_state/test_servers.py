"""Database servers, each started by the test that needs it."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pyspark.sql import SparkSession

from tests.consumer_state.filled import ITEMS, SIDE_ROWS, STOCK
from tests.consumer_state.folder import SHOP, state_folder
from tests.consumer_state.servers import mariadb, postgres
from ticdc_producer import api
from ticdc_producer.reports.text import state_lines
from ticdc_producer.verifier.consumer_state.outcome import StateOutcome

pytestmark = pytest.mark.slow
POSTGRES = """
CREATE SCHEMA shop;
CREATE TABLE shop.items (
  id INT PRIMARY KEY, name VARCHAR(40), price NUMERIC(12,2), weight REAL, ratio DOUBLE PRECISION,
  picture BYTEA, flags BIT(5), kind TEXT, marks TEXT, made DATE, sold TIMESTAMP(3),
  changed TIMESTAMPTZ, lasts INTERVAL,
  year_of SMALLINT, details JSONB, big NUMERIC(20), code CHAR(6)
);
CREATE TABLE shop.stock (place VARCHAR(10), item INT, pieces INT NOT NULL, PRIMARY KEY (place, item));
CREATE TABLE notes (id INT PRIMARY KEY, note VARCHAR(40))
"""


def fill(connection: sa.Connection, notes: str) -> None:
    """Insert the rows as a consumer does."""
    postgres = connection.dialect.name == "postgresql"
    for row in ITEMS:
        values = dict(row)
        if postgres and row["flags"] is not None:
            values |= {"flags": f"{row['flags']:05b}", "changed": row["changed"].replace(tzinfo=UTC)}
        _insert(connection, "shop.items", values)
    for shelf, item, count in STOCK:
        _insert(connection, "shop.stock", {"place": shelf, "item": item, "pieces": count})
    for number, note in SIDE_ROWS:
        _insert(connection, notes, {"id": number, "note": note})


def _insert(connection: sa.Connection, table: str, values: dict[str, Any]) -> None:
    schema, _, name = table.rpartition(".")
    target = sa.table(name, *map(sa.column, values), schema=schema or None)
    connection.execute(sa.insert(target).values(values))


def compared(golden: Path, url: str) -> StateOutcome:
    outcome = api.verify_state(golden, url)
    assert "geheim" not in str(outcome.to_json())
    return outcome


def change(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE shop.items SET weight = 123.98 WHERE id = 1"))
        connection.execute(sa.text("DELETE FROM shop.stock WHERE item = 10"))


def differences(outcome: StateOutcome) -> dict[str, tuple[int, int, int]]:
    return {table.table: (table.missing, table.extra, table.different) for table in outcome.tables}


CHANGED = {"shop.items": (0, 0, 1), "shop.notes": (0, 0, 0), "shop.stock": (1, 0, 0)}


def test_mariadb(spark: SparkSession, tmp_path: Path) -> None:
    golden = state_folder(tmp_path / "golden")
    with mariadb() as server:
        engine = sa.create_engine(f"{server.replace('mariadb', 'mariadb+pymysql', 1)}/mysql")
        with engine.begin() as connection:
            connection.exec_driver_sql("SET time_zone = '+00:00'")
            connection.exec_driver_sql("CREATE DATABASE shop")
            for statement in SHOP.read_text("utf-8").split(";\n"):
                if "CREATE TABLE" in statement:
                    connection.exec_driver_sql(statement)
            fill(connection, "shop.notes")
        right = compared(golden, f"{server}/mysql")
        assert right.ok, "\n".join(state_lines(right))
        change(engine)
        assert differences(compared(golden, f"{server}/shop")) == CHANGED
        engine.dispose()


def test_postgresql(spark: SparkSession, tmp_path: Path) -> None:
    golden = state_folder(tmp_path / "golden")
    with postgres() as server:
        engine = sa.create_engine(f"{server.replace('postgresql', 'postgresql+psycopg', 1)}/postgres")
        with engine.begin() as connection:
            connection.exec_driver_sql("SET TIME ZONE 'UTC'")
            connection.exec_driver_sql(POSTGRES)
            fill(connection, "notes")
        right = compared(golden, f"{server}/postgres")
        assert right.ok, "\n".join(state_lines(right))
        change(engine)
        assert differences(compared(golden, f"{server}/postgres")) == CHANGED
        engine.dispose()
