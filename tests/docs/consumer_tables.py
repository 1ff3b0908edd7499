"""A consumer's rows of ``orders.sql`` in each kind of database that the pages name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy as sa

from tests.consumer_state.servers import mariadb, postgres

_COLUMNS = "id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(8,2)"
_ROWS = "VALUES (2, 'chair', 75.00), (3, 'lamp', 19.90)"


def in_sqlite(path: Path) -> None:
    """A table with another name and an additional column, as on the page on verifying."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE my_orders ({_COLUMNS}, updated_at TEXT)")
        database.execute(f"INSERT INTO my_orders (id, item, price) {_ROWS}")


@contextmanager
def in_server(scheme: str) -> Iterator[str]:
    """A server with the rows in ``test.orders``, and a database ``orders`` to connect to.

    :return: user, password and address, in the form of a URL.
    """
    with (mariadb if scheme == "mysql" else postgres)() as url:
        server = url.partition("//")[2]
        driver, first = (
            ("mariadb+pymysql", "mysql") if scheme == "mysql" else ("postgresql+psycopg", "postgres")
        )
        _execute(f"{driver}://{server}/{first}", "CREATE DATABASE orders")
        schema = "CREATE SCHEMA IF NOT EXISTS test"
        table = f"CREATE TABLE test.orders ({_COLUMNS})"
        _execute(f"{driver}://{server}/orders", schema, table, f"INSERT INTO test.orders {_ROWS}")
        yield server


def _execute(url: str, *statements: str) -> None:
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()
