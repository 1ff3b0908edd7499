"""A MariaDB that runs a topic's DDLs and rows has the expected rows of all tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pyspark.sql import SparkSession

from tests.consumer_state.servers import mariadb
from ticdc_producer import api
from ticdc_producer.model.column import ColumnFlag

pytestmark = pytest.mark.slow
TABLES = 6
DDL_TEXT = "kafka:///migrated?protocol=open-protocol&partition-num=3&ddl-text=tidb"


def changes(folder: Path) -> Iterator[dict[str, Any]]:
    """The DDLs and rows of all partitions in the order in which they were committed, each once.

    Deletes of a transaction come before its inserts; TiDB's own clauses are in comments that MariaDB skips.
    """
    seen: set[tuple[str, int, str | None]] = set()
    ranks = {"delete": 0, "update": 1, "insert": 1}
    events = [event for event in api.decode(folder=folder) if event["kind"] in ("row", "ddl")]
    for event in sorted(
        events, key=lambda event: (event["commit_ts"], ranks.get(event.get("op", ""), 2), event["offset"])
    ):
        key = event["kind"], event["commit_ts"], event.get("query")
        if event["kind"] == "row" or key not in seen:
            seen.add(key)
            yield event


def apply(connection: sa.Connection, event: dict[str, Any]) -> None:
    if event["kind"] == "ddl":
        if event["table"]:
            connection.exec_driver_sql(f"USE `{event['schema']}`")
        connection.exec_driver_sql(event["query"].replace("%", "%%"))
        return
    columns = {column["name"]: column["flag"] for column in event["columns"]}
    image = dict(event["before"] if event["op"] == "delete" else event["after"])
    target = sa.table(event["table"], *map(sa.column, image), schema=event["schema"])
    handle = [name for name in image if columns[name] & ColumnFlag.HANDLE_KEY]
    connection.execute(sa.delete(target).where(*(target.c[name] == text(image[name]) for name in handle)))
    if event["op"] != "delete":
        stored = {
            name: text(value) for name, value in image.items() if not columns[name] & ColumnFlag.GENERATED
        }
        connection.execute(sa.insert(target).values(stored))


def text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def test_a_database_that_ran_the_topic_has_all_tables(spark: SparkSession, tmp_path: Path) -> None:
    api.run("migrations", sink_uri=DDL_TEXT, out=tmp_path / "golden")
    with mariadb() as server:
        engine = sa.create_engine(
            f"{server.replace('mariadb', 'mariadb+pymysql', 1)}/mysql", isolation_level="AUTOCOMMIT"
        )
        with engine.begin() as connection:
            connection.exec_driver_sql("SET foreign_key_checks = 0, time_zone = '+00:00'")
            for event in changes(tmp_path / "golden"):
                apply(connection, event)
        outcome = api.verify_state(tmp_path / "golden", f"{server}/shop")
        assert outcome.ok
        assert len(outcome.tables) == TABLES
        with engine.begin() as connection:
            connection.exec_driver_sql("UPDATE shop.archive SET note = NULL WHERE id = 4")
        assert not api.verify_state(tmp_path / "golden", f"{server}/shop").ok
