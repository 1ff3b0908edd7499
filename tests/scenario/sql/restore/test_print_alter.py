"""ALTER TABLE and partitions as printed by ``print_ddl``; the expected texts are those of TiDB's parser."""

from __future__ import annotations

import pytest

from ticdc_producer.scenario.sql.restore import print_ddl


@pytest.mark.parametrize(("typed", "printed"), [
    ("add a int, add column b int not null first", "ADD COLUMN `a` INT, ADD COLUMN `b` INT NOT NULL FIRST"),
    ("add column if not exists c int after a", "ADD COLUMN /*T! IF NOT EXISTS  */`c` INT AFTER `a`"),
    ("add (key (g), g int)", "ADD COLUMN (`g` INT, INDEX(`g`))"),
    (
        "add index if not exists i (a), add primary key (a) clustered",
        "ADD INDEX/*T!  IF NOT EXISTS */ `i`(`a`), ADD PRIMARY KEY(`a`) /*T![clustered_index] CLUSTERED */",
    ),
    (
        "add constraint c foreign key f (a) references p (x)",
        "ADD CONSTRAINT `c` FOREIGN KEY (`a`) REFERENCES `p`(`x`)",
    ),
    ("drop a, drop column if exists b cascade", "DROP COLUMN `a`, DROP COLUMN /*T! IF EXISTS  */`b`"),
    (
        "drop primary key, drop key i, drop foreign key f, drop constraint c",
        "DROP PRIMARY KEY, DROP INDEX `i`, DROP FOREIGN KEY `f`, DROP CHECK `c`",
    ),
    (
        "modify column if exists a.t.c bigint first, change a b int after c",
        "MODIFY COLUMN /*T! IF EXISTS  */`a`.`t`.`c` BIGINT FIRST, CHANGE COLUMN `a` `b` INT AFTER `c`",
    ),
    (
        "alter a set default -1, alter b set default 'x', alter c set default (now()), alter d drop default",
        ("ALTER COLUMN `a` SET DEFAULT (-1), ALTER COLUMN `b` SET DEFAULT _UTF8MB4'x', ALTER COLUMN "
        "`c` SET DEFAULT (NOW()), ALTER COLUMN `d` DROP DEFAULT"),
    ),
    (
        "alter index i invisible, alter check c not enforced",
        "ALTER INDEX `i` INVISIBLE, ALTER CHECK `c` NOT ENFORCED",
    ),
    ("rename column a to b, rename key i to j", "RENAME COLUMN `a` TO `b`, RENAME INDEX `i` TO `j`"),
    ("rename to d.u", "RENAME AS `d`.`u`"),
    ("rename = u", "RENAME AS `u`"),
    ("charset utf8mb4", "DEFAULT CHARACTER SET = UTF8MB4"),
    ("charset utf8mb4 collate utf8mb4_bin", "CHARACTER SET UTF8MB4 COLLATE UTF8MB4_BIN"),
    (
        "charset utf8mb4 collate utf8mb4_bin comment 'x'",
        "DEFAULT CHARACTER SET = UTF8MB4 DEFAULT COLLATE = UTF8MB4_BIN COMMENT = 'x'",
    ),
    ("convert to charset utf8 collate utf8_bin", "CONVERT TO CHARACTER SET UTF8 COLLATE UTF8_BIN"),
    ("comment 'x' engine innodb, auto_increment 5", "COMMENT = 'x' ENGINE = innodb, AUTO_INCREMENT = 5"),
    (
        "ttl = a + interval 1 month ttl_enable 'ON'",
        "/*T![ttl] TTL = `a` + INTERVAL 1 MONTH */ /*T![ttl] TTL_ENABLE = 'OFF' */",
    ),
    ("ttl_enable = 'ON', comment 'x'", "COMMENT = 'x'"),
    ("remove ttl", "/*T![ttl] REMOVE TTL */"),
    ("comment 'x' remove ttl", "COMMENT = 'x', /*T![ttl] REMOVE TTL */"),
    ("placement policy p, comment 'x'", "COMMENT = 'x'"),
    ("attributes 'merge_option=deny', add a int", "ADD COLUMN `a` INT"),
    ("lock=none, algorithm inplace, with validation", "LOCK = NONE, ALGORITHM = INPLACE, WITH VALIDATION"),
    (
        ("add partition if not exists (partition p values less than (1), partition q values less "
        "than maxvalue)"),
        ("ADD PARTITION/*T!  IF NOT EXISTS */ (PARTITION `p` VALUES LESS THAN (1), PARTITION `q` "
        "VALUES LESS THAN (MAXVALUE))"),
    ),
    ("add partition partitions 4", "ADD PARTITION PARTITIONS 4"),
    ("drop partition if exists p, q", "DROP PARTITION /*T! IF EXISTS  */`p`,`q`"),
    ("truncate partition all", "TRUNCATE PARTITION ALL"),
    ("coalesce partition 2", "COALESCE PARTITION 2"),
    (
        "reorganize partition p, q into (partition r values less than (1))",
        "REORGANIZE PARTITION `p`,`q` INTO (PARTITION `r` VALUES LESS THAN (1))",
    ),
    (
        "exchange partition p with table d.u without validation",
        "EXCHANGE PARTITION `p` WITH TABLE `d`.`u` WITHOUT VALIDATION",
    ),
    ("comment 'x' remove partitioning", "COMMENT = 'x' REMOVE PARTITIONING"),
    ("comment 'x' partition by hash (a)", "COMMENT = 'x' PARTITION BY HASH (`a`) PARTITIONS 1"),
    ("set tiflash replica 2 location labels 'a', 'b'", "SET TIFLASH REPLICA 2 LOCATION LABELS 'a', 'b'"),
    ("force", "FORCE /* AlterTableForce is not supported */ "),
])  # fmt: skip
def test_alter_table(typed: str, printed: str) -> None:
    assert print_ddl(f"alter table t {typed}") == f"ALTER TABLE `t` {printed}"


@pytest.mark.parametrize("typed", ["placement policy p", "ttl_enable = 'ON'", "attributes default"])
def test_a_statement_of_omitted_parts_is_empty(typed: str) -> None:
    assert print_ddl(f"alter table t {typed}") == "ALTER TABLE `t`"


def test_a_database_placement_alone_prints_nothing() -> None:
    assert print_ddl("alter database d placement policy p") == ""


@pytest.mark.parametrize(("typed", "printed"), [
    ("hash (a)", "HASH (`a`) PARTITIONS 1"),
    ("linear hash (a div 3) partitions 4", "LINEAR HASH (`a` DIV 3) PARTITIONS 4"),
    ("key algorithm=2 (a, b) partitions 4", "KEY ALGORITHM = 2 (`a`,`b`) PARTITIONS 4"),
    ("key () partitions 2", "KEY () PARTITIONS 2"),
    (
        "hash (a) partitions 2 (partition p0, partition p1 engine=innodb comment 'x')",
        "HASH (`a`) (PARTITION `p0`,PARTITION `p1` ENGINE = innodb COMMENT = 'x')",
    ),
    (
        "range (year(a)) (partition p0 values less than (-5), partition p1 values less than maxvalue)",
        "RANGE (YEAR(`a`)) (PARTITION `p0` VALUES LESS THAN (-5),PARTITION `p1` VALUES LESS THAN (MAXVALUE))",
    ),
    (
        ("range columns (a, b) (partition p0 values less than (1, 'x') placement policy p, "
        "partition p1 values less than (2, maxvalue))"),
        ("RANGE COLUMNS (`a`,`b`) (PARTITION `p0` VALUES LESS THAN (1, _UTF8MB4'x') ,PARTITION `p1` "
        "VALUES LESS THAN (2, MAXVALUE))"),
    ),
    (
        "list (a) (partition p0 values in (1, -2, null), partition p1 values in (default))",
        "LIST (`a`) (PARTITION `p0` VALUES IN (1, -2, NULL),PARTITION `p1` DEFAULT)",
    ),
    (
        "list columns (a, b) (partition p0 values in ((1, 'x,y'), (2, null)))",
        "LIST COLUMNS (`a`,`b`) (PARTITION `p0` VALUES IN ((1, _UTF8MB4'x,y'), (2, NULL)))",
    ),
    (
        ("range (a) subpartition by hash (b) (partition p0 values less than (1) (subpartition s0, "
        "subpartition s1))"),
        ("RANGE (`a`) SUBPARTITION BY HASH (`b`) SUBPARTITIONS 2 (PARTITION `p0` VALUES LESS THAN "
        "(1) (SUBPARTITION `s0`,SUBPARTITION `s1`))"),
    ),
    (
        ("range columns (a) interval (1 day) first partition less than ('2020-01-01') last "
        "partition less than ('2020-02-01') maxvalue partition"),
        ("RANGE COLUMNS (`a`) INTERVAL (1 DAY) FIRST PARTITION LESS THAN (_UTF8MB4'2020-01-01') "
        "LAST PARTITION LESS THAN (_UTF8MB4'2020-02-01') MAXVALUE PARTITION"),
    ),
    (
        "range (a) (partition p0 values less than (1)) update indexes (i global, j local)",
        "RANGE (`a`) (PARTITION `p0` VALUES LESS THAN (1)) UPDATE INDEXES (`i` GLOBAL,`j` LOCAL)",
    ),
])  # fmt: skip
def test_partition_by(typed: str, printed: str) -> None:
    whole = f"create table t (a int) partition by {typed}"
    assert print_ddl(whole) == f"CREATE TABLE `t` (`a` INT) PARTITION BY {printed}"
