"""CREATE TABLE as a snapshot has it: running it gives the same table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from tests.golden_events import GOLDEN
from tests.tiers import one_in
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.create_text import create_table_text
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.store.storage import Table

FILES = sorted(path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.sql"))
LENIENT = "SET foreign_key_checks = 0; SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';"


def tables_of(session: Session) -> Iterator[Table]:
    yield from session._tables.cluster.tables()


@cache
def created(file: str) -> tuple[Table, ...]:
    session = Session(file=file)
    session.run((GOLDEN / file).read_text("utf-8"))
    return tuple(tables_of(session))


def described(info: TableInfo) -> object:
    """A table without ids, what ADD COLUMN left, and positions of the hidden columns of indexes."""
    columns = [replace(column, id=0, origin_default=None) for column in info.columns]
    visible = [column for column in columns if not column.hidden]
    hidden = sorted(column.expression for column in columns if column.hidden)
    indexes = {
        (
            index.name,
            index.unique,
            index.primary,
            index.clustered,
            tuple(columns[offset].expression or columns[offset].name for offset in index.offsets),
        )
        for index in info.indexes
    }
    names = [part.name for part in info.partitions]
    return visible, hidden, indexes, names, info.charset, info.collation, info.comment


@pytest.mark.parametrize("file", one_in(3, ([file] for file in FILES)))
def test_a_table_is_made_again(file: str) -> None:
    for table in created(file):
        session = Session(file=file)
        schema, name = table.info.schema, table.info.name
        text = create_table_text(table.info, table.partitioning, table.foreign_keys)
        session.run(f"{LENIENT} CREATE DATABASE IF NOT EXISTS `{schema}`; {text};")
        again = session._tables.cluster.table(schema, name)
        assert described(again.info) == described(table.info)
        assert again.partitioning == table.partitioning
        keys = [
            (key.name, key.columns, key.parent, key.parent_columns, key.on_delete, key.on_update)
            for key in table.foreign_keys
        ]
        assert keys == [
            (key.name, key.columns, key.parent, key.parent_columns, key.on_delete, key.on_update)
            for key in again.foreign_keys
        ]


PARTITIONED = [
    "RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    "RANGE COLUMNS (b, a) (PARTITION x VALUES LESS THAN ('k', 3), PARTITION y VALUES LESS THAN ('z', 4))",
    "LIST (a) (PARTITION x VALUES IN (1, NULL), PARTITION y DEFAULT)",
    "LIST COLUMNS (b, a) (PARTITION x VALUES IN (('a', 1), ('b', 2)), PARTITION y VALUES IN (('c', 3)))",
    "HASH (a + 1) PARTITIONS 3",
    "KEY (b) (PARTITION x, PARTITION y)",
]
ALTERED = {
    0: "ALTER TABLE t REORGANIZE PARTITION p1 INTO (PARTITION q VALUES LESS THAN (20), "
    "PARTITION r VALUES LESS THAN MAXVALUE); ALTER TABLE t DROP PARTITION p0;",
    2: "ALTER TABLE t REORGANIZE PARTITION x INTO (PARTITION x VALUES IN (5));",
    4: "ALTER TABLE t COALESCE PARTITION 1;",
}


@pytest.mark.parametrize("number", range(len(PARTITIONED)))
@pytest.mark.parametrize("altered", [False, True])
def test_partitions_are_made_again(number: int, altered: bool) -> None:
    session = Session()
    columns = "a INT, b VARCHAR(9) COLLATE utf8mb4_general_ci, UNIQUE KEY u (a, b)"
    session.run(f"CREATE TABLE t ({columns}) PARTITION BY {PARTITIONED[number]};")
    session.run(ALTERED.get(number, "") if altered else "")
    (table,) = tables_of(session)
    again = Session()
    again.run(f"{create_table_text(table.info, table.partitioning)};")
    (other,) = tables_of(again)
    assert other.partitioning == table.partitioning
    assert described(other.info) == described(table.info)
