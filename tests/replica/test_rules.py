"""What each kind of DDL does with the rows of a table, as a consumer of the messages ends with them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.replica.decoded_stream import WITH_DDL, DecodedStream
from tests.tiers import one_in
from ticdc_producer.verifier.table_state import StateComparison

TABLE = """
CREATE TABLE t (id INT PRIMARY KEY, n INT, note VARCHAR(20));
INSERT INTO t VALUES (1, 10, 'a'), (2, 20, NULL);
"""
PARTITIONED = """
CREATE TABLE p (id INT, part INT, v INT, PRIMARY KEY (id, part)) PARTITION BY {};
INSERT INTO p VALUES (1, 1, 1), (2, 5, 2), (3, 15, 3), (4, 25, 4);
"""
BY_RANGE = PARTITIONED.format(
    "RANGE (part) (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN (20),"
    " PARTITION c VALUES LESS THAN (30))"
)
BY_LIST = PARTITIONED.format("LIST (part) (PARTITION a VALUES IN (1, 5), PARTITION b VALUES IN (15, 25))")
COMPARED = {
    "a column with a default": TABLE + "ALTER TABLE t ADD COLUMN c VARCHAR(9) NOT NULL DEFAULT 'x';",
    "columns without a default": TABLE
    + "ALTER TABLE t ADD COLUMN (a INT NOT NULL, b CHAR(3) NOT NULL, c DATE NOT NULL,"
    " d DECIMAL(6,2) NOT NULL,"
    " e ENUM('x', 'y') NOT NULL, f BINARY(3) NOT NULL, g DATETIME(3) NOT NULL, h BIT(9) NOT NULL, i JSON,"
    " j TIME(2) NOT NULL, k YEAR NOT NULL, l SET('p', 'q') NOT NULL, m DOUBLE NOT NULL, o TEXT);",
    "a virtual column": TABLE + "ALTER TABLE t ADD COLUMN twice INT AS (n * 2) VIRTUAL;",
    "a column is dropped": TABLE + "ALTER TABLE t DROP COLUMN note; UPDATE t SET n = 1 WHERE id = 1;",
    "a column is dropped and another added": TABLE
    + "ALTER TABLE t DROP COLUMN note, ADD COLUMN remark INT DEFAULT 5;",
    "a column comes back": TABLE
    + "ALTER TABLE t DROP COLUMN n; ALTER TABLE t ADD COLUMN n BIGINT DEFAULT 7;",
    "a number becomes text": TABLE
    + "ALTER TABLE t MODIFY COLUMN n VARCHAR(9); UPDATE t SET n = 'x' WHERE id = 2;",
    "text becomes a number": "CREATE TABLE t (id INT PRIMARY KEY, n VARCHAR(9));"
    " INSERT INTO t VALUES (1, '007');"
    "ALTER TABLE t MODIFY COLUMN n INT;",
    "a column is renamed": TABLE
    + "ALTER TABLE t RENAME COLUMN n TO number; DELETE FROM t WHERE number = 20;",
    "a column is renamed and converted": TABLE
    + "ALTER TABLE t CHANGE COLUMN n number CHAR(9) NOT NULL DEFAULT '';",
    "a handle column is renamed": TABLE
    + "ALTER TABLE t RENAME COLUMN id TO k; UPDATE t SET n = 2 WHERE k = 1;",
    "a table is renamed": TABLE
    + "RENAME TABLE t TO u; UPDATE u SET n = 11 WHERE id = 1; DELETE FROM u WHERE id = 2;",
    "a table is renamed to another database": "CREATE DATABASE other;"
    + TABLE
    + "ALTER TABLE t RENAME TO other.t;",
    "tables swap their names": TABLE
    + "CREATE TABLE u (id INT PRIMARY KEY, m INT); INSERT INTO u VALUES (1, 3);"
    "RENAME TABLE t TO x, u TO t, x TO u; INSERT INTO t VALUES (2, 4); UPDATE u SET n = 0 WHERE id = 2;",
    "a name is used again": TABLE
    + "RENAME TABLE t TO u; CREATE TABLE t (k INT PRIMARY KEY); INSERT INTO t VALUES (1);",
    "truncated after ADD COLUMN": TABLE
    + "ALTER TABLE t ADD COLUMN c INT; TRUNCATE TABLE t; INSERT INTO t VALUES (1, 2, 'b', 3);",
    "dropped and created again": TABLE + "ALTER TABLE t ADD COLUMN c INT; DROP TABLE t;" + TABLE,
    "the whole database dropped": TABLE
    + "ALTER TABLE t ADD COLUMN c INT; CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY);"
    "INSERT INTO d.t VALUES (1); ALTER TABLE d.t ADD COLUMN c INT; DROP DATABASE d;",
    "created like an altered table": TABLE
    + "ALTER TABLE t ADD COLUMN c INT DEFAULT 4; CREATE TABLE u LIKE t;"
    "INSERT INTO u (id) VALUES (3); ALTER TABLE u DROP COLUMN n;",
    "another handle key": "CREATE TABLE t (id INT PRIMARY KEY NONCLUSTERED, n INT NOT NULL UNIQUE, v INT);"
    "INSERT INTO t VALUES (1, 10, 1), (2, 20, 2); UPDATE t SET n = 30 WHERE id = 1;"
    " ALTER TABLE t DROP PRIMARY KEY;"
    "UPDATE t SET id = 7 WHERE n = 30; DELETE FROM t WHERE n = 20; ALTER TABLE t ADD PRIMARY KEY (id);"
    "UPDATE t SET v = 9 WHERE id = 7;",
    "a better handle key": "CREATE TABLE t (a INT NOT NULL, b INT NOT NULL, v INT, UNIQUE KEY ab (a, b));"
    "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2); CREATE UNIQUE INDEX b ON t (b);"
    " UPDATE t SET v = 3 WHERE a = 1;",
    "a partition emptied": BY_RANGE + "ALTER TABLE p TRUNCATE PARTITION a; INSERT INTO p VALUES (1, 1, 7);",
    "a partition dropped": BY_RANGE + "ALTER TABLE p DROP PARTITION b; UPDATE p SET v = 8 WHERE id = 4;",
    "partitions reorganised": BY_RANGE
    + "ALTER TABLE p REORGANIZE PARTITION a, b INTO (PARTITION ab VALUES LESS THAN (20));"
    "ALTER TABLE p TRUNCATE PARTITION ab; INSERT INTO p VALUES (3, 15, 9);",
    "a list partition dropped": BY_LIST + "ALTER TABLE p DROP PARTITION a;",
    "a hash partition emptied": PARTITIONED.format("HASH (part) PARTITIONS 3")
    + "ALTER TABLE p TRUNCATE PARTITION p1;",
    "a key partition emptied": PARTITIONED.format("KEY (part) PARTITIONS 3")
    + "ALTER TABLE p TRUNCATE PARTITION p2;",
    "partitions removed": BY_RANGE + "ALTER TABLE p REMOVE PARTITIONING; UPDATE p SET v = 0 WHERE id = 1;"
    "ALTER TABLE p PARTITION BY RANGE (part) (PARTITION x VALUES LESS THAN (10),"
    " PARTITION y VALUES LESS THAN (99));"
    "ALTER TABLE p TRUNCATE PARTITION y;",
    "a partition exchanged": BY_RANGE + "CREATE TABLE x (id INT, part INT, v INT, PRIMARY KEY (id, part));"
    "INSERT INTO x VALUES (3, 16, 30), (9, 19, 90); ALTER TABLE p EXCHANGE PARTITION b WITH TABLE x;"
    "UPDATE p SET v = 31 WHERE part = 16; DELETE FROM x WHERE id = 3; INSERT INTO x VALUES (3, 15, 33);"
    "ALTER TABLE p EXCHANGE PARTITION b WITH TABLE x; ALTER TABLE p ADD COLUMN c INT DEFAULT 1;",
}
NOT_COMPARED = {
    "cannot be applied: RENAME TABLE `t` TO `other`.`t`": "CREATE DATABASE more;"
    " CREATE TABLE more.t (id INT PRIMARY KEY);"
    "CREATE DATABASE other;" + TABLE + "RENAME TABLE t TO other.t;",
    "depends on when the DDL ran": TABLE + "ALTER TABLE t ADD COLUMN c DATETIME DEFAULT CURRENT_TIMESTAMP;",
    "depends on the session's time zone": TABLE
    + "ALTER TABLE t ADD COLUMN c TIMESTAMP DEFAULT '2021-01-01 00:00:00';",
    "does not replicate": "CREATE TABLE t (id INT); INSERT INTO t VALUES (1);"
    " ALTER TABLE t ADD PRIMARY KEY (id);",
}


def state(sql: str, folder: Path, protocol: str) -> StateComparison:
    file = folder / "rules.sql"
    file.write_text(f"USE test; {sql}", "utf-8")
    return DecodedStream.of(file, protocol).state()


@pytest.mark.parametrize(("rule", "protocol"), one_in(3, product(COMPARED, WITH_DDL)))
def test_the_rows_follow_the_ddl(rule: str, protocol: str, tmp_path: Path) -> None:
    comparison = state(COMPARED[rule], tmp_path, protocol)
    assert comparison.ok, comparison.diff
    assert not comparison.not_compared


@pytest.mark.parametrize(("reason", "sql"), NOT_COMPARED.items(), ids=list(NOT_COMPARED))
def test_a_table_that_cannot_be_compared_has_its_reason(reason: str, sql: str, tmp_path: Path) -> None:
    comparison = state(sql, tmp_path, "open-protocol")
    assert comparison.ok
    assert reason in "".join(comparison.not_compared.values())


def test_a_time_before_the_ddl_has_the_rows_of_then(tmp_path: Path) -> None:
    file = tmp_path / "rules.sql"
    file.write_text(f"USE test; {COMPARED['tables swap their names']}", "utf-8")
    clock = DecodedStream.of(file, "open-protocol").job.stream.resolved.clock
    times = [clock.ts(commit) for commit in range(6)]
    for ts in times:
        decoded = DecodedStream.at(file, "open-protocol", ts)
        assert decoded.states()[ts].ok
